package emu

import (
	"bytes"
	"fmt"
	"slices"
)

// A State is a copy of the device memory of a machine, which with the launch itself decides what the launch does: launches that
// begin with empty caches in equal states are equal in every cycle. What machines have not written since they share with it.
type State struct {
	buffers []saved
}

// A saved is the contents of a buffer, which is not written to.
type saved struct {
	addr  uint64
	store *storage
}

// maxState is the size of memory up to which states are kept, bytes: what is written then is there twice.
const maxState = 512 << 20

// State copies the memory of the machine. It is nil where memory is too large for that, or where device-side malloc has been at
// work, whose allocations have a state of their own.
func (m *Machine) State() *State {
	if m.memory.used > maxState || m.heap.count > 0 {
		return nil
	}
	return m.Contents()
}

// Contents copies the memory of the machine, however large. Of a large memory hardly more than what the machine has in use is taken as
// long as it writes nothing.
func (m *Machine) Contents() *State {
	s := &State{}
	for _, b := range m.memory.buffers {
		store := b.store
		if b.fixed {
			store = &storage{data: bytes.Clone(b.data)}
		} else {
			b.share()
		}
		s.buffers = append(s.buffers, saved{b.addr, store})
	}
	return s
}

// In reports whether the memory of the machine is in a state.
func (m *Machine) In(s *State) bool {
	return s != nil && m.heap.count == 0 && slices.EqualFunc(m.memory.buffers, s.buffers, func(b *buffer, s saved) bool { return b.same(s.addr, s.store) })
}

// Enter gives the memory of the machine the contents that it has in a state. The state is one of this machine's since its last
// buffer was allocated.
func (m *Machine) Enter(s *State) {
	for i, b := range m.memory.buffers {
		m.adopt(b, s.buffers[i].store)
	}
}

func (m *Machine) adopt(b *buffer, s *storage) {
	if b.fixed {
		copy(b.own, s.data)
		return
	}
	b.adopt(s)
}

// EnterBuffer gives the buffer at an address the contents that the one there has in a state, which may be another machine's.
func (m *Machine) EnterBuffer(s *State, addr uint64) error {
	b := m.memory.find(addr)
	i := slices.IndexFunc(s.buffers, func(x saved) bool { return x.addr == addr })
	switch {
	case b == nil && i >= 0 && len(s.buffers[i].store.data) == 0: // buffers without bytes hold no address
		return nil
	case b == nil || b.addr != addr || i < 0 || len(s.buffers[i].store.data) != len(b.data):
		return fmt.Errorf("a buffer at %#x: %w", addr, errNotMapped)
	}
	m.adopt(b, s.buffers[i].store)
	return nil
}

// Merge shares with a state what is equal in the machine and there. No program sees that.
func (m *Machine) Merge(s *State) {
	for _, b := range m.memory.buffers {
		i := slices.IndexFunc(s.buffers, func(x saved) bool { return x.addr == b.addr })
		if i >= 0 && !b.fixed && len(b.data) >= mapped && b.same(b.addr, s.buffers[i].store) {
			b.adopt(s.buffers[i].store)
		}
	}
}

// Printed returns the bytes that device-side printf has written so far.
func (m *Machine) Printed() int64 { return m.printed }
