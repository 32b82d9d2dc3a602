package gpa

import (
	"context"
	"sync/atomic"

	"gpa/emu"
	"gpa/profiler/sampler"
)

// A cycleLimit stops launches that have taken more cycles than they may. Cycles only grow, so what is stopped would have taken longer.
type cycleLimit struct {
	most   int64
	before atomic.Int64 // cycles of the launches before
	stop   context.CancelFunc
}

// limitCycles returns the limit and a context that ends with it; a nil limit, which does nothing, for 0.
func limitCycles(ctx context.Context, most int64) (context.Context, *cycleLimit) {
	if most <= 0 {
		return ctx, nil
	}
	ctx, stop := context.WithCancel(ctx)
	return ctx, &cycleLimit{most: most, stop: stop}
}

// end releases the context.
func (l *cycleLimit) end() {
	if l != nil {
		l.stop()
	}
}

// passed adds the cycles of a launch that has ended.
func (l *cycleLimit) passed(cycles int64) {
	if l != nil && l.before.Add(cycles) > l.most {
		l.stop()
	}
}

// observe returns a sampler that watches the cycles that it is asked about.
func (l *cycleLimit) observe(o *sampler.Sampler) emu.Chooser {
	if l == nil {
		return o
	}
	return &limitedSampler{o, l}
}

// A limitedSampler is a sampler with a limit.
type limitedSampler struct {
	*sampler.Sampler
	limit *cycleLimit
}

// NextSample is the sampler's.
func (s *limitedSampler) NextSample(sm int, cycle int64) int64 {
	if s.limit.before.Load()+cycle > s.limit.most {
		s.limit.stop()
	}
	return s.Sampler.NextSample(sm, cycle)
}
