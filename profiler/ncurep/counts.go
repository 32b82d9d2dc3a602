package ncurep

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gpa/cubin/sass"
	"gpa/emu/stall"
	"gpa/profiler"
)

// counts returns the parts of a metric as counts by address, and holds their sum to its value.
func (b *builder) counts(name string) (map[uint64]int64, error) {
	m := b.metrics[name]
	if m == nil {
		return nil, nil
	}
	counts := make(map[uint64]int64, len(m.Instances))
	var sum float64
	for _, in := range m.Instances {
		n, ok := in.Value.count()
		if !ok {
			return nil, fmt.Errorf("%s at %#x: %v is not a count", name, in.ID, in.Value.Number)
		}
		if n == 0 {
			continue
		}
		counts[in.ID] += n
		sum += float64(n)
	}
	if total, ok := m.Value.count(); !ok || sum != float64(total) {
		return nil, fmt.Errorf("%s: the instructions add up to %.0f, the launch has %v", name, sum, m.Value.Number)
	}
	return counts, nil
}

// samples enters the samples and holds the reasons to the number of samples.
func (b *builder) samples() error {
	totals, err := b.counts(metricSamples)
	if err != nil {
		return err
	}
	if len(totals) == 0 {
		b.lacks(profiler.MissingSamples)
		return nil
	}
	sums := make(map[uint64]int64, len(totals))
	latency, lost := false, int64(0)
	for r := range stall.NumReasons {
		all, err := b.counts(metricStall + r.String())
		if err != nil {
			return err
		}
		latent, err := b.counts(metricStall + r.String() + notIssued)
		if err != nil {
			return err
		}
		latency = latency || b.metrics[metricStall+r.String()+notIssued] != nil
		for address, n := range latent {
			if n > all[address] {
				return fmt.Errorf("%s at %#x: %d samples, %d of them not issued", r, address, all[address], n)
			}
		}
		for address, n := range all {
			sums[address] += n
			code, pc, err := b.at(address)
			if err != nil {
				lost += n
				continue
			}
			b.launch.Samples = append(b.launch.Samples, profiler.Sample{Code: code, PC: pc, Reason: r, Count: n, Latency: latent[address]})
		}
	}
	if lost > 0 {
		b.lacks("%d samples of code that is not in the cubin", lost)
	}
	b.launch.Samples = profiler.Collect(b.launch.Samples)
	if !latency {
		b.lacks(profiler.MissingLatency)
	}
	if n := b.number(metricDropped); n > 0 {
		b.lacks("some samples (the buffer was full, %.0f bytes were dropped)", n)
	}
	return b.sameSamples(totals, sums)
}

// sameSamples holds the samples of all reasons to the number of samples. Reasons that gpa does not know, as those of Hopper's
// asynchronous tensor cores, are noted.
func (b *builder) sameSamples(totals, sums map[uint64]int64) error {
	var unknown int64
	for _, address := range keys(totals, sums) {
		switch rest := totals[address] - sums[address]; {
		case rest < 0:
			return fmt.Errorf("%d samples at %#x, and %d by reason", totals[address], address, sums[address])
		case rest > 0:
			unknown += rest
		}
	}
	if unknown == 0 {
		return nil
	}
	if b.onlyKnownReasons() {
		return fmt.Errorf("%d samples have no reason", unknown)
	}
	b.lacks("%d samples of reasons that are not known here", unknown)
	return nil
}

// onlyKnownReasons says whether every stall metric is of a reason of package stall.
func (b *builder) onlyKnownReasons() bool {
	known := make(map[string]bool)
	for r := range stall.NumReasons {
		known[metricStall+r.String()], known[metricStall+r.String()+notIssued] = true, true
	}
	for name := range b.metrics {
		if len(name) > len(metricStall) && name[:len(metricStall)] == metricStall && !known[name] {
			return false
		}
	}
	return true
}

// keys returns the keys of both, in order.
func keys[K cmp.Ordered](a, b map[K]int64) []K {
	list := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(list)
	return slices.Compact(list)
}

