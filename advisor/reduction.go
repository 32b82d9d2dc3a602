package advisor

import (
	"slices"

	"gpa/cubin/sass"
)

// A family is a kind of associative operations that can be mixed in one reduction.
type family uint8

const (
	noReduction family = iota
	passesOn           // only passes the value on
	reducesSum
	reducesProduct
	reducesMinimum
	reducesMaximum
	reducesAnd // and
	reducesOr  // or
	reducesXor // exclusive or
	chooses    // the larger or the smaller, by a comparison and a selection
)

// family returns the operation of which a cycle is a reduction, noReduction where it is none: all of its instructions are of one family
// and have the running value as one operand, unchanged.
func (f *registerFlow) family(cycle []int) family {
	if c := slices.IndexFunc(cycle, f.comparesDoubles); c >= 0 {
		if f.takesDoubles(cycle, f.inst(cycle[c]).Mod(sass.Compare)) {
			return chooses
		}
		return noReduction
	}
	found := passesOn
	for _, n := range cycle {
		if n < 0 {
			continue
		}
		g := f.role(n, cycle)
		switch {
		case g == noReduction:
			return noReduction
		case g == passesOn || g == found:
		case found == passesOn:
			found = g
		default:
			return noReduction
		}
	}
	return found
}

// role returns what an instruction does with the value of a cycle that it is in.
func (f *registerFlow) role(n int, cycle []int) family {
	inst := f.inst(n)
	if f.compares(n, cycle) || f.selects(n, cycle) {
		return chooses
	}
	own := f.within(n, cycle)
	g, operands := reduces(inst)
	var taken []int // operands that are of the cycle
	for k := range inst.Operands {
		if o := &inst.Operands[k]; o.Source && holds(o, own) {
			taken = append(taken, k)
		}
	}
	if len(taken) != 1 || !slices.Contains(operands, taken[0]) || slices.ContainsFunc(own, isPredicate) {
		if !slices.ContainsFunc(own, isPredicate) && g == passesOn && isSubset(taken, operands) {
			return passesOn // a choice between two values of the cycle
		}
		return noReduction
	}
	o := &inst.Operands[taken[0]]
	if o.Neg || o.Abs || o.Not {
		return noReduction
	}
	if inst.Op == sass.LOP3 || inst.Op == sass.ULOP3 {
		return logical(inst, taken[0])
	}
	return g
}

// comparesDoubles reports whether a node is DSETP.MAX or .MIN: it tells in one predicate which of two doubles is taken, and in another one whether the
// other operand is no number.
func (f *registerFlow) comparesDoubles(n int) bool {
	if n < 0 || f.inst(n).Op != sass.DSETP {
		return false
	}
	function := f.inst(n).Mod(sass.Compare)
	return function == sass.CompareMAX || function == sass.CompareMIN
}

