package advisor

import (
	"fmt"
	"slices"

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
	gone := in.onlyForDoubles(nodes)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if nodes[b.Def] && (isDependency(b.Detail) || b.Detail == blamer.PipeBusy) {
			share := doubleShare
			if gone[b.Def] {
				share = 1
			}
			c.addShare(in.kernelScope(), b, share)
			cost += b.Count
		}
	}
	for _, n := range sortedKeys(gone) {
		if issued := in.codes[n.Code].issued[n.Inst]; issued > 0 {
			c.add(in.kernelScope(), &blamer.Blame{Def: n, Use: n, Detail: blamer.NotSelected, Count: issued})
		}
	}
	if cost < leastDouble*in.Total {
		return nil
	}
	matches := c.finish()
	for _, m := range matches {
		m.Spares, m.Variant = IssueSlots, "single precision"
		m.Change = &Change{Cheap: sortedKeys(nodes), Gone: sortedKeys(gone)}
		m.Suggestions = []string{
			fmt.Sprintf("Double-precision arithmetic has %.0f%% of the samples (%s); the %s does %s single-precision operations in the time of a double one. Where float's 24 bits are enough, use it: variables, constants with f (1.0f), functions with f (expf, logf).",
				100*cost/in.Total, in.places(m.defs(), 3), in.Model.Name, doubleRatio(in.Model)),
			"Sums of many terms keep their precision in float by compensation (Kahan) or by adding up parts. Not where the result has to have double's precision.",
		}
	}
	return matches
}

// longPolynomial is from how many steps on a chain c + x (c + x (…)) of doubles is taken to be the polynomial of a function. NVIDIA's exp
// has 11, log 7 and sin 6; in single precision expf, logf and sinf are a function of the MUFU and a few steps before and behind it.
const (
	longPolynomial = 6
	leftOfIt       = 2
)

// onlyForDoubles returns what single precision does without: most steps of the polynomials of functions, the moves that bring the two
// halves of constants, and conversions.
func (in *Input) onlyForDoubles(doubles map[blamer.Node]bool) map[blamer.Node]bool {
	gone := make(map[blamer.Node]bool)
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		insts := in.Module.Codes[code].Insts
		for _, b := range s.graph.Blocks {
			chains := make(map[uint8][]int) // by the register that a chain is in
			for i := b.First; i <= b.Last; i++ {
				n := blamer.Node{Code: code, Inst: i}
				switch to := destination(&insts[i]); {
				case doubles[n] && to != nil:
					chains[to.Reg] = append(hornerStep(&insts[i], chains), i)
					if steps := chains[to.Reg]; len(steps) >= longPolynomial {
						for _, k := range steps[:len(steps)-leftOfIt] {
							gone[blamer.Node{Code: code, Inst: k}] = true
						}
					}
				case insts[i].Op == sass.F2F && widensOrNarrows(&insts[i]), to != nil && bringsConstant(&insts[i]) && in.firstUse(b.Last, n, to.Reg, doubles):
					gone[n] = true
				}
			}
		}
	}
	return gone
}

// hornerStep returns the steps of the chain that an instruction goes on with: it multiplies what the last one gave, and adds a constant.
func hornerStep(inst *sass.Inst, chains map[uint8][]int) []int {
	var factors []*sass.Operand
	for i := range inst.Operands {
		if o := &inst.Operands[i]; o.Source {
			factors = append(factors, o)
		}
	}
	if inst.Op != sass.DFMA || len(factors) != 3 || factors[2].Kind != sass.KindConst && factors[2].Kind != sass.KindImm {
		return nil
	}
	var longest []int
	for _, f := range factors[:2] {
		if steps := chains[f.Reg]; f.Kind == sass.KindReg && len(steps) > len(longest) {
			longest = steps
		}
	}
	return slices.Clone(longest)
}

// widensOrNarrows reports whether a conversion is between double and a narrower type.
func widensOrNarrows(inst *sass.Inst) bool {
	wide := 0
	for i := range inst.Operands {
		if inst.Operands[i].Kind == sass.KindReg && inst.Operands[i].Width == 2 {
			wide++
		}
	}
	return wide == 1
}

// bringsConstant reports whether an instruction only moves a number into a register.
func bringsConstant(inst *sass.Inst) bool {
	numbers := 0
	for i := range inst.Operands {
		switch o := &inst.Operands[i]; {
		case !o.Source:
		case o.Kind == sass.KindImm:
			numbers++
		case o.Kind != sass.KindReg || o.Reg != sass.RZ:
			return false
		}
	}
	return numbers > 0
}

// firstUse reports whether the first instruction of the block that reads a register behind the one that writes it is one of some.
func (in *Input) firstUse(last int, n blamer.Node, reg uint8, by map[blamer.Node]bool) bool {
	for i := n.Inst + 1; i <= last; i++ {
		user := blamer.Node{Code: n.Code, Inst: i}
		for _, r := range in.Inst(user).Uses(nil) {
			if r == sass.ResReg+sass.Resource(reg) {
				return by[user]
			}
		}
	}
	return false
}

// isDouble reports whether an instruction is arithmetic or a comparison of doubles.
func isDouble(op sass.Op) bool { return op.Properties().Class == sass.ClassDouble }

// doubleRatio is how many single-precision operations a GPU does in the time of a double one.
func doubleRatio(m *arch.Model) string {
	return fmt.Sprintf("%.0f", m.Pipes[arch.FP64].Interval.Value/m.Pipes[arch.FMA].Interval.Value)
}
