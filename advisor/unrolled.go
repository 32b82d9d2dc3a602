package advisor

import (
	"slices"

	"gpa/cubin/sass"
)

// control marks what one of the rounds that are unrolled together does for all: the branch that ends a round, the tests that only it
// reads, and the counting, whose sum stands in the offsets of the addresses.
func (t *trace) control() []bool {
	marked := make([]bool, len(t.steps))
	last := len(t.steps) - 1
	if last < 0 || t.steps[last].op != sass.BRA {
		return marked
	}
	marked[last] = true
	within, around := t.dependences()
	onlyReadBy := func(d int, fits func(i int) bool) bool {
		for i := range t.steps {
			if (slices.Contains(within[i], d) || slices.Contains(around[i], d)) && !fits(i) {
				return false
			}
		}
		return true
	}
	for _, d := range within[last] {
		marked[d] = onlyReadBy(d, func(i int) bool { return i == last })
	}
	for d := range t.steps {
		if t.counts(d) {
			marked[d] = onlyReadBy(d, func(i int) bool { return i == d || marked[i] || t.addresses(i, d) })
		}
	}
	return marked
}

// counts reports whether a step adds a constant to a register, and to nothing else.
func (t *trace) counts(i int) bool {
	inst := &(*t.code)[t.steps[i].insts[0]]
	if len(t.steps[i].insts) > 1 || inst.Op != sass.IADD3 || !inst.Guard.Always() {
		return false
	}
	defs := withoutCounters(inst.Defs(nil))
	uses := withoutCounters(inst.Uses(nil))
	constant := slices.ContainsFunc(inst.Operands[:], func(o sass.Operand) bool { return o.Kind == sass.KindImm })
	return constant && len(defs) == 1 && slices.Equal(defs, uses)
}

// addresses reports whether a step accesses memory at what another computes, and reads that for nothing else. The access has room
// for an offset.
func (t *trace) addresses(access, def int) bool {
	inst := &(*t.code)[t.steps[access].insts[0]]
	base := addressRegister(inst)
	if len(t.steps[access].insts) > 1 || base == sass.RZ {
		return false
	}
	computed := (*t.code)[t.steps[def].insts[0]].Defs(nil)
	return !slices.ContainsFunc(inst.Operands[:], func(o sass.Operand) bool {
		return o.Kind == sass.KindReg && o.Source && slices.Contains(computed, sass.ResReg+sass.Resource(o.Reg))
	})
}
