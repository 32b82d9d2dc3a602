package sasstest

import (
	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/stall"
	"gpa/profiler"
)

// SampleEverywhere makes a launch of a real module in which every instruction issues and is sampled stalled for what it
// can wait for: as many wait samples as the stall count before it makes it wait, scoreboard samples where it waits for
// a dependence counter, barrier samples after a barrier. Half of all stall samples are latency samples.
func SampleEverywhere(module *cubin.File, code int) *profiler.Launch {
	c := module.Codes[code]
	l := &profiler.Launch{
		Kernel: c.Name, GPU: "v100", Grid: [3]int{640, 1, 1}, Block: [3]int{256, 1, 1}, Period: 32,
		Facts: profiler.Facts{Registers: 32, SMs: 80, SchedulersPerSM: 4, MaxWarpsPerScheduler: 16, WarpsPerScheduler: 16},
	}
	var setters [6]sass.Op // by dependence counter: the last instruction above that takes it
	for i := range c.Insts {
		in := &c.Insts[i]
		add := func(r stall.Reason, n int64) {
			l.Samples = append(l.Samples, profiler.Sample{Code: code, PC: in.PC, Reason: r, Count: n, Latency: n / 2})
		}
		if i > 0 {
			l.Samples = append(l.Samples, profiler.Sample{Code: code, PC: in.PC, Reason: stall.Selected, Count: 4}) // of the one before
			if before := &c.Insts[i-1]; before.Op == sass.BAR {
				add(stall.Barrier, 10)
			} else if before.Control.Stall > 1 {
				add(stall.Wait, int64(before.Control.Stall)-1)
			}
		}
		for counter, op := range setters {
			if in.Control.WaitMask>>counter&1 != 0 && op != sass.OpNone {
				add(scoreboard(op), 20)
			}
		}
		for _, counter := range [...]int8{in.Control.ReadBarrier, in.Control.WriteBarrier} {
			if counter >= 0 {
				setters[counter] = in.Op
			}
		}
	}
	return l
}

// scoreboard returns the reason that waiting for an instruction shows as.
func scoreboard(op sass.Op) stall.Reason {
	if op.Properties().Accesses(sass.SpaceGlobal | sass.SpaceLocal | sass.SpaceGeneric) {
		return stall.LongScoreboard
	}
	return stall.ShortScoreboard
}
