package advisor

import (
	"fmt"

	"gpa/blamer"
)

// longSleep matches warps that sleep: __nanosleep in a loop that waits for other threads.
type longSleep struct{}

func (longSleep) Name() string { return "long-sleep" }
func (longSleep) Class() Class { return StallElimination }

func (longSleep) Match(in *Input) []*Match {
	c := newCollector(in)
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; b.Detail == blamer.Sleeping {
			c.add(in.kernelScope(), b)
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.Suggestions = []string{
			fmt.Sprintf("Warps sleep at %s. Begin with a short __nanosleep and double the time with every failure.", in.places(m.uses(), 3)),
			"Not where what they wait for takes that long in any case.",
		}
	}
	return matches
}
