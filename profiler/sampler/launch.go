package sampler

import (
	"gpa/emu"
	"gpa/emu/mem"
	"gpa/profiler"
)

// sectorBytes is the size of a sector of the caches.
const sectorBytes = 32

// A Run is what the emulator knows of a launch when it is over.
type Run struct {
	Facts         *emu.LaunchFacts
	Module        int // index of the launch's module in the profile
	SharedDynamic int // bytes a block
	LocalBytes    int // bytes a thread

	Cycles             int64
	SMActiveCycles     int64
	WarpActiveCycles   int64
	Traffic            mem.Traffic
	WarpInstructions   int64
	ThreadInstructions int64
	TimingLevel        string // full, fast or none
	Extrapolated       bool
	TimedBlocks        int
	ErrorBound         float64

	PCs   []profiler.Counter // by code and pc
	Fault *profiler.Fault

	Record *profiler.Record
}

// Launch returns the profile of the launch that the sampler watched.
func (s *Sampler) Launch(r *Run) *profiler.Launch {
	l := r.profiled()
	l.Period, l.Samples = s.Period(), s.Samples()
	return l
}

// Unsampled returns the profile of a launch that ran without timing: it has no samples, period and cycles.
func Unsampled(r *Run) *profiler.Launch { return r.profiled() }

func (r *Run) profiled() *profiler.Launch {
	f := r.Facts
	limits := &f.Model.Limits
	schedulers := limits.Schedulers.Int()
	return &profiler.Launch{
		Kernel: f.Kernel.Name,
		Module: r.Module,
		GPU:    f.Model.Name,
		Grid:   f.Grid,
		Block:  f.Block,
		PCs:    r.PCs,
		Fault:  r.Fault,
		Record: r.Record,
		Facts: profiler.Facts{
			Registers:            f.Kernel.Registers,
			SharedStatic:         f.Kernel.SharedStatic,
			SharedDynamic:        r.SharedDynamic,
			LocalBytes:           r.LocalBytes,
			Cycles:               r.Cycles,
			SMActiveCycles:       r.SMActiveCycles,
			WarpActiveCycles:     r.WarpActiveCycles,
			L2Bytes:              r.Traffic.L2 * sectorBytes,
			DRAMReadBytes:        r.Traffic.DRAMRead * sectorBytes,
			DRAMWrittenBytes:     r.Traffic.DRAMWritten * sectorBytes,
			DRAMPeak:             f.Model.DRAM.Peak.Value,
			ClockHz:              f.Model.Clock.Value,
			WarpInstructions:     r.WarpInstructions,
			ThreadInstructions:   r.ThreadInstructions,
			SMs:                  f.Model.SMs.Int(),
			SchedulersPerSM:      schedulers,
			MaxWarpsPerScheduler: limits.Warps.Int() / max(1, schedulers),
			WarpsPerScheduler:    f.Occupancy.WarpsPerScheduler,
			OccupancyLimit:       f.Occupancy.Limit,
			BlocksPerSM:          f.Occupancy.BlocksPerSM,
			TimingLevel:          r.TimingLevel,
			Extrapolated:         r.Extrapolated,
			ErrorBound:           r.ErrorBound,
			TimedBlocks:          r.TimedBlocks,
		},
	}
}
