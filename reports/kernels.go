package reports

import (
	"cmp"
	"slices"
	"strconv"

	"gpa/profiler"
)

// A kernelSummary adds up the launches of one kernel.
type kernelSummary struct {
	name     string
	launches int
	cycles   int64
	totals   profiler.Totals
	faulted  bool
	latency  bool             // latency samples are known
	shown    int              // the launch that stands for the kernel: the one that faulted, or else the longest
	parts    []*kernelSummary // of several kernels that do the work of one together; nil for a kernel
}

// together is the summary of kernels that do the work of one, the costliest first. The first stands for all.
func together(list []*kernelSummary) *kernelSummary {
	all := &kernelSummary{name: list[0].name, shown: list[0].shown, latency: true, parts: list}
	for i, k := range list {
		if i > 0 {
			all.name += " + " + k.name
		}
		all.launches += k.launches
		all.cycles += k.cycles
		all.faulted = all.faulted || k.faulted
		all.latency = all.latency && k.latency
	}
	return all
}

// kernels returns the kernels of a result, those that faulted first, then by cycles.
func (r *Result) kernels() []*kernelSummary {
	type key struct {
		module int
		kernel string
	}
	found := make(map[key]*kernelSummary)
	var list []*kernelSummary
	for i, l := range r.Profile.Launches {
		k, ok := found[key{l.Module, l.Kernel}]
		if !ok {
			k = &kernelSummary{name: KernelName(r.Profile.Modules[l.Module], l.Kernel), latency: true, shown: i}
			found[key{l.Module, l.Kernel}] = k
			list = append(list, k)
		}
		shown := r.Profile.Launches[k.shown]
		if !k.faulted && (l.Fault != nil || l.Facts.Cycles > shown.Facts.Cycles) {
			k.shown = i
		}
		k.add(l)
	}
	slices.SortStableFunc(list, func(a, b *kernelSummary) int {
		if a.faulted != b.faulted {
			if a.faulted {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.cycles, a.cycles)
	})
	return list
}

// KernelNames are the names of the kernels of a result, in the order in which they first ran.
func (r *Result) KernelNames() (names []string) {
	for _, l := range r.Profile.Launches {
		if name := KernelName(r.Profile.Modules[l.Module], l.Kernel); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Costliest returns the launches that stand for the kernels of a result, without those that faulted.
func (r *Result) Costliest() []int {
	var list []int
	for _, k := range r.kernels() {
		if !k.faulted {
			list = append(list, k.shown)
		}
	}
	return list
}

func (k *kernelSummary) add(l *profiler.Launch) {
	n := l.Facts.Count()
	k.launches += int(n)
	k.cycles += n * l.Facts.Cycles
	k.faulted = k.faulted || l.Fault != nil
	k.latency = k.latency && !l.Lacks(profiler.MissingLatency)
	for i := range l.Samples {
		s := l.Samples[i]
		s.Count, s.Latency = n*s.Count, n*s.Latency
		k.totals.Add(&s)
	}
}

// kernelTable lists kernels with what they spend their time on.
func kernelTable(kernels []*kernelSummary, style Style) *Table {
	t := &Table{Style: style, Columns: []Column{
		{Title: "kernel", Width: 44}, {Title: "launches", Right: true}, {Title: "cycles", Right: true},
		{Title: "share", Right: true}, {Title: "stall ratio", Right: true}, {Title: "top stall"},
	}}
	var all int64
	for _, k := range kernels {
		all += k.cycles
	}
	for _, k := range kernels {
		share, ratio := "", ""
		if all > 0 {
			share = percent(float64(k.cycles) / float64(all))
		}
		if k.totals.Samples > 0 && k.latency {
			ratio = percent(k.totals.StallRatio())
		}
		t.Add(k.name, strconv.Itoa(k.launches), thousands(k.cycles), share, ratio, k.topStall())
	}
	return t
}

// topStall names the most frequent stall reason.
func (k *kernelSummary) topStall() string {
	if k.faulted {
		return "FAULT"
	}
	if r, ok := topStall(&k.totals); ok {
		return r.String()
	}
	return ""
}
