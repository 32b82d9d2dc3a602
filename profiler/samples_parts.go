package profiler

import (
	"fmt"
	"slices"
	"strings"

	"gpa/cubin"
	"gpa/emu/stall"
)

// cuptiReason begins the name of every stall reason of CUPTI and Nsight Compute.
const cuptiReason = "smsp__pcsamp_warps_issue_stalled_"

// samples enters the samples of the file.
func (s *samplesLaunch) samples(l *Launch, module *cubin.File, k *cubin.Kernel) error {
	find := finder(module, k)
	latency := false
	for i := range s.Samples {
		in := &s.Samples[i]
		reason, known := stall.ParseReason(strings.TrimPrefix(in.Reason, cuptiReason))
		if !known {
			return fmt.Errorf("sample %d: unknown stall reason %q", i, in.Reason)
		}
		code, pc, err := find(in.Function, in.PC)
		if err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
		out := Sample{Code: code, PC: pc, Reason: reason, Count: in.Count}
		if in.Latency != nil {
			out.Latency, latency = *in.Latency, true
		}
		if out.Count < 0 || out.Count > maxCount || out.Latency < 0 || out.Latency > out.Count {
			return fmt.Errorf("sample %d: %d samples, %d of them latency samples", i, out.Count, out.Latency)
		}
		l.Samples = append(l.Samples, out)
	}
	l.Samples = Collect(l.Samples)
	switch {
	case len(l.Samples) == 0:
		l.Missing = append(l.Missing, MissingSamples)
	case !latency:
		l.Missing = append(l.Missing, MissingLatency)
	}
	return nil
}

// maxCount bounds a count, so that sums of them do not overflow.
const maxCount = 1 << 44

// counters enters the source counters of the file.
func (s *samplesLaunch) counters(l *Launch, module *cubin.File, k *cubin.Kernel) error {
	find := finder(module, k)
	var given [numCounterFields]bool
	for i := range s.Counters {
		in := &s.Counters[i]
		code, pc, err := find(in.Function, in.PC)
		if err != nil {
			return fmt.Errorf("counter %d: %w", i, err)
		}
		c := Counter{Code: code, PC: pc}
		for f, v := range in.fields() {
			if v == nil {
				continue
			}
			if *v < 0 || *v > maxCount {
				return fmt.Errorf("counter %d: %d is not a count", i, *v)
			}
			*c.fields()[f], given[f] = *v, true
		}
		l.Facts.WarpInstructions += c.Executions
		l.Facts.ThreadInstructions += c.ThreadExecutions
		l.PCs = append(l.PCs, c)
	}
	slices.SortFunc(l.PCs, func(x, y Counter) int { return comparePlace(x.Code, x.PC, y.Code, y.PC) })
	for f, name := range [numCounterFields]string{MissingExecutions, MissingThreadExecutions, MissingSectors, "", MissingWavefronts} {
		if name != "" && !given[f] {
			l.Missing = append(l.Missing, name)
		}
	}
	return nil
}

// numCounterFields is the number of counts of a Counter.
const numCounterFields = 7

func (c *samplesCounter) fields() [numCounterFields]*int64 {
	return [...]*int64{c.Executions, c.ThreadExecutions, c.GlobalSectors, c.GlobalSectorsIdeal, c.SharedWavefronts, c.SharedWavefrontsIdeal, c.BranchTaken}
}

func (c *Counter) fields() [numCounterFields]*int64 {
	return [...]*int64{&c.Executions, &c.ThreadExecutions, &c.GlobalSectors, &c.GlobalSectorsIdeal, &c.SharedWavefronts, &c.SharedWavefrontsIdeal, &c.BranchTaken}
}

// finder returns a function that finds the instruction at an offset in a function of the module, which is the kernel where no
// name is given.
func finder(module *cubin.File, k *cubin.Kernel) func(name string, pc uint64) (code int, at uint64, err error) {
	type place struct {
		code         int
		offset, size uint64
	}
	places := make(map[string]place)
	for _, code := range module.Codes {
		for _, f := range code.Functions {
			places[f.Name] = place{code.Index, f.Offset, f.Size}
		}
	}
	return func(name string, pc uint64) (int, uint64, error) {
		if name == "" {
			name = k.Name
		}
		p, known := places[name]
		switch {
		case !known:
			return 0, 0, fmt.Errorf("module %s has no function %q", module.Name, name)
		case pc >= p.size:
			return 0, 0, fmt.Errorf("function %s ends at %#x, before %#x", name, p.size, pc)
		}
		return p.code, p.offset + pc, checkPlace(module, p.code, p.offset+pc)
	}
}
