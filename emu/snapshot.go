package emu

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// A Snapshot is the global memory that a launch touches, as it was before the launch. Buffers are copied when a thread first reaches
// them. The launch is one without timing, whose threads take turns.
type Snapshot struct {
	machine *Machine
	touched []*touched
	objects map[uint32]Object // that threads have used, by handle
	err     error
}

// touched is a buffer that the launch has reached.
type touched struct {
	buffer *buffer
	before []byte
	store  *storage // that before lies in
}

// A Touched is a buffer that a launch has reached. Its bytes are valid as long as nothing else is launched.
type Touched struct {
	Name          string
	Addr          uint64
	Before, After []byte
	Heap          bool // of device-side malloc, during the launch
}

var errSnapshot = errors.New("a snapshot is of a launch without timing")

// begin makes the snapshot that of a launch of the machine.
func (s *Snapshot) begin(r *launchRun) error {
	if s == nil {
		return nil
	}
	if r.level() != TimingNone {
		return errSnapshot
	}
	s.machine, s.touched, s.objects, s.err = r.machine, nil, make(map[uint32]Object), nil
	return nil
}

// touch copies a buffer that is about to be read or written, if it is there for the first time.
func (s *Snapshot) touch(b *buffer) {
	if b.snapshot == s || s.err != nil {
		return
	}
	b.snapshot = s
	store, err := newStorage(uint64(len(b.data)))
	if err != nil {
		s.err = err
		return
	}
	copyWritten(store.data, b.data)
	s.touched = append(s.touched, &touched{buffer: b, before: store.data, store: store})
}

// Touched returns the buffers that the launch has reached, by address. The error is that there was no memory for a copy.
func (s *Snapshot) Touched() ([]Touched, error) {
	list := make([]Touched, len(s.touched))
	for i, t := range s.touched {
		list[i] = Touched{Name: t.buffer.name, Addr: t.buffer.addr, Before: t.before, After: t.buffer.data, Heap: t.buffer.addr >= heapBase}
	}
	slices.SortFunc(list, func(a, b Touched) int { return cmp.Compare(a.Addr, b.Addr) })
	return list, s.err
}

// Object returns the texture or the surface object that a launch has used by a handle.
func (s *Snapshot) Object(handle uint64) (o Object, ok bool) {
	if handle > math.MaxUint32 {
		return o, false
	}
	o, ok = s.objects[uint32(handle)]
	return o, ok
}

// Restore gives the buffers the contents that they had before the launch. What device-side malloc gave out is there no more: the launch
// has to have been the first that called it.
func (s *Snapshot) Restore() {
	for _, t := range s.touched {
		copy(t.buffer.own, t.before)
		t.buffer.snapshot = nil
	}
	s.machine.heap.reset()
}

// reset makes the heap one that nothing has been taken from.
func (h *heap) reset() {
	for _, a := range h.calls {
		if b := h.memory.find(a.addr); b != nil && b.addr == a.addr {
			h.memory.remove(b)
		}
	}
	h.used, h.next, h.count, h.calls = 0, 0, 0, nil
}

// Heap returns the number of bytes for device-side malloc, and how many allocations there have been.
func (m *Machine) Heap() (size int64, allocations int) { return m.heap.size, m.heap.count }
