//go:build linux && (amd64 || arm64)

package wire

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// ReadMemory copies memory of a process (process_vm_readv(2)). It is the way without a round trip; it needs the right to trace the
// process, which a parent has by default. denied says that there is no such right.
func ReadMemory(pid int, addr uint64, to []byte) (denied bool, err error) {
	return transfer(pid, addr, to, unix.ProcessVMReadv)
}

// ReadPieces copies pieces of memory of a process, as many as there are addresses, in one system call.
func ReadPieces(pid int, addrs []uint64, to [][]byte) (denied bool, err error) {
	var local []unix.Iovec
	var remote []unix.RemoteIovec
	size := 0
	for i, b := range to {
		if len(b) == 0 {
			continue
		}
		v := unix.Iovec{Base: &b[0]}
		v.SetLen(len(b))
		local = append(local, v)
		remote = append(remote, unix.RemoteIovec{Base: uintptr(addrs[i]), Len: len(b)})
		size += len(b)
	}
	const most = 1024 // IOV_MAX
	if len(local) > 0 && len(local) <= most {
		if n, err := unix.ProcessVMReadv(pid, local, remote, 0); err == nil && n == size {
			return false, nil
		}
	}
	for i, b := range to { // which of them it was
		if denied, err = ReadMemory(pid, addrs[i], b); err != nil {
			return denied, err
		}
	}
	return false, nil
}

// WriteMemory copies bytes to memory of a process.
func WriteMemory(pid int, addr uint64, from []byte) (denied bool, err error) {
	return transfer(pid, addr, from, unix.ProcessVMWritev)
}

// A transferCall is process_vm_readv or process_vm_writev.
type transferCall func(int, []unix.Iovec, []unix.RemoteIovec, uint) (int, error)

const (
	// leastPart is how many bytes a processor copies at least of what several copy: in less than the millisecond that this takes another one hardly begins.
	leastPart = 4 << 20
	// mostParts is how many copy at a time: a few processors use up what memory gives.
	mostParts = 4
)

// transfer copies bytes, large ones by several processors.
func transfer(pid int, addr uint64, b []byte, call transferCall) (denied bool, err error) {
	parts := min(len(b)/leastPart, runtime.GOMAXPROCS(0), mostParts)
	if parts < 2 {
		return transferPart(pid, addr, b, call)
	}
	size := len(b) / parts
	refused, errs := make([]bool, parts), make([]error, parts)
	var all sync.WaitGroup
	for i := range parts {
		from, to := i*size, (i+1)*size
		if i == parts-1 {
			to = len(b)
		}
		all.Go(func() { refused[i], errs[i] = transferPart(pid, addr+uint64(from), b[from:to], call) })
	}
	all.Wait()
	return slices.Contains(refused, true), cmp.Or(errs...)
}

func transferPart(pid int, addr uint64, b []byte, call transferCall) (denied bool, err error) {
	for len(b) > 0 {
		local := unix.Iovec{Base: &b[0]}
		local.SetLen(len(b))
		n, err := call(pid, []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}, 0)
		switch {
		case errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS):
			return true, err
		case err != nil || n <= 0:
			return false, ErrMemory
		}
		b, addr = b[n:], addr+uint64(n)
	}
	return false, nil
}

// A Shared is memory that another process can map too. It takes memory of this computer for what is written.
type Shared struct {
	Data []byte
	fd   int
}

// NewShared makes shared memory of zeros. It has no name in any file system, and is gone with the last process that has it.
func NewShared(name string, size int64) (*Shared, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memory to share with the program: %w", err)
	}
	s := &Shared{fd: fd}
	if err = unix.Ftruncate(fd, size); err == nil {
		s.Data, err = unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("memory to share with the program: %w", err)
	}
	return s, nil
}

// Path is where a process of the same user can open the memory.
func (s *Shared) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", unix.Getpid(), s.fd) }

// Discard makes bytes zero and gives the memory back that they took.
func (s *Shared) Discard(at, size int64) error {
	err := unix.Fallocate(s.fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, size)
	if err != nil {
		return fmt.Errorf("giving %d bytes back: %w", size, err)
	}
	return nil
}

// Close gives all of it back. Nothing may use Data any more.
func (s *Shared) Close() error {
	return errors.Join(unix.Munmap(s.Data), unix.Close(s.fd))
}