// counters enters the source counters.
func (b *builder) counters() error {
	columns := []struct {
		metric, missing string
		enter           func(c *profiler.Counter, n int64)
	}{
		{metricExecuted, "", func(c *profiler.Counter, n int64) { c.Executions = n }},
		{metricThreads, profiler.MissingThreadExecutions, func(c *profiler.Counter, n int64) { c.ThreadExecutions = n }},
		{metricSectors, profiler.MissingSectors, func(c *profiler.Counter, n int64) { c.GlobalSectors = n }},
		{metricSectors + ideal, "", func(c *profiler.Counter, n int64) { c.GlobalSectorsIdeal = n }},
		{metricWavefronts, profiler.MissingWavefronts, func(c *profiler.Counter, n int64) { c.SharedWavefronts = n }},
		{metricWavefronts + ideal, "", func(c *profiler.Counter, n int64) { c.SharedWavefrontsIdeal = n }},
	}
	if b.metrics[metricExecuted] == nil { // the other counts are of use beside it only
		for _, what := range []string{profiler.MissingExecutions, profiler.MissingThreadExecutions, profiler.MissingSectors, profiler.MissingWavefronts} {
			b.lacks("%s", what)
		}
		return b.totals()
	}
	counters := make(map[uint64]*profiler.Counter)
	for _, column := range columns {
		counts, err := b.counts(column.metric)
		if err != nil {
			return err
		}
		if b.metrics[column.metric] == nil && column.missing != "" {
			b.lacks("%s", column.missing)
		}
		for address, n := range counts {
			c := counters[address]
			if c == nil {
				code, pc, err := b.at(address)
				if err != nil {
					if column.metric == metricExecuted {
						b.lost += n
					}
					continue
				}
				c = &profiler.Counter{Code: code, PC: pc}
				counters[address] = c
			}
			column.enter(c, n)
		}
	}
	if b.lost > 0 {
		b.lacks("%d executions of code that is not in the cubin", b.lost)
	}
	l := b.launch
	for _, c := range counters {
		l.PCs = append(l.PCs, *c)
	}
	slices.SortFunc(l.PCs, func(x, y profiler.Counter) int { return cmp.Or(cmp.Compare(x.Code, y.Code), cmp.Compare(x.PC, y.PC)) })
	return b.totals()
}

// executionTolerance is how far the executions that were counted in one run of the launch may be from those of another.
const executionTolerance = 0.05

// totals enters the sums of the executions. They are counted in another run of the kernel than the hardware counter, which
// a kernel that waits for others can tell.
func (b *builder) totals() error {
	f := &b.launch.Facts
	f.WarpInstructions = b.whole(metricTotal)
	if b.metrics[metricExecuted] == nil {
		return nil
	}
	executed := b.whole(metricExecuted)
	if hardware := f.WarpInstructions; hardware > 0 && math.Abs(float64(executed-hardware)) > executionTolerance*float64(hardware) {
		return fmt.Errorf("the instructions were executed %d times, the launch executed %d", executed, hardware)
	}
	f.WarpInstructions, f.ThreadInstructions = executed, b.whole(metricThreads)
	return nil
}

// opcodes holds the executions of the cubin's instructions to those that the file has by opcode: they differ where cubin and
// samples do not belong together. Opcodes that the file does not name are younger than the tool that measured.
func (b *builder) opcodes() error {
	m := b.metrics[metricOpcodes]
	if m == nil || b.metrics[metricExecuted] == nil || b.lost > 0 {
		return nil
	}
	want := make(map[string]int64)
	for _, in := range m.Instances {
		n, _ := in.Value.count()
		want[in.Name] += n
	}
	got := make(map[string]int64)
	for _, c := range b.launch.PCs {
		in := &b.module.Codes[c.Code].Insts[c.PC/sass.InstSize]
		if !in.Known() {
			return nil // a word that is not known here: its opcode cannot be told
		}
		got[in.Op.String()] += c.Executions
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			return fmt.Errorf("%s was executed %d times, by the cubin's instructions %d times: they do not belong together", name, want[name], got[name])
		}
	}
	return nil
}
