package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// transactionReduction matches global memory throttling: more requests than the memory queue takes.
type transactionReduction struct{}

func (transactionReduction) Name() string { return "memory-transaction-reduction" }
func (transactionReduction) Class() Class { return StallElimination }

func (transactionReduction) Match(in *Input) []*Match { return append(in.fullQueue(), in.flags()...) }

// fullQueue matches waits for room in the queue for global memory.
func (in *Input) fullQueue() []*Match {
	groups := in.vectorGroups()
	saved := savedBy(groups)
	var narrow []blamer.Node // that wider accesses do as well
	c := newCollector(in)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		// The stores that a warp drains after EXIT are no requests in its way.
		if b.Detail == blamer.MemoryThrottle && in.Inst(b.Use).Op != sass.EXIT {
			share, grouped := saved[b.Use]
			if k := in.counts(b.Use); !grouped && excess(k.sectors, k.sectorsIdeal) >= minExcess {
				continue // where other sectors are wanted, wider accesses take as many of them
			}
			if !grouped && (isLocal(in.Inst(b.Use).Op) || in.storesFragment(b.Use)) {
				continue
			}
			if !grouped {
				share = max(0, 1-float64(in.Inst(b.Use).AccessBytes())/widestAccess)
				narrow = append(narrow, b.Use)
			}
			c.addShare(in.kernelScope(), b, share)
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.Spares = L2 | IssueSlots
		m.Change = &Change{Coalesced: narrow}
		if len(groups) > 0 {
			m.Change.Streams = &Streams{Vectors: groups}
		}
		how := "with one instruction (float4, int2), so that a thread takes several of them."
		if len(narrow) == 0 {
			how = "of a thread with one instruction (float4, int2)."
		}
		m.Suggestions = []string{
			fmt.Sprintf("The queue for global memory is full at %s. Access several neighbouring elements %s", in.places(m.uses(), 3), how),
			"Put values that all threads read and nobody writes into __constant__ memory; keep in a register what is read again. Not by tiles in shared memory where every value is read once.",
		}
	}
	return matches
}

// storesFragment reports whether a store has what tensor cores have computed, as it is or converted: which elements of a result a thread has is
// theirs to say.
func (in *Input) storesFragment(store blamer.Node) bool {
	var of func(use blamer.Node, depth int) bool
	of = func(use blamer.Node, depth int) bool {
		return slices.ContainsFunc(in.operandsFrom(use), func(def blamer.Node) bool {
			x := in.Inst(def)
			return x.Form.Pipe == sass.PipeTensor || depth > 0 && (moves(x) || x.Op.Properties().Class == sass.ClassConvert) && of(def, depth-1)
		})
	}
	const conversions = 2 // to halves, and two of them put together
	return in.Block(store) != nil && in.Inst(store).Op.Properties().Writes&sass.SpaceGlobal != 0 && of(store, conversions)
}

// operandsFrom returns the instructions of the section that make the registers which an instruction has for operands: of a store what it stores,
// not where.
func (in *Input) operandsFrom(n blamer.Node) (defs []blamer.Node) {
	inst := in.Inst(n)
	for k := range inst.Operands {
		o := &inst.Operands[k]
		if !o.Source || o.Kind != sass.KindReg || o.Reg == sass.RZ {
			continue
		}
		for _, def := range in.defsWithin(nil, n.Code, n.Inst, sass.Resource(o.Reg)) {
			defs = append(defs, blamer.Node{Code: n.Code, Inst: def})
		}
	}
	return defs
}

// widestAccess is what a thread can access at once, bytes.
const widestAccess = 16
