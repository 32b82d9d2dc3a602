package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// leastDouble is the share of the samples that double-precision arithmetic must have for its precision to be worth a question.
const leastDouble = .1

// doubles matches double-precision arithmetic that is no conversion's doing: what the program asks for. Single precision has half the
// latency and at least twice the lanes.
func (in *Input) doubles(found []sequence) []*Match {
	c := newCollector(in)
	nodes, cost := make(map[blamer.Node]bool), 0.0
	for _, n := range in.executedNodes(isDouble) {
		if found[n.Code][n.Inst] > 0 {
			continue
		}
		nodes[n] = true
		cost += in.codes[n.Code].issued[n.Inst]
	}
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if nodes[b.Def] && (isDependency(b.Detail) || b.Detail == blamer.PipeBusy) {
			c.addShare(in.kernelScope(), b, doubleShare)
			cost += b.Count
		}
	}
	if cost < leastDouble*in.Total {
		return nil
	}
	matches := c.finish()
	for _, m := range matches {
		m.Spares, m.Variant = IssueSlots, "single precision"
		m.Change = &Change{Cheap: sortedKeys(nodes)}
		m.Suggestions = []string{
			fmt.Sprintf("Double-precision arithmetic has %.0f%% of the samples (%s); the %s does %s single-precision operations in the time of a double one. Where float's 24 bits are enough, use it: variables, constants with f (1.0f), functions with f (expf, logf).",
				100*cost/in.Total, in.places(m.defs(), 3), in.Model.Name, doubleRatio(in.Model)),
			"Sums of many terms keep their precision in float by compensation (Kahan) or by adding up parts. Not where the result has to have double's precision.",
		}
	}
	return matches
}

// isDouble reports whether an instruction is arithmetic or a comparison of doubles.
func isDouble(op sass.Op) bool { return op.Properties().Class == sass.ClassDouble }

// doubleRatio is how many single-precision operations a GPU does in the time of a double one.
func doubleRatio(m *arch.Model) string {
	return fmt.Sprintf("%.0f", m.Pipes[arch.FP64].Interval.Value/m.Pipes[arch.FMA].Interval.Value)
}
