package emu

import (
	"bytes"
	"runtime"
)

// A buffer is one allocation of global memory. It takes memory of this computer for what has been written: the system gives pages of
// zeros at no cost. States and machines with the same contents share them until one of them writes.
type buffer struct {
	name  string
	addr  uint64
	data  []byte // to read; nobody changes it while it is shared
	own   []byte // to write: the same as data, or nil while that is shared
	store *storage
	fixed bool // others know the bytes by their place: they are never shared

	snapshot *Snapshot // that has a copy of it
}

// A storage keeps the bytes of buffers that share it.
type storage struct{ data []byte }

// newBuffer returns a buffer of zeros.
func newBuffer(name string, addr, size uint64) (*buffer, error) {
	store, err := newStorage(size)
	if err != nil {
		return nil, err
	}
	return &buffer{name: name, addr: addr, data: store.data, own: store.data, store: store}, nil
}

func (b *buffer) end() uint64 { return b.addr + uint64(len(b.data)) }

// mapped is the size from which on bytes are asked of the system and not of the Go heap, whose bytes of zeros are not free once it
// uses memory again.
const mapped = 1 << 20

// collected is the size from which on what is no longer used is given back first: the collector does not see what was mapped.
const collected = 64 << 20

// newStorage returns size bytes of zeros.
func newStorage(size uint64) (*storage, error) {
	if size < mapped {
		return &storage{data: make([]byte, size)}, nil
	}
	if size >= collected {
		runtime.GC()
	}
	data, err := mapZeros(size)
	if err != nil {
		return nil, err
	}
	s := &storage{data: data}
	runtime.AddCleanup(s, unmap, data)
	return s, nil
}

// share returns the storage of a buffer, which from now on is not written to.
func (b *buffer) share() *storage {
	b.own = nil
	return b.store
}

// adopt gives a buffer the contents of a shared storage of its size.
func (b *buffer) adopt(s *storage) { b.data, b.own, b.store = s.data, nil, s }

// writable returns the bytes of a buffer to write, a copy of its own where they were shared.
func (b *buffer) writable() ([]byte, error) {
	if b.own == nil {
		store, err := newStorage(uint64(len(b.data)))
		if err != nil {
			return nil, err
		}
		copyWritten(store.data, b.data)
		b.data, b.own, b.store = store.data, store.data, store
	}
	return b.own, nil
}

// copyWritten copies bytes to a place of zeros, without touching that where they are zero themselves.
func copyWritten(to, from []byte) {
	var zeros [4096]byte // as large as a page of most systems
	for len(from) > 0 {
		n := min(len(from), len(zeros))
		if !bytes.Equal(from[:n], zeros[:n]) {
			copy(to, from[:n])
		}
		to, from = to[n:], from[n:]
	}
}

// same reports whether two buffers have the same place and contents.
func (b *buffer) same(addr uint64, s *storage) bool {
	return b.addr == addr && (b.store == s || bytes.Equal(b.data, s.data))
}