// Peer returns the process and the user at the other end of a connection.
func Peer(c *net.UnixConn) (pid, uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var peer *unix.Ucred
	err2 := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, err2); err != nil {
		return 0, 0, err
	}
	return int(peer.Pid), int(peer.Uid), nil
}

// Flags of system calls that the server asks clients to make. Their numbers are those of the architecture that gpa runs on, as the code of
// clients is. Of several calls for one thing it is the one that arm64 has, which has none that another can stand for (asm-generic/unistd.h).
const (
	openFlags  = unix.O_RDWR | unix.O_CLOEXEC
	protection = unix.PROT_READ | unix.PROT_WRITE
	mapFlags   = unix.MAP_SHARED | unix.MAP_NORESERVE
	mapFresh   = unix.MAP_FIXED_NOREPLACE
	mapReplace = unix.MAP_FIXED
)

// Open has the client open a file whose path lies in its memory. The result is a descriptor.
func (c *Conn) Open(path uint64) (fd uint64, err error) {
	at := unix.AT_FDCWD
	v, err := c.SystemCall(unix.SYS_OPENAT, uint64(at), path, openFlags, 0)
	return uint64(v), check("openat", v, err)
}

// CloseFile has the client close a descriptor.
func (c *Conn) CloseFile(fd uint64) error {
	v, err := c.SystemCall(unix.SYS_CLOSE, fd)
	return check("close", v, err)
}

// Map has the client map a file at an address, where nothing may lie unless it is to be replaced.
func (c *Conn) Map(addr, size, fd uint64, replace bool) error {
	flags := uint64(mapFlags | mapFresh)
	if replace {
		flags = mapFlags | mapReplace
	}
	v, err := c.SystemCall(unix.SYS_MMAP, addr, size, protection, flags, fd, 0)
	if err = check("mmap", v, err); err == nil && uint64(v) != addr {
		err = fmt.Errorf("mmap in the program: %#x instead of %#x", v, addr)
	}
	return err
}

// MapAnonymous has the client map fresh memory anywhere.
func (c *Conn) MapAnonymous(size uint64) (addr uint64, err error) {
	v, err := c.SystemCall(unix.SYS_MMAP, 0, size, protection, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, ^uint64(0), 0)
	return uint64(v), check("mmap", v, err)
}

// Executable has the client make its memory code, which cannot be written any more.
func (c *Conn) Executable(addr, size uint64) error {
	v, err := c.SystemCall(unix.SYS_MPROTECT, addr, size, unix.PROT_READ|unix.PROT_EXEC)
	return check("mprotect", v, err)
}

// Unmap has the client give memory back.
func (c *Conn) Unmap(addr, size uint64) error {
	v, err := c.SystemCall(unix.SYS_MUNMAP, addr, size)
	return check("munmap", v, err)
}

// Pread has the client read from a file at an offset to its memory.
func (c *Conn) Pread(fd, addr, size, at uint64) error {
	return c.move(unix.SYS_PREAD64, fd, addr, size, at)
}

// Pwrite has the client write its memory to a file at an offset.
func (c *Conn) Pwrite(fd, addr, size, at uint64) error {
	return c.move(unix.SYS_PWRITE64, fd, addr, size, at)
}

func (c *Conn) move(call, fd, addr, size, at uint64) error {
	for size > 0 {
		v, err := c.SystemCall(call, fd, addr, size, at)
		if err != nil {
			return err
		}
		if v <= 0 || uint64(v) > size {
			return ErrMemory
		}
		size, addr, at = size-uint64(v), addr+uint64(v), at+uint64(v)
	}
	return nil
}

// Write has the client write bytes of its memory to one of its descriptors.
func (c *Conn) Write(fd, addr, size uint64) error {
	for size > 0 {
		v, err := c.SystemCall(unix.SYS_WRITE, fd, addr, size)
		if err = check("write", v, err); err != nil {
			return err
		}
		size, addr = size-min(uint64(v), size), addr+uint64(v)
	}
	return nil
}

// check makes an error of the result of a system call in the client.
func check(name string, v int64, err error) error {
	if err == nil && v < 0 {
		err = fmt.Errorf("%s in the program: %w", name, unix.Errno(-v))
	}
	return err
}
