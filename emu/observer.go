package emu

import (
	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
)

// An Observer watches a timed launch as a hardware sampler would: from outside and without changing it. All calls of a
// launch come from one goroutine at a time, but those of NextSample, which may come from several while no other is under way.
type Observer interface {
	// Begin is called once, before the first cycle.
	Begin(*LaunchFacts)
	// NextSample returns the first cycle at or after cycle in which the observer wants to look at the SM; a cycle that
	// passes while the SM holds no warp is not reported. What it returns must not depend on calls for other SMs.
	NextSample(sm int, cycle int64) int64
	// Sample is called for a cycle that NextSample named. The samples of an SM come in the order of their cycles, but each
	// only when the producers of all stalls in it are known, which may be after later calls of NextSample. The view is
	// valid during the call only.
	Sample(view SMView, cycle int64)
}

// A Chooser is an Observer that looks at one warp of each sample only, and says at which before the sample is taken: that
// saves the others' states.
type Chooser interface {
	Observer
	// Chooses reports whether the observer chooses in the launch that begins. If not, it is like any other.
	Chooses() bool
	// Choose returns a scheduler and which of its warps. held has the number of warps by scheduler; there is one at least. As of
	// NextSample, calls may come from several goroutines.
	Choose(sm int, held []int, cycle int64) (scheduler, i int)
	// Take is called in the place of Sample with the state of the warp, and whether its scheduler issued in that cycle.
	Take(w WarpState, issued bool, cycle int64)
}

// LaunchFacts are what is known of a launch before it runs.
type LaunchFacts struct {
	Kernel    *cubin.Kernel
	Module    *cubin.File
	Model     *arch.Model
	Grid      [3]int
	Block     [3]int
	Cluster   [3]int // blocks of a cluster, zero where the launch does not ask for clusters
	Occupancy arch.Occupancy

	memory *globalMemory
}

// Allocation returns the size of the buffer of global memory that holds an address, in bytes, 0 where none does.
func (f *LaunchFacts) Allocation(addr uint64) int64 {
	if f.memory == nil {
		return 0
	}
	if b := f.memory.find(addr); b != nil {
		return int64(b.end() - b.addr)
	}
	return 0
}

// An SMView shows the state of one SM in one cycle.
type SMView interface {
	SM() int
	Schedulers() int
	// Warps returns the number of warps that the scheduler holds.
	Warps(scheduler int) int
	// Issued reports whether the scheduler issues an instruction in this cycle.
	Issued(scheduler int) bool
	// Warp returns the state of the i-th warp of the scheduler.
	Warp(scheduler, i int) WarpState
}

// A WarpState is what a sample records of a warp: the instruction that it will issue next and why it does not
// issue it in this cycle. In the cycle in which a warp issues that is the one behind what it issues already, and so it is behind a
// branch until its target is looked up, and behind EXIT, although the warp never comes there: Nsight Compute shows it so on V100, T4,
// GTX 1660 Super and RTX 3060. First instructions of kernels are never sampled as selected, those behind EXIT are.
type WarpState struct {
	Code   int    // index in the module's Codes
	PC     uint64 // offset in that section, the last instruction's where it would be behind
	Reason stall.Reason
	// HasProducer says that the warp waits for the result of one instruction, the one named by ProducerCode and
	// ProducerPC: of all that it waits for, the last to complete.
	HasProducer  bool
	ProducerCode int
	ProducerPC   uint64
}

// IssuedPC returns the pc of what a selected warp issues.
func (w WarpState) IssuedPC() uint64 { return max(w.PC, sass.InstSize) - sass.InstSize }
