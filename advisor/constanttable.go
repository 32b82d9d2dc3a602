package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// constantTable matches arrays that each thread fills with constants and then only reads, at places that the data tell: they lie in local memory, a
// copy a thread, filled at each entry.
func (in *Input) constantTable() []*Match {
	filled, makers, reads := in.filledTable()
	if len(filled) == 0 {
		return nil
	}
	words := 0
	for _, n := range filled {
		words += in.words(n)
	}
	gone := slices.Concat(filled, makers)
	goes := make(map[blamer.Node]bool)
	for _, n := range gone {
		goes[n] = true
	}
	c := newCollector(in)
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; (goes[b.Def] || goes[b.Use]) && isStall(b) {
			c.add(in.kernelScope(), b)
		}
	}
	c.addIssued(gone)
	matches := c.finish()
	for _, m := range matches {
		m.Spares = DRAM | L2 | IssueSlots
		m.Variant = "table"
		m.Change = &Change{Gone: gone, Unplaced: gone, Constant: reads}
		m.Suggestions = []string{
			fmt.Sprintf("Each thread fills an array of %d words with constants, in local memory (%s), only to read it at %s. Declare the table outside of the kernel as __constant__, where it stands once for all, filled when the module is loaded.",
				words, in.places(filled, 2), in.places(reads, 2)),
			"Lanes that read different words of constant memory take turns: where most do, copy the table into shared memory once a block, or make it a static const __device__ array.",
		}
	}
	return matches
}

// filledTable finds the stores by which each thread fills a table in local memory, what makes the constants that it stores, and the loads of the
// table; nothing where the thread keeps anything else there.
func (in *Input) filledTable() (filled, makers, reads []blamer.Node) {
	const leastWords = 8 // of a table; fewer are values that did not fit into registers
	met, words := make(map[blamer.Node]bool), 0
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op.Properties().Writes&sass.SpaceLocal != 0 }) {
		made, constant := in.storesConstant(n)
		if !constant {
			return nil, nil, nil // an array that changes, or spilled values
		}
		filled = append(filled, n)
		words += in.words(n)
		for _, x := range made {
			if !met[x] {
				met[x], makers = true, append(makers, x)
			}
		}
	}
	reads = in.executedNodes(func(op sass.Op) bool { return op.Properties().Loads(sass.SpaceLocal) })
	if words < leastWords || !slices.ContainsFunc(reads, in.isIndexed) {
		return nil, nil, nil
	}
	return filled, makers, reads
}

// storesConstant reports whether a store writes what no thread computes from anything, and what makes it.
func (in *Input) storesConstant(store blamer.Node) (made []blamer.Node, constant bool) {
	inst := in.Inst(store)
	for k := range inst.Operands {
		o := &inst.Operands[k]
		if !o.Source || o.Kind != sass.KindReg || o.Reg == sass.RZ {
			continue
		}
		for r := range sass.Resource(max(o.Width, 1)) {
			defs := in.defsWithin(nil, store.Code, store.Inst, sass.ResReg+sass.Resource(o.Reg)+r)
			if len(defs) == 0 {
				return nil, false
			}
			for _, d := range defs {
				if !makesConstant(in.Inst(blamer.Node{Code: store.Code, Inst: d})) {
					return nil, false
				}
				made = append(made, blamer.Node{Code: store.Code, Inst: d})
			}
		}
	}
	return made, true
}

// makesConstant reports whether an instruction computes from numbers alone, as compilers make constants by moves and by products of zeros.
func makesConstant(inst *sass.Inst) bool {
	return !slices.ContainsFunc(inst.Operands, func(o sass.Operand) bool {
		switch {
		case !o.Source, o.Kind == sass.KindImm, isCondition(&o):
			return false
		case o.Kind == sass.KindReg:
			return o.Reg != sass.RZ
		case o.Kind == sass.KindUReg:
			return o.Reg != sass.URZ
		case o.Kind == sass.KindSReg:
			return o.Imm != sass.SRZ
		}
		return true
	})
}
