package profiler

import (
	"cmp"
	"fmt"
	"math"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// warpSize is the number of threads of a warp on every NVIDIA GPU.
const warpSize = 32

// Check reports the first thing in the profile that cannot be: a launch of a kernel that its module lacks, a place that
// holds no instruction, counts that contradict each other, samples or counters out of order. What passes is safe to
// hand to every later stage.
func Check(p *Profile) error {
	for i, l := range p.Launches {
		if err := checkLaunch(p.Modules, l); err != nil {
			return fmt.Errorf("launch %d: %w", i, err)
		}
	}
	return nil
}

func checkLaunch(modules []*cubin.File, l *Launch) error {
	if l.Module < 0 || l.Module >= len(modules) {
		return fmt.Errorf("there is no module %d, only %d", l.Module, len(modules))
	}
	module := modules[l.Module]
	if !hasKernel(module, l.Kernel) {
		return fmt.Errorf("module %s has no kernel %q", module.Name, l.Kernel)
	}
	if err := checkFacts(l); err != nil {
		return fmt.Errorf("kernel %s: %w", l.Kernel, err)
	}
	for i := range l.Samples {
		if err := checkSample(module, l.Samples, i); err != nil {
			return fmt.Errorf("kernel %s: sample %d: %w", l.Kernel, i, err)
		}
	}
	for i := range l.PCs {
		if err := checkCounter(module, l.PCs, i); err != nil {
			return fmt.Errorf("kernel %s: counter %d: %w", l.Kernel, i, err)
		}
	}
	for _, t := range l.Tries {
		if math.IsNaN(t.Speedup) || math.IsInf(t.Speedup, 0) || t.Speedup < 0 {
			return fmt.Errorf("kernel %s: what-if run for %q: a speedup of %v", l.Kernel, t.Optimizer, t.Speedup)
		}
	}
	for _, a := range l.Alternatives {
		if min(a.Grid[0], a.Grid[1], a.Grid[2]) <= 0 || a.Constants == "" {
			return fmt.Errorf("kernel %s: constants %q with a grid of %v", l.Kernel, a.Constants, a.Grid)
		}
	}
	if err := checkInheritance(module, l.Inherits); err != nil {
		return fmt.Errorf("inherits: %w", err)
	}
	if err := checkRecord(module, l.Record); err != nil {
		return fmt.Errorf("kernel %s: record: %w", l.Kernel, err)
	}
	// A fault may lie where no instruction stands: a jump to nowhere is one.
	if f := l.Fault; f != nil && (f.Code < 0 || f.Code >= len(module.Codes)) {
		return fmt.Errorf("kernel %s: fault: module %s has no code section %d", l.Kernel, module.Name, f.Code)
	}
	return nil
}

func hasKernel(module *cubin.File, name string) bool {
	for _, k := range module.Kernels {
		if k.Name == name {
			return true
		}
	}
	return false
}

// checkFacts holds the facts to what every consumer divides by or counts with.
func checkFacts(l *Launch) error {
	f := &l.Facts
	counts := []struct {
		name  string
		value int64
	}{
		{"period", int64(l.Period)},
		{"registers", int64(f.Registers)},
		{"static shared memory", int64(f.SharedStatic)},
		{"dynamic shared memory", int64(f.SharedDynamic)},
		{"local memory", int64(f.LocalBytes)},
		{"cycles", f.Cycles},
		{"SM active cycles", f.SMActiveCycles},
		{"warp active cycles", f.WarpActiveCycles},
		{"bytes of L2", f.L2Bytes},
		{"bytes read of DRAM", f.DRAMReadBytes},
		{"bytes written to DRAM", f.DRAMWrittenBytes},
		{"warp instructions", f.WarpInstructions},
		{"thread instructions", f.ThreadInstructions},
		{"SMs", int64(f.SMs)},
		{"schedulers of an SM", int64(f.SchedulersPerSM)},
		{"warps of a scheduler", int64(f.MaxWarpsPerScheduler)},
		{"blocks of an SM", int64(f.BlocksPerSM)},
		{"blocks that were timed", int64(f.TimedBlocks)},
		{"equal launches", int64(f.Repeats)},
		{"launches that were not timed", int64(f.Untimed)},
		{"launches that count as it", int64(f.Alike)},
	}
	for _, c := range counts {
		if c.value < 0 {
			return fmt.Errorf("%s: %d is negative", c.name, c.value)
		}
	}
	if f.Repeats > maxLaunches || f.Alike > maxLaunches || int64(f.Untimed) > f.Count() {
		return fmt.Errorf("%d equal launches, %d of them not timed", f.Repeats, f.Untimed)
	}
	for axis := range l.Grid {
		if l.Grid[axis] < 1 || l.Block[axis] < 1 {
			return fmt.Errorf("grid %v and block %v must be positive", l.Grid, l.Block)
		}
	}
	for _, v := range []float64{f.ClockHz, f.WarpsPerScheduler, f.ErrorBound, f.DRAMPeak} {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return fmt.Errorf("clock, warps of a scheduler, error bound and peak bandwidth must be finite and not negative, not %v", v)
		}
	}
	return nil
}

