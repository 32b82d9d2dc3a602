package blamer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gpa/cubin/sass"
)

// maxLinear is the number of instructions that a value is followed back through.
const maxLinear = 12

// A linear is a value as a sum of multiples of unknowns, with a constant: what address arithmetic computes. Two addresses with the same
// unknowns lie a known distance apart.
type linear struct {
	terms    []term // by name
	constant float64
}

type term struct {
	name   string // of the unknown
	factor float64
}

func unknown(format string, args ...any) linear {
	return linear{terms: []term{{fmt.Sprintf(format, args...), 1}}}
}

// plus adds two values.
func (l linear) plus(m linear) linear {
	sum := linear{constant: l.constant + m.constant}
	for _, t := range slices.Concat(l.terms, m.terms) {
		i, found := slices.BinarySearchFunc(sum.terms, t.name, func(t term, name string) int { return cmp.Compare(t.name, name) })
		if found {
			sum.terms[i].factor += t.factor
		} else {
			sum.terms = slices.Insert(sum.terms, i, t)
		}
	}
	sum.terms = slices.DeleteFunc(sum.terms, func(t term) bool { return t.factor == 0 })
	return sum
}

// times multiplies a value by a number.
func (l linear) times(factor float64) linear {
	product := linear{constant: l.constant * factor}
	for _, t := range l.terms {
		if factor != 0 {
			product.terms = append(product.terms, term{t.name, t.factor * factor})
		}
	}
	return product
}

// base names the value without its constant.
func (l linear) base() string {
	var b strings.Builder
	for _, t := range l.terms {
		fmt.Fprintf(&b, "%g*%s ", t.factor, t.name)
	}
	return b.String()
}

// A linearWalk follows values back. Nearest says which definitions count where several reach a use: see its register.
type linearWalk struct {
	*analysis
	nearest bool
}

// linearOf returns the value of an operand.
func (a *analysis) linearOf(use int, o *sass.Operand) linear {
	return linearWalk{a, false}.operand(use, o, maxLinear)
}

// operand returns the value of an operand, that of a memory address of its first register.
func (w linearWalk) operand(use int, o *sass.Operand, depth int) linear {
	var value linear
	r, isReg := registerOf(o)
	switch {
	case o.Kind == sass.KindImm:
		value.constant = float64(int32(o.Imm))
	case isReg && o.Kind != sass.KindConst:
		value = w.register(use, r, depth)
	case o.Kind == sass.KindConst:
		value = constantBank(o, 0)
	}
	if o.Neg {
		return value.times(-1)
	}
	return value
}

// constantBank is a word of a constant bank, which no instruction changes; that of an indexed one is not known.
func constantBank(o *sass.Operand, word int) linear {
	if o.Reg != sass.RZ {
		return unknown("c[%d][R%d+%d]", o.Bank, o.Reg, o.Offset)
	}
	return unknown("c[%d][%d]", o.Bank, int(o.Offset)+4*word)
}

// register returns the value of a register that an instruction reads. Where several definitions reach it they name it together, unless
// the nearest one is to stand for all.
func (w linearWalk) register(use int, r sass.Resource, depth int) linear {
	defs := w.reaching(use, r)
	if w.nearest && len(defs) > 0 && depth > 0 {
		k, _ := slices.BinarySearch(defs, use) // those farther off have other guards, those behind come round
		return w.result(defs[(k+len(defs)-1)%len(defs)], r, depth-1)
	}
	if len(defs) != 1 || depth == 0 || !w.code.Insts[defs[0]].Guard.Always() {
		return unknown("r%d%v", r, defs)
	}
	return w.result(defs[0], r, depth-1)
}

// linearNear returns the value of an address with one register or two, of which the nearest definitions count.
func (a *analysis) linearNear(use int, o *sass.Operand) linear {
	w := linearWalk{a, true}
	value := w.operand(use, o, maxLinear)
	if o.Kind == sass.KindMem {
		value.constant += float64(o.Offset)
		value = value.plus(w.operand(use, &sass.Operand{Kind: sass.KindUReg, Reg: o.UReg}, maxLinear))
	}
	return value
}

// result returns what an instruction writes to a register.
func (w linearWalk) result(def int, r sass.Resource, depth int) linear {
	in := &w.code.Insts[def]
	from := dataSources(in)
	word := 0
	if to := &in.Operands[0]; to.Kind == sass.KindReg || to.Kind == sass.KindUReg {
		to, _ := registerOf(to)
		word = int(r) - int(to)
	}
	value := func(i int) linear { return w.operand(def, from[i], depth) }
	switch {
	case in.Op.Vector() == sass.LDC && len(from) == 1 && from[0].Kind == sass.KindConst:
		return constantBank(from[0], word)
	case word != 0 || in.Mod(sass.X) != 0 || in.Mod(sass.HI) != 0:
	case in.Op.Vector() == sass.S2R:
		if f := specialFootprint(in); !f.constant() {
			return unknown("%s", sass.SpecialRegisterName(from[0].Imm))
		}
	case in.Op.Vector() == sass.MOV:
		return value(0)
	case adds(in.Op):
		var sum linear
		for i := range from {
			sum = sum.plus(value(i))
		}
		return sum
	case in.Op.Vector() == sass.IMAD && len(from) == 3:
		x, y := value(0), value(1)
		if len(x.terms) > 0 {
			x, y = y, x
		}
		if len(x.terms) == 0 {
			return y.times(x.constant).plus(value(2))
		}
	case in.Op.Vector() == sass.LEA && len(from) == 2:
		return value(0).times(leaFactor(in)).plus(value(1))
	}
	return unknown("i%d.%d", def, word)
}

// leaFactor is what LEA multiplies its first operand by. The shift amount is a field of the instruction, not a source.
func leaFactor(in *sass.Inst) float64 {
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == sass.KindImm && !o.Source {
			return math.Ldexp(1, int(o.Imm&31))
		}
	}
	return 1
}

// dataSources lists the operands that an instruction reads, predicates aside.
func dataSources(in *sass.Inst) []*sass.Operand {
	var from []*sass.Operand
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Source && o.Kind != sass.KindPred && o.Kind != sass.KindUPred {
			from = append(from, o)
		}
	}
	return from
}

// A place is a register or other resource at an instruction that reads or writes it.
type place struct {
	inst int
	res  sass.Resource
}

// reaching returns the definitions of a resource that reach an instruction, in order.
func (a *analysis) reaching(use int, r sass.Resource) []int {
	at := place{use, r}
	defs, ok := a.reached[at]
	if !ok {
		defs = defsOf(a.slicer.slice(use, r, nil))
		slices.Sort(defs)
		a.reached[at] = defs
	}
	return defs
}
