package sampler

import (
	"math"
	"slices"

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
	Timed []int64            // of the executions of each of PCs, those that were timed; nil for all
	Fault *profiler.Fault

	Record *profiler.Record
}

// Launch returns the profile of the launch that the sampler watched.
func (s *Sampler) Launch(r *Run) *profiler.Launch {
	l := r.profiled()
	l.Period, l.Samples = s.Period(), s.Samples()
	if r.Timed != nil {
		r.weigh(l)
	}
	return l
}

// weigh counts the samples of each instruction as often as its executions were timed less often than those of others: they are those of the whole
// launch then, also where a part of it was timed that has more of its beginning. Their sum stays.
func (r *Run) weigh(l *profiler.Launch) {
	type at struct {
		code int
		pc   uint64
	}
	weights := make(map[at]float64)
	all, timed := int64(0), int64(0)
	for i, n := range r.Timed {
		if all, timed = all+r.PCs[i].Executions, timed+n; n > 0 {
			weights[at{r.PCs[i].Code, r.PCs[i].PC}] = float64(r.PCs[i].Executions) / float64(n)
		}
	}
	weight := func(s *profiler.Sample) float64 {
		if w, ok := weights[at{s.Code, s.PC}]; ok {
			return w
		}
		return float64(all) / float64(max(timed, 1)) // nobody came past it
	}
	var before, after float64
	for i := range l.Samples {
		n := float64(l.Samples[i].Count)
		before, after = before+n, after+n*weight(&l.Samples[i])
	}
	if after == 0 {
		return
	}
	for i := range l.Samples {
		s := &l.Samples[i]
		w := weight(s) * before / after
		s.Count, s.Latency = int64(math.Round(float64(s.Count)*w)), int64(math.Round(float64(s.Latency)*w))
	}
	l.Samples = slices.DeleteFunc(l.Samples, func(s profiler.Sample) bool { return s.Count == 0 })
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
