//go:build !linux

package wire

import (
	"errors"
	"net"
)

var errLinux = errors.New("not on Linux")

func ReadMemory(int, uint64, []byte) (denied bool, err error)  { return true, errLinux }
func WriteMemory(int, uint64, []byte) (denied bool, err error) { return true, errLinux }

func ReadPieces(int, []uint64, [][]byte) (denied bool, err error) { return true, errLinux }

type Shared struct{ Data []byte }

func NewShared(string, int64) (*Shared, error)   { return nil, errLinux }
func (s *Shared) Path() string                   { return "" }
func (s *Shared) Discard(at, size int64) error   { return errLinux }
func (s *Shared) Close() error                   { return errLinux }
func Peer(*net.UnixConn) (pid, uid int, e error) { return 0, 0, errLinux }

func (c *Conn) Open(uint64) (fd uint64, err error)            { return 0, errLinux }
func (c *Conn) CloseFile(uint64) error                        { return errLinux }
func (c *Conn) Map(addr, size, fd uint64, replace bool) error { return errLinux }
func (c *Conn) MapAnonymous(uint64) (uint64, error)           { return 0, errLinux }
func (c *Conn) Executable(addr, size uint64) error            { return errLinux }
func (c *Conn) Unmap(addr, size uint64) error                 { return errLinux }
func (c *Conn) Pread(fd, addr, size, at uint64) error         { return errLinux }
func (c *Conn) Pwrite(fd, addr, size, at uint64) error        { return errLinux }
func (c *Conn) Write(fd, addr, size uint64) error             { return errLinux }