// takesDoubles reports whether all that a cycle does is to take the larger or the smaller of two doubles, as a function of DSETP tells: the halves
// are selected by the one predicate, and LOP3 sets a bit of what is no number by the other.
func (f *registerFlow) takesDoubles(cycle []int, function uint16) bool {
	for _, n := range cycle {
		if n < 0 {
			continue
		}
		x := f.inst(n)
		does := x.Op.Properties().Does
		switch {
		case f.comparesDoubles(n):
			if x.Mod(sass.Compare) != function {
				return false
			}
		case moves(x):
		case does == sass.Selects, does == sass.CombinesBitwise && !x.Guard.Always():
			if !slices.ContainsFunc(f.from[n], func(e flowEdge) bool { return isPredicate(e.resource) && f.comparesDoubles(e.node) }) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// within are the resources by which an instruction reads values of a cycle.
func (f *registerFlow) within(n int, cycle []int) (own []sass.Resource) {
	for _, e := range f.from[n] {
		if slices.Contains(cycle, e.node) {
			own = append(own, e.resource)
		}
	}
	return own
}

// compares reports whether an instruction of a cycle compares two values of which all that the cycle does with the result is to take one.
func (f *registerFlow) compares(n int, cycle []int) bool {
	if op := f.inst(n).Op; op.Properties().Compares == sass.ComparesNothing || op.Returns() || op == sass.HSETP2 { // HSETP2 compares two pairs
		return false
	}
	users := 0
	for _, m := range cycle {
		if slices.ContainsFunc(f.from[m], func(e flowEdge) bool { return e.node == n }) {
			users++
			if m < 0 || !f.selects(m, cycle) {
				return false
			}
		}
	}
	return users > 0
}

// selects reports whether an instruction of a cycle takes one of two values by a comparison of these two.
func (f *registerFlow) selects(n int, cycle []int) bool {
	if n < 0 {
		return false
	}
	inst := f.inst(n)
	g, operands := reduces(inst)
	choice := inst.Op == sass.FSEL || inst.Op == sass.SEL
	if !choice && (g != passesOn || len(operands) != 1 || inst.Guard.Always()) {
		return false
	}
	from := slices.IndexFunc(f.from[n], func(e flowEdge) bool { return e.node >= 0 && isPredicate(e.resource) && slices.Contains(cycle, e.node) })
	if from < 0 {
		return false
	}
	comparison := f.inst(f.from[n][from].node)
	compared := registersOf(comparison)
	taken := registersOf(inst)
	if !choice { // what it overwrites is the other value
		taken = nil
		if o := &inst.Operands[operands[0]]; o.Kind == sass.KindReg {
			taken = []registerRead{{o.Reg, o.Neg, o.Abs}}
		}
		for k := range inst.Operands {
			if o := &inst.Operands[k]; o.Dest && o.Kind == sass.KindReg {
				taken = append(taken, registerRead{reg: o.Reg})
			}
		}
	}
	if len(compared) != 2 || len(taken) != 2 {
		return false
	}
	if comparison.Form.Pipe == sass.PipeFP64 && taken[0].reg != compared[0].reg && taken[0].reg != compared[1].reg { // the other halves of two doubles
		compared[0].reg++
		compared[1].reg++
	}
	if compared[0] != taken[0] { // in the other order
		taken[0], taken[1] = taken[1], taken[0]
	}
	own := f.within(n, cycle)
	changed := func(r registerRead) bool { return (r.neg || r.abs) && slices.Contains(own, sass.Resource(r.reg)) }
	return slices.Equal(compared, taken) && !slices.ContainsFunc(taken, changed)
}

// A registerRead is a general register as an instruction reads it.
type registerRead struct {
	reg      uint8
	neg, abs bool
}

// registersOf returns the general registers that an instruction reads.
func registersOf(inst *sass.Inst) (list []registerRead) {
	for k := range inst.Operands {
		if o := &inst.Operands[k]; o.Source && o.Kind == sass.KindReg {
			list = append(list, registerRead{o.Reg, o.Neg, o.Abs})
		}
	}
	return list
}

func isPredicate(r sass.Resource) bool { return r >= sass.ResPred }

func isSubset(list, of []int) bool {
	return !slices.ContainsFunc(list, func(k int) bool { return !slices.Contains(of, k) })
}

// holds reports whether an operand is one of the registers.
func holds(o *sass.Operand, list []sass.Resource) bool {
	first := sass.ResReg + sass.Resource(o.Reg)
	switch o.Kind {
	case sass.KindUReg:
		first = sass.ResUReg + sass.Resource(o.Reg)
	case sass.KindReg:
	case sass.KindMem:
		return true // an address is no operand of a reduction
	default:
		return false
	}
	return slices.ContainsFunc(list, func(r sass.Resource) bool { return r >= first && r < first+sass.Resource(max(o.Width, 1)) })
}

// reduces returns the family of an instruction and which of its operands the running value may be.
func reduces(inst *sass.Inst) (family, []int) {
	sources := func(n int) (list []int) { // the first n
		for k := range inst.Operands {
			if o := &inst.Operands[k]; o.Source && !isCondition(o) && len(list) < n {
				list = append(list, k)
			}
		}
		return list
	}
	addend := func() []int { // the third of A, B, C
		if list := sources(3); len(list) == 3 {
			return list[2:]
		}
		return nil
	}
	switch inst.Op.Vector().Properties().Does {
	case sass.Moves:
		return passesOn, sources(1)
	case sass.Selects:
		return passesOn, sources(2)
	case sass.Adds:
		return reducesSum, sources(3)
	case sass.CombinesBitwise:
		return reducesOr, sources(3)
	case sass.ShiftsAdds:
		if list := sources(2); len(list) == 2 {
			return reducesSum, list[1:]
		}
	case sass.MultipliesAdds:
		if multipliesByZero(inst) && !takesCarry(inst) { // IMAD.MOV
			return passesOn, addend()
		}
		if list := sources(3); len(list) == 3 && multipliesByOne(inst) {
			for k, other := range []int{1, 0} { // either of the two that it adds
				if isOne(&inst.Operands[list[k]]) {
					return reducesSum, []int{list[other], list[2]}
				}
			}
		}
		return reducesSum, addend()
	case sass.Multiplies:
		return reducesProduct, sources(2)
	case sass.TakesExtreme:
		return extreme(inst), sources(2)
	}
	return noReduction, nil
}

// multipliesByZero reports whether A or B of a multiplication and addition is RZ.
func multipliesByZero(inst *sass.Inst) bool {
	return hasFactor(inst, isZero)
}

// multipliesByOne reports whether an instruction is an addition on the multiplier: IMAD.IADD, or IMAD.X with 1.
func multipliesByOne(inst *sass.Inst) bool {
	return inst.Op.Vector() == sass.IMAD && hasFactor(inst, isOne)
}

// hasFactor reports whether A or B of a multiplication and addition is such an operand.
func hasFactor(inst *sass.Inst, is func(*sass.Operand) bool) bool {
	factors := 0
	return slices.ContainsFunc(inst.Operands, func(o sass.Operand) bool {
		if !o.Source || isCondition(&o) {
			return false
		}
		factors++
		return factors <= 2 && is(&o)
	})
}

// isZero reports whether an operand is a register that is always 0.
func isZero(o *sass.Operand) bool {
	return o.Kind == sass.KindReg && o.Reg == sass.RZ || o.Kind == sass.KindUReg && o.Reg == sass.URZ
}

func isOne(o *sass.Operand) bool { return o.Kind == sass.KindImm && o.Imm == 1 }

// takesCarry reports whether an addition also adds the carry of another one: IMAD.X RZ, RZ is the high word of a 64-bit sum.
func takesCarry(inst *sass.Inst) bool {
	return slices.ContainsFunc(inst.Operands, func(o sass.Operand) bool { return o.Source && isCondition(&o) && o.Reg != sass.PT })
}

func isCondition(o *sass.Operand) bool { return o.Kind == sass.KindPred || o.Kind == sass.KindUPred }

// extreme tells a minimum from a maximum, by the constant predicate that selects.
func extreme(inst *sass.Inst) family {
	for k := range inst.Operands {
		if o := &inst.Operands[k]; isCondition(o) && o.Source && o.Reg == sass.PT {
			if o.Not {
				return reducesMaximum
			}
			return reducesMinimum
		}
	}
	return noReduction
}

// logical returns what a LOP3 does with its operand k: it sets bits, clears them or inverts them, by the others.
func logical(inst *sass.Inst, k int) family {
	var operands []int
	lut, found := uint64(0), false
	for i := range inst.Operands {
		o := &inst.Operands[i]
		switch {
		case !o.Source && o.Kind != sass.KindImm, isCondition(o):
		case len(operands) < 3:
			operands = append(operands, i)
		case o.Kind == sass.KindImm && !found:
			lut, found = o.Imm, true
		}
	}
	position := slices.Index(operands, k)
	if !found || position < 0 {
		return noReduction
	}
	bit := 4 >> position // A is bit 2 of the index into the table
	set, cleared, inverted := false, false, false
	for i := range 8 {
		if i&bit != 0 {
			continue
		}
		switch [2]uint64{lut >> i & 1, lut >> (i | bit) & 1} {
		case [2]uint64{1, 1}:
			set = true
		case [2]uint64{0, 0}:
			cleared = true
		case [2]uint64{1, 0}:
			inverted = true
		}
	}
	switch {
	case set && !cleared && !inverted:
		return reducesOr
	case cleared && !set && !inverted:
		return reducesAnd
	case inverted && !set && !cleared:
		return reducesXor
	}
	return noReduction
}
