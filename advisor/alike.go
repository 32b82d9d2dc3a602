package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// What all threads of a row of a block compute alike, from parameters, the number of the block, and what they load from the same places, one of them can
// compute for all, or a table can hold, made once: a coefficient that depends on the height in a grid alone, the weights of a filter.

// leastAlike is the share of the samples that such arithmetic must have.
const leastAlike = .05

// An alikeWork collects such arithmetic of a launch.
type alikeWork struct {
	in      *Input
	u       *uniformity
	found   []sequence           // by section
	named   map[blamer.Node]bool // what the text names: costly instructions of the user's lines, and calls
	divided []blamer.Node        // products of divisions by what is alike, whose quotients differ
	helpers map[*cfg.Func]bool   // functions of the compiler's that were looked at, and whether they are called alike
}

// alike matches costly arithmetic that has the same operands for all threads of a warp that have threadIdx.y and z in common: with the help of
// special functions, in double precision, or in functions of the compiler's.
func (in *Input) alike() []*Match {
	w := &alikeWork{in: in, u: &uniformity{in: in, known: make(map[blamer.Node]bool)}, named: make(map[blamer.Node]bool), helpers: make(map[*cfg.Func]bool)}
	for code := range in.codes {
		w.found = append(w.found, w.section(code))
	}
	m := in.withoutSequences(w.found, leastAlike)
	if m == nil {
		return nil
	}
	m.Variant = "alike"
	if len(w.divided) > 0 { // nothing leads to the slow way of a division any more, behind which loads stay
		m.Change = m.Change.with(in.hoisted(in.executedNodes(func(op sass.Op) bool { return op == sass.LDG })))
		m.Change.Registers = 0 // what they are loaded into is free without the operands of the slow way
	}
	m.Suggestions = w.words()
	return []*Match{m}
}

// section marks the arithmetic of a section: what is costly, what else its lines compute for it, and what divisions take beside the product with a
// reciprocal that is the same.
func (w *alikeWork) section(code int) sequence {
	in, found := w.in, sequence{}
	if in.codes[code] == nil || in.codes[code].executions == nil {
		return found
	}
	var executed []blamer.Node
	for i, executions := range in.codes[code].executions {
		if n := (blamer.Node{Code: code, Inst: i}); executions > 0 && in.Block(n) != nil {
			executed = append(executed, n)
		}
	}
	lines := make(map[cubin.Frame]bool)
	for _, n := range executed {
		if !in.isCostly(n) || !w.same(n) {
			continue
		}
		found[n.Inst] = 1
		lines[in.frame(n)] = true
		if !in.inInternal(n) {
			w.named[n] = true
			continue
		}
		for _, site := range in.callSites(n) {
			if in.counts(site).executions > 0 && w.u.uniform(site) {
				w.named[site] = true
			}
		}
	}
	for _, n := range executed {
		if found[n.Inst] == 0 && lines[in.frame(n)] && in.frame(n).Line > 0 && isArithmetic(in.Inst(n)) && w.same(n) {
			found[n.Inst] = 1
		}
	}
	for _, n := range executed {
		if x := in.Inst(n); found[n.Inst] > 0 && x.Op == sass.MUFU && x.Mod(sass.MufuFn) == sass.MufuRCP64H {
			w.divided = append(w.divided, in.byReciprocal(found, n)...)
		}
	}
	return found
}

// isCostly reports whether an instruction computes in double precision, or by a special function or a function of the compiler's.
func (in *Input) isCostly(n blamer.Node) bool {
	inst := in.Inst(n)
	return inst.Form.Pipe == sass.PipeFP64 || inst.Op == sass.MUFU && !in.lineOps(n).integerDivision() || in.inInternal(n) && isArithmetic(inst)
}

// same reports whether an instruction makes the same value for all threads of a row; one of a function of the compiler's where that is called so.
func (w *alikeWork) same(n blamer.Node) bool {
	if !w.in.inInternal(n) {
		return w.u.uniform(n)
	}
	f := w.in.Func(n)
	same, met := w.helpers[f]
	if !met {
		same = w.calledAlike(n)
		w.helpers[f] = same
	}
	return same
}

// words says what to do about it.
func (w *alikeWork) words() []string {
	in := w.in
	text := []string{
		fmt.Sprintf("All threads of a row of the block, if not of all of it, compute the same at %s: it depends on nothing that differs between them. Compute it once for all blocks, on the host or in a small kernel of its own, into an array (in __constant__ memory where it fits), and load it.", in.places(in.bySamples(sortedKeys(w.named)), 3)),
		"Where it has to be computed in the kernel, let one thread of the block do so for its others, into shared memory before a __syncthreads(): that pays where each thread has several items of work, as all wait for the one. All threads have to come to that barrier.",
	}
	if len(w.divided) == 0 {
		return text
	}
	divisions := fmt.Sprintf("%s: divisions of doubles by a value that is the same for all. Compute its reciprocal once (on the host, as a parameter of the kernel, or before the loop), and multiply by it, where one more bit of error is acceptable: the sequence for a division takes some ten instructions, and a branch that keeps loads behind it.", in.places(w.divided, 3))
	if in.onLinesOf(w.named, w.divided) {
		return []string{divisions}
	}
	return slices.Insert(text, 0, divisions)
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
func (w *alikeWork) calledAlike(n blamer.Node) bool {
	same, all := 0.0, 0.0
	for _, site := range w.in.callSites(n) {
		k := w.in.counts(site).executions
		if all += k; k > 0 && w.u.uniform(site) {
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