// checkSample checks the i-th sample, also against the one before.
func checkSample(module *cubin.File, samples []Sample, i int) error {
	s := &samples[i]
	switch {
	case s.Reason >= stall.NumReasons:
		return fmt.Errorf("unknown stall reason %d", s.Reason)
	case s.Count < 1:
		return fmt.Errorf("the count %d is not positive", s.Count)
	case s.Latency < 0 || s.Latency > s.Count:
		return fmt.Errorf("%d of %d samples cannot be latency samples", s.Latency, s.Count)
	case s.Reason == stall.Selected && s.Latency > 0:
		return fmt.Errorf("a warp cannot issue in a cycle in which its scheduler does not")
	case i > 0 && compareSamples(samples[i-1], *s) >= 0:
		return fmt.Errorf("out of order or there twice")
	}
	if err := checkPlace(module, s.Code, s.PC); err != nil {
		return err
	}
	if s.Producer.Known {
		if err := checkPlace(module, s.Producer.Code, s.Producer.PC); err != nil {
			return fmt.Errorf("producer: %w", err)
		}
	}
	return nil
}

// checkCounter checks the i-th counter, also against the one before.
func checkCounter(module *cubin.File, counters []Counter, i int) error {
	c := &counters[i]
	if i > 0 && comparePlace(counters[i-1].Code, counters[i-1].PC, c.Code, c.PC) >= 0 {
		return fmt.Errorf("out of order or there twice")
	}
	for _, n := range []int64{
		c.Executions, c.ThreadExecutions, c.GlobalSectors, c.GlobalSectorsIdeal,
		c.SharedWavefronts, c.SharedWavefrontsIdeal, c.BranchTaken,
	} {
		if n < 0 {
			return fmt.Errorf("the count %d is negative", n)
		}
	}
	if c.Executions < math.MaxInt64/warpSize && c.ThreadExecutions > c.Executions*warpSize {
		return fmt.Errorf("%d thread executions are too many for %d executions", c.ThreadExecutions, c.Executions)
	}
	return checkPlace(module, c.Code, c.PC)
}

// checkRecord checks what a record names and counts, and that its lists are in order.
func checkRecord(module *cubin.File, r *Record) error {
	if r == nil {
		return nil
	}
	for _, at := range r.places() {
		if err := checkPlace(module, at.Code, at.PC); err != nil {
			return err
		}
	}
	for _, n := range r.counts() {
		if n < 0 || n > maxCount {
			return fmt.Errorf("%d is not a count", n)
		}
	}
	if !r.sorted() {
		return fmt.Errorf("out of order or there twice")
	}
	return nil
}

