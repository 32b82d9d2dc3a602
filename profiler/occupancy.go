package profiler

import (
	"fmt"

	"gpa/emu/arch"
)

// SetGPU enters the facts that follow from the GPU's model: name, size, clock where none was measured, and the occupancy of the
// launch's grid, block, registers and shared memory, which are entered before. A block that does not fit on an SM is an error.
func (l *Launch) SetGPU(model *arch.Model) error {
	f := &l.Facts
	l.GPU = model.Name
	f.SMs, f.SchedulersPerSM = model.SMs.Int(), model.Limits.Schedulers.Int()
	f.MaxWarpsPerScheduler = model.Limits.Warps.Int() / max(1, f.SchedulersPerSM)
	f.DRAMPeak = model.DRAM.Peak.Value
	if f.ClockHz == 0 {
		f.ClockHz = model.Clock.Value
	}
	o := arch.OccupancyOf(model, arch.Resources{Threads: volume(l.Block), Registers: f.Registers, SharedStatic: f.SharedStatic,
		SharedDynamic: f.SharedDynamic, Blocks: volume(l.Grid)})
	if o.BlocksPerSM < 1 {
		return fmt.Errorf("a block of %v threads with %d registers each and %d bytes of shared memory does not fit on an SM of %s",
			l.Block, f.Registers, f.SharedStatic+f.SharedDynamic, model.Name)
	}
	f.WarpsPerScheduler, f.BlocksPerSM, f.OccupancyLimit = o.WarpsPerScheduler, o.BlocksPerSM, o.Limit
	return nil
}

// volume is the product of the dimensions, as far as a number of blocks needs to be known. A dimension that is not given is 1.
func volume(size [3]int) int {
	const most = 1 << 31
	v := 1
	for _, n := range size {
		v = min(most, v*min(most, max(1, n)))
	}
	return v
}
