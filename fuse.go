package gpa

import (
	"context"
	"slices"

	"gpa/advisor"
	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/launch"
	"gpa/emu/stream"
	"gpa/profiler"
)

// fused tries the launches of the main chain of the k-th's kernel as one: all but the last are executed and kept, and the last is timed with
// them in front, on the whole GPU. It returns the speedup of all launches that are in chains or of the kernel.
func (t *trial) fused(ctx context.Context, k int, c *advisor.Change) (speedup float64, spent int64, why string, err error) {
	joined := len(c.Joints) > 0
	chains, what := t.result.Profile.Chains(k), whatIf(t.target.Module, c)
	what.Streams = new(emu.Streams)
	if joined {
		chains = t.result.Profile.JoinedOf(t.joined(), k)
		for _, j := range c.Joints {
			joint := stream.Joint{Way: stream.Pull, Kept: j.Kept}
			if j.Push {
				joint.Way = stream.Push
			}
			what.Streams.Joints = append(what.Streams.Joints, joint)
		}
	}
	chain := chains.Main()
	if joined {
		if cycles, ok := t.fusions[chain.First]; ok {
			return chains.Speedup(float64(chain.Cycles()) / float64(cycles)), spent, "", nil
		}
	}
	cycles, spent, why, err := t.together(ctx, chain, what)
	if cycles == 0 {
		return 0, spent, why, err
	}
	if last := chain.Launches[len(chain.Launches)-1]; joined && t.retries(last) {
		alone, more, why, err := t.together(ctx, &profiler.Chain{First: numbers(chain)[len(chain.Launches)-1], Launches: []*profiler.Launch{last}}, &emu.WhatIf{Streams: new(emu.Streams)})
		spent += more
		if alone == 0 {
			return 0, spent, why, err
		}
		cycles = cycles * last.Facts.Cycles / alone
	}
	if joined {
		t.fusions[chain.First] = cycles
	}
	return chains.Speedup(float64(chain.Cycles()) / float64(cycles)), spent, "", nil
}

// joined are the chains by joints of the profile, found once.
func (t *trial) joined() []profiler.Chain {
	if t.chains == nil {
		t.chains = t.result.Profile.Joined(t.beside)
	}
	return t.chains
}

// numbers are those of the launches of a chain.
func numbers(c *profiler.Chain) []int {
	if len(c.At) > 0 {
		return c.At
	}
	list := make([]int, len(c.Launches))
	for i := range list {
		list[i] = c.First + i
	}
	return list
}

// mostKept is the most warp instructions that launches may execute of which all are kept at a time, a quarter of a gigabyte of them.
const mostKept = 1 << 23

// together times the last launch of a chain with a change, which has those before it in front, where there are any: they are executed and kept.
// What others lie between takes effect.
func (t *trial) together(ctx context.Context, chain *profiler.Chain, what *emu.WhatIf) (cycles, spent int64, why string, err error) {
	last, instructions := len(chain.Launches)-1, int64(0)
	for _, l := range chain.Launches {
		instructions += l.Facts.WarpInstructions
	}
	if len(what.Streams.Joints) > 0 && instructions-chain.Launches[last].Facts.WarpInstructions > mostKept {
		return 0, 0, "the launches execute more instructions than can be kept", nil
	}
	o := t.options
	o.Stdout, o.Progress = nil, nil
	o.MaxInstructions = mostInstructions*max(instructions, t.longest()) + 1
	s, err := t.session(ctx, t.target, o)
	if err != nil {
		return 0, 0, "", err
	}
	defer func() { spent = min(s.Machine.Progress().WarpInstructions(), mostCounted*instructions) }()
	number, chained := 0, numbers(chain)
	for i := range t.target.File.Launches {
		for range t.target.File.Launches[i].Repeat {
			v, timed := launch.Variation{Untimed: t.target.File.Caches != launch.Warm}, number == chained[last]
			if timed {
				v = launch.Variation{WhatIf: what}
			} else if slices.Contains(chained, number) {
				v.Tape = new(emu.Tape)
				what.Streams.Behind = append(what.Streams.Behind, v.Tape)
			}
			r, err := s.Vary(ctx, i, v)
			switch {
			case ctx.Err() != nil:
				return 0, 0, "", ctx.Err()
			case err != nil:
				return 0, 0, "what the threads execute does not fit it: " + err.Error(), nil
			case timed:
				return r.Cycles, 0, "", nil
			}
			number++
		}
	}
	return 0, 0, "", nil
}

// retries reports whether a launch's threads try atomic operations again until nobody has come between: how often is not in what blocks execute one
// by one, so that it takes less time replayed than as it is.
func (t *trial) retries(l *profiler.Launch) bool {
	return slices.ContainsFunc(l.PCs, func(c profiler.Counter) bool {
		in := &t.target.Module.Codes[c.Code].Insts[c.PC/sass.InstSize]
		switch in.Mod(sass.AtomOp) {
		case sass.AtomCAS, sass.AtomCAST, sass.AtomCASTSPIN:
			return in.HasMod(sass.AtomOp)
		}
		return false
	})
}