// checkInheritance checks what an inheritance names and counts.
func checkInheritance(module *cubin.File, x *Inheritance) error {
	if x == nil {
		return nil
	}
	if x.Loaded < 0 || x.Loaded > maxCount || x.Own < 0 || x.Own > x.Loaded || x.Apart < 0 || x.Apart > maxLaunches {
		return fmt.Errorf("%d of %d bytes and %d launches are no counts", x.Own, x.Loaded, x.Apart)
	}
	for _, at := range x.Loads {
		if err := checkPlace(module, at.Code, at.PC); err != nil {
			return err
		}
	}
	if !ascending(x.Loads, ComparePlaces) || !ascending(x.Overwrites, cmp.Compare[int]) || !ascending(x.Feeds, compareFeeds) {
		return fmt.Errorf("out of order or there twice")
	}
	for _, back := range x.Overwrites {
		if back < 1 || back > MostBack {
			return fmt.Errorf("%d launches are too many", back)
		}
	}
	for i := range x.Feeds {
		if err := checkFeed(module, &x.Feeds[i]); err != nil {
			return err
		}
	}
	return nil
}

func compareFeeds(a, b Feed) int { return cmp.Compare(a.Back, b.Back) }

// checkFeed checks what a feed names and counts.
func checkFeed(module *cubin.File, f *Feed) error {
	if f.Back < 1 || f.Back > MostBack || f.Bytes < 0 || f.Bytes > maxCount || f.Left < 0 || f.Left > maxCount || f.Blocks < 0 || f.Blocks > maxCount {
		return fmt.Errorf("%d launches, %d and %d bytes and %d blocks are no counts", f.Back, f.Bytes, f.Left, f.Blocks)
	}
	for _, l := range f.Loads {
		if err := checkPlace(module, l.Code, l.PC); err != nil {
			return err
		}
		if l.Bytes < 0 || l.Of < l.Bytes || l.Of > maxCount {
			return fmt.Errorf("%d of %d bytes are no counts", l.Bytes, l.Of)
		}
	}
	if !ascending(f.Loads, func(a, b FeedLoad) int { return ComparePlaces(a.Place, b.Place) }) {
		return fmt.Errorf("out of order or there twice")
	}
	return nil
}

// checkPlace makes sure that an instruction stands at pc.
func checkPlace(module *cubin.File, code int, pc uint64) error {
	if code < 0 || code >= len(module.Codes) {
		return fmt.Errorf("module %s has no code section %d, only %d", module.Name, code, len(module.Codes))
	}
	if n := uint64(len(module.Codes[code].Insts)); pc%sass.InstSize != 0 || pc/sass.InstSize >= n {
		return fmt.Errorf("section %s has no instruction at %#x", module.Codes[code].Name, pc)
	}
	return nil
}

// CheckSampling holds the launch to the laws that measured profiles of real GPUs obey: an SM gives one sample a period
// while it is active, and the executions of all instructions add up to the launch's. Tolerance is the relative deviation
// that is let pass; one sample an SM is let pass besides, for the period that a launch does not complete.
func (l *Launch) CheckSampling(tolerance float64) error {
	totals := l.Totals()
	if l.Period > 0 && l.Facts.SMActiveCycles > 0 {
		want := float64(l.Facts.SMActiveCycles) / float64(l.Period)
		if off := math.Abs(float64(totals.Samples) - want); off > tolerance*want+float64(l.Facts.SMs) {
			return fmt.Errorf("kernel %s: %d samples where %d active cycles at period %d give %.0f",
				l.Kernel, totals.Samples, l.Facts.SMActiveCycles, l.Period, want)
		}
	}
	if len(l.PCs) == 0 {
		return nil
	}
	var executions, threads int64
	for i := range l.PCs {
		executions += l.PCs[i].Executions
		threads += l.PCs[i].ThreadExecutions
	}
	if !near(executions, l.Facts.WarpInstructions, tolerance) {
		return fmt.Errorf("kernel %s: the instructions were executed %d times together, the launch has %d warp instructions",
			l.Kernel, executions, l.Facts.WarpInstructions)
	}
	if !near(threads, l.Facts.ThreadInstructions, tolerance) {
		return fmt.Errorf("kernel %s: threads executed %d instructions together, the launch has %d thread instructions",
			l.Kernel, threads, l.Facts.ThreadInstructions)
	}
	return nil
}

func near(got, want int64, tolerance float64) bool {
	return math.Abs(float64(got)-float64(want)) <= tolerance*float64(want)
}
