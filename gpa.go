// Package gpa is a GPU performance advisor that needs no GPU, as a library: what the command of that name stands on. It loads the launches of a CUDA
// kernel, runs their machine code on an emulated GPU, samples and blames the stalls, and ranks the changes worth making by running with them.
//
//	target, err := gpa.Load("launch.yaml", gpa.LoadOptions{GPU: "a100"})
//	result, err := target.Profile(ctx, gpa.Options{}) // run, and take samples
//	err = result.Blame(blamer.Options{})              // which instructions the stalls come from
//	err = result.Advise(gpa.AdviceOptions{})          // which changes are worth making, by estimates
//	err = result.Try(ctx, gpa.TryOptions{})           // and by what running with them brings
//	err = reports.Text(os.Stdout, &result.Result, reports.TextOptions{Source: result.Sources.Read})
//
// A [Target] is a launch file, a built-in kernel or a cubin with the facts of its launch, and the GPU that it runs on. A [Result] is the profile
// of its launches with blame and advice: plain data, which package reports prints and [Result.Save] saves. [Compare] holds one against another.
//
// Functions return errors and print nothing. They stop where their context ends, and what there is until then is kept. A value is for one
// goroutine at a time; there is no state besides, so that any number of targets can run beside each other.
package gpa

import (
	"io"

	"gpa/emu"
	"gpa/emu/reconv"
	"gpa/profiler/store"
)

// Options say how a target runs. The zero value is the hardware's behaviour, with every part of the timing model.
type Options struct {
	MaxInstructions int64     // warp instructions of a launch after which it ends with a fault, 0 for no limit
	Workers         int       // SMs that are advanced at a time, 0 for as many as there are processors; it changes no result
	Reconvergence   string    // name of a re-convergence model, see [reconv.Models]; "" for the hardware's own
	Stdout          io.Writer // of device-side printf, nil to drop it
	Padding         int64     // bytes between buffers that are not mapped, at least; 0 for a default
	Progress        Progress  // is told what is done, nil for nobody
	Keep            Keeping
	Tell            func(error) // is told of what goes wrong where the result is right all the same, nil for nobody

	// What follows is about time, and without meaning where a target only runs.

	Fast      bool   // a perfect instruction cache and a fixed latency of L2 instead of the full model
	Period    int    // cycles between two samples of an SM, a power of two from 32; 0 for one that gives some thousand samples
	Seed      uint64 // which sequence of warps is sampled
	WholeGrid bool   // every block of a large grid is timed; else the rest only takes effect once wave after wave took the same time
	MaxCycles int64  // of all launches together, after which they are stopped as by the end of ctx; 0 for no limit
	// Dispensable says that nobody wants to know what the last launch leaves in memory, where the launch file expects nothing: of a large one not all
	// blocks are executed then.
	Dispensable bool
	Portions    bool // a large launch is timed on portions of the GPU, until two come to the same cycles
}

// Keeping says where results are kept from run to run, by all that they depend on: samples, by the launch and the version of the emulated GPU, and what is
// made of them, by the program besides, so that better advice needs no new samples. Results of launches that printed, faulted, were stopped or left other
// outputs than expected are not kept.
type Keeping struct {
	Store *store.Folder // nil for nowhere
	Again bool          // what is in the store is computed again; a result that is not that in the store is a [*store.ConflictError], beside the result
	// Memory: what the launches leave in buffers is kept too, so that [Result.Recall] has it without running them.
	Memory bool
}

// tell tells of what is wrong.
func (o *Options) tell(err error) {
	if o.Tell != nil {
		o.Tell(err)
	}
}

// A Progress is told what is being done. Its methods are called from the goroutine that does it.
type Progress interface {
	// Stage begins a part of the stage around it, which lasts until end is called.
	Stage(what string) (end func())
	// Running begins the launches of a target, which last until end is called. p counts their blocks and instructions.
	Running(t *Target, p *emu.Progress) (end func())
}

// stage begins a stage.
func (o *Options) stage(what string) (end func()) {
	if o.Progress == nil {
		return func() {}
	}
	return o.Progress.Stage(what)
}

// Level is the level of timing of a profile.
func (o *Options) Level() emu.TimingLevel {
	if o.Fast {
		return emu.TimingFast
	}
	return emu.TimingFull
}

// mostTimed is how many warp instructions, and sectors that they ask of L1, are timed of a launch: about ten seconds' worth on one processor.
const mostTimed = 1 << 26

// Emulator returns the emulator's options for a level of timing and a heap for device-side malloc in bytes.
func (o *Options) Emulator(level emu.TimingLevel, heap int64) (emu.Options, error) {
	out := emu.Options{
		Timing: level, MaxInstructions: o.MaxInstructions, Stdout: o.Stdout, Heap: heap, Workers: o.Workers, HostMemory: emu.FreeMemory,
		Padding: o.Padding, Extrapolation: emu.Extrapolation{Off: o.WholeGrid, Portions: o.Portions && !o.WholeGrid, Most: mostTimed},
	}
	var err error
	out.Reconvergence, err = reconv.ByName(o.Reconvergence)
	return out, err
}
