package emu

import (
	"bytes"
	"slices"
)

// A State is a copy of the device memory of a machine, which with the launch itself decides what the launch does: launches that
// begin with empty caches in equal states are equal in every cycle.
type State struct {
	buffers []*buffer // their data is not changed
}

// maxState is the size of memory up to which states are kept, bytes.
const maxState = 512 << 20

// State copies the memory of the machine, sharing with an earlier state, which may be nil, what has not changed since. It is nil
// where memory is too large for that, or where device-side malloc has been at work, whose allocations have a state of their own.
func (m *Machine) State(earlier *State) *State {
	if m.memory.used > maxState || m.heap.count > 0 {
		return nil
	}
	s := &State{}
	for i, b := range m.memory.buffers {
		if earlier != nil && i < len(earlier.buffers) && sameBuffer(earlier.buffers[i], b) {
			s.buffers = append(s.buffers, earlier.buffers[i])
			continue
		}
		s.buffers = append(s.buffers, &buffer{name: b.name, addr: b.addr, data: bytes.Clone(b.data)})
	}
	return s
}

func sameBuffer(a, b *buffer) bool { return a == b || a.addr == b.addr && bytes.Equal(a.data, b.data) }

// In reports whether the memory of the machine is in a state.
func (m *Machine) In(s *State) bool {
	return s != nil && m.heap.count == 0 && slices.EqualFunc(s.buffers, m.memory.buffers, sameBuffer)
}

// Enter gives the memory of the machine the contents that it has in a state. The state is one of this machine's since its last
// buffer was allocated.
func (m *Machine) Enter(s *State) {
	for i, b := range m.memory.buffers {
		copy(b.data, s.buffers[i].data)
	}
}

// Printed returns the bytes that device-side printf has written so far.
func (m *Machine) Printed() int64 { return m.printed }
