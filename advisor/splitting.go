package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// functionSplitting matches instruction fetch stalls of kernels whose hot code does not fit the instruction cache next
// to the schedulers. In smaller kernels such stalls are first touches, which splitting would not change; those of a branch whose
// target is in the cache come everywhere.
type functionSplitting struct{}

func (functionSplitting) Name() string { return "function-splitting" }
func (functionSplitting) Class() Class { return StallElimination }

func (functionSplitting) Match(in *Input) []*Match {
	if in.hotBytes() <= in.instructionCache() {
		return nil
	}
	c := newCollector(in)
	for _, s := range in.Launch.Samples {
		if s.Reason == stall.NoInstructions {
			n := blamer.Node{Code: s.Code, Inst: int(s.PC / sass.InstSize)}
			missed := 1 - in.redirect(n).fetch/max(1, in.samplesAt(n, stall.NoInstructions))
			c.add(in.kernelScope(), &blamer.Blame{
				Def: n, Use: n, Class: s.Reason.Class(), Detail: blamer.InstructionFetch,
				Count: missed * float64(s.Count), Latency: missed * float64(s.Latency),
			})
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.Change = &Change{PerfectFetch: true}
		m.Suggestions = []string{
			fmt.Sprintf("The code that runs takes %d KiB, more than the instruction cache of a scheduler (%d KiB). Split the kernel into several, or a large function into the common case and a rare one that is not inlined (__noinline__).",
				in.hotBytes()>>10, in.instructionCache()>>10),
			fmt.Sprintf("Unroll less (#pragma unroll 1) where code waits for its instructions: %s. Not across values that are costly to pass on.", in.places(m.uses(), 3)),
		}
	}
	return matches
}

// hotBytes is the size of the code that was sampled, in whole lines of the instruction cache.
func (in *Input) hotBytes() int {
	line := max(sass.InstSize, in.Model.Fetch.Line.Int())
	n := 0
	for _, c := range in.codes {
		if c == nil {
			continue
		}
		last := -1
		for i, t := range c.total {
			if at := i * sass.InstSize / line; t > 0 && at != last {
				n, last = n+line, at
			}
		}
	}
	return n
}

// instructionCache is the size of the instruction cache of one scheduler, bytes.
func (in *Input) instructionCache() int { return in.Model.Fetch.L0.Int() }
