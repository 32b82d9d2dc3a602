//go:build !(linux && (amd64 || arm64))

package wire

import (
	"errors"
	"net"
)

var errPlatform = errors.New("not on Linux on amd64 or arm64")

func ReadMemory(int, uint64, []byte) (denied bool, err error)  { return true, errPlatform }
func WriteMemory(int, uint64, []byte) (denied bool, err error) { return true, errPlatform }

func ReadPieces(int, []uint64, [][]byte) (denied bool, err error) { return true, errPlatform }

type Shared struct{ Data []byte }

func NewShared(string, int64) (*Shared, error)   { return nil, errPlatform }
func (s *Shared) Path() string                   { return "" }
func (s *Shared) Discard(at, size int64) error   { return errPlatform }
func (s *Shared) Close() error                   { return errPlatform }
func Peer(*net.UnixConn) (pid, uid int, e error) { return 0, 0, errPlatform }

func (c *Conn) Open(uint64) (fd uint64, err error)            { return 0, errPlatform }
func (c *Conn) CloseFile(uint64) error                        { return errPlatform }
func (c *Conn) Map(addr, size, fd uint64, replace bool) error { return errPlatform }
func (c *Conn) MapAnonymous(uint64) (uint64, error)           { return 0, errPlatform }
func (c *Conn) Executable(addr, size uint64) error            { return errPlatform }
func (c *Conn) Unmap(addr, size uint64) error                 { return errPlatform }
func (c *Conn) Pread(fd, addr, size, at uint64) error         { return errPlatform }
func (c *Conn) Pwrite(fd, addr, size, at uint64) error        { return errPlatform }
func (c *Conn) Write(fd, addr, size uint64) error             { return errPlatform }
