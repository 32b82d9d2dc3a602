package sampler

import (
	"gpa/emu"
	"gpa/profiler"
)

// Emulated returns what the emulator knows of a launch that has ended, as profiles hold it. fault is nil where there was none.
func Emulated(r *emu.Result, fault *emu.Fault) *Run {
	run := &Run{
		Facts:         &r.Facts,
		SharedDynamic: r.SharedDynamic, LocalBytes: r.LocalBytes,
		Cycles: r.Cycles, SMActiveCycles: r.SMActiveCycles, WarpActiveCycles: r.WarpActiveCycles, Traffic: r.Traffic,
		WarpInstructions: r.WarpInstructions, ThreadInstructions: r.ThreadInstructions,
		TimingLevel: r.Level.String(), Extrapolated: r.TimedBlocks > 0, TimedBlocks: r.TimedBlocks, ErrorBound: r.ErrorBound,
	}
	for i := range r.Counters {
		c := &r.Counters[i]
		run.PCs = append(run.PCs, profiler.Counter{
			Code: c.Code, PC: c.PC, Executions: c.Executions, ThreadExecutions: c.ThreadExecutions, BranchTaken: c.BranchTaken,
			GlobalSectors: c.GlobalSectors, GlobalSectorsIdeal: c.GlobalSectorsIdeal,
			SharedWavefronts: c.SharedWavefronts, SharedWavefrontsIdeal: c.SharedWavefrontsIdeal,
		})
		if c.Timed > 0 && run.Timed == nil {
			run.Timed = make([]int64, len(r.Counters))
		}
	}
	for i := range run.Timed {
		run.Timed[i] = r.Counters[i].Timed
	}
	if fault != nil {
		run.Fault = &profiler.Fault{
			Kind: string(fault.Kind), Code: fault.Code, PC: fault.PC, Block: fault.Block, Thread: fault.Thread,
			HasAddress: fault.HasAddress, Address: fault.Address, Buffer: fault.Buffer, Message: fault.Error(),
		}
	}
	return run
}
