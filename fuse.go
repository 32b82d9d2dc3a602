package gpa

import (
	"context"

	"gpa/advisor"
	"gpa/emu"
	"gpa/emu/launch"
)

// fused tries the launches of the main chain of the k-th's kernel as one: all but the last are executed and kept, and the last is timed with
// them in front, on the whole GPU. It returns the speedup of all launches that are in chains or of the kernel.
func (t *trial) fused(ctx context.Context, k int, c *advisor.Change) (speedup float64, why string, err error) {
	chains := t.result.Profile.Chains(k)
	chain, instructions := chains.Main(), int64(0)
	for _, l := range chain.Launches {
		instructions += l.Facts.WarpInstructions
	}
	o := t.options
	o.Stdout, o.Progress = nil, nil
	o.MaxInstructions = mostInstructions*instructions + 1
	s, err := t.session(ctx, t.target, o)
	if err != nil {
		return 0, "", err
	}
	defer func() { t.spent += min(s.Machine.Progress().WarpInstructions(), mostCounted*instructions) }()
	from, to := chain.First, chain.First+len(chain.Launches)-1
	what := whatIf(t.target.Module, c)
	what.Streams = new(emu.Streams)
	at := 0
	for i := range t.target.File.Launches {
		for range t.target.File.Launches[i].Repeat {
			v := launch.Variation{Untimed: t.target.File.Caches != launch.Warm}
			switch {
			case at == to:
				v = launch.Variation{WhatIf: what}
			case at >= from:
				v.Tape = new(emu.Tape)
				what.Streams.Behind = append(what.Streams.Behind, v.Tape)
			}
			r, err := s.Vary(ctx, i, v)
			switch {
			case ctx.Err() != nil:
				return 0, "", ctx.Err()
			case err != nil:
				return 0, "what the threads execute does not fit it: " + err.Error(), nil
			case at == to:
				return chains.Speedup(float64(chain.Cycles()) / float64(r.Cycles)), "", nil
			}
			at++
		}
	}
	return 0, "", nil
}
