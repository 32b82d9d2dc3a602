package advisor

import (
	"fmt"
	"maps"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/sass"
)

// What all threads of a row of a block compute alike, from parameters, the number of the block, and what they load from the same places, one of them can
// compute for all, or a table can hold, made once: a coefficient that depends on the height in a grid alone, the weights of a filter.

// leastAlike is the share of the samples that such arithmetic must have.
const leastAlike = .05

// alike matches costly arithmetic that has the same operands for all threads of a warp that have threadIdx.y and z in common: with the help of
// special functions, in double precision, or in functions of the compiler's.
func (in *Input) alike() []*Match {
	u := &uniformity{in: in, known: make(map[blamer.Node]bool)}
	found := make([]sequence, len(in.codes))
	any := false
	named := make(map[blamer.Node]bool) // what the text names: costly instructions of the user's lines, and calls
	var divided []blamer.Node           // divisions by what is alike, whose quotients differ
	for code, c := range in.codes {
		found[code] = sequence{}
		if c == nil {
			continue
		}
		helpers, lines := make(map[int]bool), make(map[cubin.Frame]bool)
		same := func(n blamer.Node) bool {
			f := in.Func(n)
			if f == nil || f.Function.Kind != cubin.InternalFunction {
				return u.uniform(n)
			}
			if known, met := helpers[f.Entry]; met {
				return known
			}
			helpers[f.Entry] = in.calledAlike(u, n)
			return helpers[f.Entry]
		}
		costly := func(n blamer.Node) bool {
			inst := in.Inst(n)
			f := in.Func(n)
			return inst.Form.Pipe == sass.PipeFP64 || inst.Op == sass.MUFU && !in.lineOps(n).integerDivision() || f != nil && f.Function.Kind == cubin.InternalFunction && isArithmetic(inst)
		}
		insts := in.Module.Codes[code].Insts
		for i := range insts {
			if n := (blamer.Node{Code: code, Inst: i}); c.executions != nil && c.executions[i] > 0 && in.Block(n) != nil && costly(n) && same(n) {
				found[code][i], any = 1, true
				lines[in.frame(n)] = true
				if f := in.Func(n); f == nil || f.Function.Kind != cubin.InternalFunction {
					named[n] = true
				} else {
					for _, site := range in.callSites(n) {
						named[site] = named[site] || in.counts(site).executions > 0 && u.uniform(site)
					}
				}
			}
		}
		for i := range insts { // what else these lines compute for it
			if n := (blamer.Node{Code: code, Inst: i}); found[code][i] == 0 && lines[in.frame(n)] && in.frame(n).Line > 0 && c.executions[i] > 0 && in.Block(n) != nil && isArithmetic(in.Inst(n)) && same(n) {
				found[code][i] = 1
			}
		}
		for i := range insts {
			if n := (blamer.Node{Code: code, Inst: i}); found[code][i] > 0 && insts[i].Op == sass.MUFU && insts[i].Mod(sass.MufuFn) == sass.MufuRCP64H {
				divided = append(divided, in.byReciprocal(found[code], n)...)
			}
		}
	}
	if !any {
		return nil
	}
	c := newCollector(in)
	for code := range in.codes {
		c.addSequence(in.kernelScope(), code, found[code])
	}
	matches := c.finish()
	for k, m := range matches {
		if m.Samples < leastAlike*in.Total {
			matches[k] = nil
			continue
		}
		m.Spares, m.Variant, m.Change = IssueSlots, "alike", in.change(found)
		if len(divided) > 0 { // nothing leads to the slow way of a division any more, behind which loads stay
			m.Change = m.Change.with(in.hoisted(in.executedNodes(func(op sass.Op) bool { return op == sass.LDG })))
			m.Change.Registers = 0 // what they are loaded into is free without the operands of the slow way
		}
		maps.DeleteFunc(named, func(_ blamer.Node, is bool) bool { return !is })
		places := in.places(in.bySamples(sortedKeys(named)), 3)
		m.Suggestions = []string{
			fmt.Sprintf("All threads of a row of the block, if not of all of it, compute the same at %s: it depends on nothing that differs between them. Compute it once for all blocks, on the host or in a small kernel of its own, into an array (in __constant__ memory where it fits), and load it.", places),
			"Where it has to be computed in the kernel, let one thread of the block do so for its others, into shared memory before a __syncthreads(): that pays where each thread has several items of work, as all wait for the one. All threads have to come to that barrier.",
		}
		if len(divided) > 0 {
			m.Suggestions = slices.Insert(m.Suggestions, 0, fmt.Sprintf("%s: divisions of doubles by a value that is the same for all. Compute its reciprocal once (on the host, as a parameter of the kernel, or before the loop), and multiply by it, where one more bit of error is acceptable: the sequence for a division takes some ten instructions, and a branch that keeps loads behind it.", in.places(divided, 3)))
			if in.onLinesOf(named, divided) {
				m.Suggestions = m.Suggestions[:1]
			}
		}
	}
	if len(matches) > 0 && matches[0] == nil {
		return nil
	}
	return matches
}

// byReciprocal marks what a division of doubles by a value that is the same for all takes beside the product with its reciprocal: the remainder and
// the correction by it, and the test for operands whose quotient needs another way, with the branch to it. It returns the product.
func (in *Input) byReciprocal(found sequence, seed blamer.Node) (products []blamer.Node) {
	b := in.Block(seed)
	t := in.newTrace(seed.Code, []part{{block: b.ID}})
	deps, _ := t.dependences()
	reached := map[int]bool{seed.Inst - b.First: true}
	for i := seed.Inst - b.First + 1; i < len(deps); i++ {
		n := blamer.Node{Code: seed.Code, Inst: b.First + i}
		inst := in.Inst(n)
		if !anyOf(deps[i], reached) || !isArithmetic(inst) {
			continue
		}
		if inst.Op == sass.DMUL && found[n.Inst] == 0 && len(products) == 0 {
			products = append(products, n)
		} else if inst.Form.Pipe == sass.PipeFP64 && len(products) > 0 && inst.Op != sass.DFMA {
			continue // works on
		} else {
			found[n.Inst] = 1
		}
		reached[i] = true
	}
	if len(products) > 0 {
		for _, i := range guardOf(in.codes[seed.Code].graph, b, in.Module.Codes[seed.Code].Insts) {
			found[i] = 1
		}
	}
	return products
}

// onLinesOf reports whether instructions are all on the lines of some others.
func (in *Input) onLinesOf(nodes map[blamer.Node]bool, others []blamer.Node) bool {
	lines := make(map[cubin.Frame]bool)
	for _, n := range others {
		lines[in.frame(n)] = true
	}
	return !slices.ContainsFunc(sortedKeys(nodes), func(n blamer.Node) bool { return !lines[in.frame(n)] })
}

// mostly is the share of the calls of a function from which on they stand for all.
const mostly = .9

// calledAlike reports whether a function of the compiler's is mostly called with operands that are the same for all threads of a row.
func (in *Input) calledAlike(u *uniformity, n blamer.Node) bool {
	sites := in.callSites(n)
	same, all := 0.0, 0.0
	for _, site := range sites {
		k := in.counts(site).executions
		if all += k; k > 0 && u.uniform(site) {
			same += k
		}
	}
	return all > 0 && same >= mostly*all
}

// isArithmetic reports whether an instruction computes a value from others, and does nothing else.
func isArithmetic(inst *sass.Inst) bool {
	p := inst.Op.Properties()
	return p.Memory() == sass.NoSpace && p.Flow == sass.FlowNext && p.Sync == sass.SyncNone && !p.Crosses && !moves(inst) && inst.Op != sass.S2R
}
