package activity

import "gpa/emu"

// Tracers watch one launch together. A fault goes on where one of them lets it.
type Tracers []emu.Tracer

// Begin tells all of them of the launch.
func (l Tracers) Begin(f *emu.LaunchFacts) {
	for _, t := range l {
		t.Begin(f)
	}
}

// BeginBlock tells all of them that a block begins.
func (l Tracers) BeginBlock(block, shared int) {
	for _, t := range l {
		t.BeginBlock(block, shared)
	}
}

// EndBlock tells all of them that a block has ended.
func (l Tracers) EndBlock(block int) {
	for _, t := range l {
		t.EndBlock(block)
	}
}

// Step tells all of them of an instruction.
func (l Tracers) Step(s *emu.Step) {
	for _, t := range l {
		t.Step(s)
	}
}

// Arrive tells all of them of lanes at a barrier.
func (l Tracers) Arrive(a *emu.Arrival) {
	for _, t := range l {
		t.Arrive(a)
	}
}

// Release tells all of them of a barrier that completes.
func (l Tracers) Release(block, barrier int) {
	for _, t := range l {
		t.Release(block, barrier)
	}
}

// Fault asks all of them about a fault.
func (l Tracers) Fault(f *emu.Fault) bool {
	goes := false
	for _, t := range l {
		goes = t.Fault(f) || goes
	}
	return goes
}

// Heap tells all of them of a call of malloc or free.
func (l Tracers) Heap(c *emu.HeapCall) {
	for _, t := range l {
		t.Heap(c)
	}
}

// deaf is the part of a tracer that measures nothing but steps. Faults end the launch.
type deaf struct{}

func (deaf) Arrive(*emu.Arrival)   {}
func (deaf) Release(int, int)      {}
func (deaf) Heap(*emu.HeapCall)    {}
func (deaf) Fault(*emu.Fault) bool { return false }
