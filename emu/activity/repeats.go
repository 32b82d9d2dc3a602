package activity

import (
	"gpa/cubin/sass"
	"gpa/emu"
)

// Repeats counts warp instructions of some code that divergent warps issue: those that other lanes of the warp may issue
// again. Wu et al. ("Characterization and Transformation of Unstructured Control Flow in Bulk Synchronous GPU
// Applications", section 4.2.1) count the blocks so that Forward Copy would duplicate, under re-convergence at immediate
// post-dominators: an upper limit of dynamic code expansion. It is a [emu.Tracer] of launches without timing.
type Repeats struct {
	deaf
	copied [][]bool // by section and instruction
	issued int64
}

// NewRepeats returns a tracer of the instructions that are true in copied, by section and index.
func NewRepeats(copied [][]bool) *Repeats { return &Repeats{copied: copied} }

// Issued returns how many warp instructions have been counted.
func (r *Repeats) Issued() int64 { return r.issued }

// Begin does nothing: launches add up.
func (r *Repeats) Begin(*emu.LaunchFacts) {}

// BeginBlock does nothing.
func (r *Repeats) BeginBlock(int, int) {}

// EndBlock does nothing.
func (r *Repeats) EndBlock(int) {}

// Step counts an instruction.
func (r *Repeats) Step(s *emu.Step) {
	if s.Active != s.Live && r.copied[s.Code][s.Inst.PC/sass.InstSize] {
		r.issued++
	}
}
