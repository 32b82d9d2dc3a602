package advisor

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// pow and powf take a logarithm in more than the precision of their type, multiply it by the exponent and take the exponential of that, some eighty
// instructions in single and over a hundred in double precision, whatever the exponent: compilers make no product of pow(x, 2). A power with a whole
// exponent that is written out is a product of two or a few.

const (
	leastPowers   = .05 // of the samples
	largestPower  = 32  // exponent
	powfFloats    = 42  // multiplications and additions of a powf by nvcc 12.9 and 13.5
	powfOthers    = 42  // and its other instructions but for the special function
	powHelper     = "accurate_pow"
	dividedDouble = 9 // instructions of a division of doubles
)

// wholePowers are the powers of a launch whose exponents are whole numbers that the code names.
type wholePowers struct {
	found     []sequence // by code: what goes with them
	at        []blamer.Node
	exponents []float64 // those that there are, sorted
	lines     map[cubin.Frame]bool
	widened   []blamer.Node // arithmetic in double precision at lines where what is raised, or what becomes of it, is a float
}

// powers matches powers with whole exponents that the code names.
func (in *Input) powers() []*Match {
	w := in.wholePowers()
	m := in.withoutSequences(w.found, leastPowers)
	if m == nil || len(w.at) == 0 {
		return nil
	}
	change := &Change{Cheap: w.widened}
	for code, s := range w.found {
		change.Gone = append(change.Gone, in.goneOf(code, s)...)
	}
	m.Variant, m.Named, m.Change = "products", true, change
	var names []string
	for _, e := range w.exponents {
		names = append(names, strconv.FormatFloat(e, 'f', -1, 64))
	}
	exponent := "exponent " + names[0]
	if len(names) > 1 {
		exponent = "exponents " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	m.Suggestions = []string{
		fmt.Sprintf("%s: pow or powf with the %s. Compilers make a logarithm and an exponential of it, about a hundred instructions. Write the product: x * x for pow(x, 2), double x2 = x * x, x6 = x2 * x2 * x2 for pow(x, 6)%s; compute each once.",
			in.places(in.bySamples(slices.Clone(w.at)), 3), exponent, inverse(w.exponents)),
		"pow of a float and an integer computes in double precision: a product of floats stays in single precision. The last bit may differ. -use_fast_math is no way to it: powf of a negative number is NaN then.",
	}
	return []*Match{m}
}

// inverse is what is said of negative exponents, where there are any.
func inverse(exponents []float64) string {
	if exponents[0] >= 0 {
		return ""
	}
	return fmt.Sprintf(", and a product of 1 / x for pow(x, %v)", exponents[0])
}

// wholePowers finds the powers of a launch.
func (in *Input) wholePowers() *wholePowers {
	if in.powersFound != nil {
		return in.powersFound
	}
	w := &wholePowers{found: make([]sequence, len(in.codes)), lines: make(map[cubin.Frame]bool)}
	for code, c := range in.codes {
		w.found[code] = sequence{}
		if c == nil || c.executions == nil {
			continue
		}
		for _, k := range in.powHelpers(code) {
			in.helperPowers(w, code, k)
		}
		in.inlinePowers(w, code)
	}
	slices.Sort(w.exponents)
	w.exponents = slices.Compact(w.exponents)
	in.powersFound = w
	return w
}

// powHelpers returns the functions of a section for powers of doubles that were executed.
func (in *Input) powHelpers(code int) (list []int) {
	c := in.codes[code]
	if c == nil || c.executions == nil {
		return nil
	}
	for k, f := range c.graph.Funcs {
		if strings.Contains(f.Function.Name, powHelper) && c.executions[c.graph.Blocks[f.Blocks[0]].First] > 0 {
			list = append(list, k)
		}
	}
	return list
}

// isWhole reports whether an exponent makes a product of a few factors.
func isWhole(e float64) bool { return e == math.Trunc(e) && math.Abs(e) <= largestPower && e != 0 }

// factorsOf is how many instructions a power with a whole exponent takes: squares, products of them, and a division.
func factorsOf(e float64) int {
	n := uint(math.Abs(e))
	steps := bits.Len(n) + bits.OnesCount(n) - 2
	if e < 0 {
		steps += dividedDouble
	}
	return max(steps, 1)
}

// helperPowers enters the powers of doubles that a function of the compiler computes, if those whose exponents are whole are all.
func (in *Input) helperPowers(w *wholePowers, code, k int) {
	c := in.codes[code]
	f := c.graph.Funcs[k]
	own, named := in.exponentWithin(code, f)
	var list []float64
	var sites []blamer.Node
	for _, caller := range c.graph.Funcs {
		for _, call := range caller.Calls {
			if !slices.Contains(call.Callees, k) || c.executions[call.Inst] == 0 {
				continue
			}
			e, ok := own, named
			if !ok {
				e, ok = in.exponentAt(code, call.Inst, k)
			}
			if !ok || !isWhole(e) {
				return // what stays takes as long as before, and which of the calls do cannot be told in the function
			}
			list, sites = append(list, e), append(sites, blamer.Node{Code: code, Inst: call.Inst})
		}
	}
	if len(sites) == 0 {
		return
	}
	keeps := 0
	for i, e := range list {
		keeps = max(keeps, factorsOf(e))
		w.found[code][sites[i].Inst] = 1
		w.lines[in.frame(sites[i])] = true
	}
	w.at, w.exponents = append(w.at, sites...), append(w.exponents, list...)
	in.widenedPowers(w, code)
	for _, id := range f.Blocks {
		b := c.graph.Blocks[id]
		for i := b.First; i <= b.Last; i++ {
			if keeps > 0 && c.executions[i] > 0 && in.Inst(blamer.Node{Code: code, Inst: i}).Form.Pipe == sass.PipeFP64 {
				keeps-- // a factor of the product
				continue
			}
			w.found[code][i] = 1
		}
	}
}

// widenedPowers enters what goes at the lines of powers where floats are widened for them: the conversions, and the double precision of what is done
// with the power there.
func (in *Input) widenedPowers(w *wholePowers, code int) {
	converts := make(map[cubin.Frame]bool)
	for i, inst := range in.Module.Codes[code].Insts {
		if n := (blamer.Node{Code: code, Inst: i}); inst.Op == sass.F2F && widensOrNarrows(&inst) && w.lines[in.frame(n)] {
			converts[in.frame(n)] = true
			w.found[code][i] = 1
		}
	}
	for i, inst := range in.Module.Codes[code].Insts {
		if n := (blamer.Node{Code: code, Inst: i}); inst.Form.Pipe == sass.PipeFP64 && converts[in.frame(n)] && !in.inInternal(n) && w.found[code][i] == 0 {
			w.widened = append(w.widened, n)
		}
	}
}

// exponentWithin is the exponent that a compiler has put into its function for powers of doubles, as all calls have the same: it multiplies both parts
// of the logarithm, by a product and what that is off.
func (in *Input) exponentWithin(code int, f *cfg.Func) (e float64, ok bool) {
	g := in.codes[code].graph
	for _, id := range f.Blocks {
		b := g.Blocks[id]
		for i := b.First; i <= b.Last; i++ {
			if v, found := in.exactProduct(code, i, b.Last, sass.DMUL, sass.DFMA); found {
				return math.Float64frombits(v), true
			}
		}
	}
	return 0, false
}

// exactProduct returns the immediate of a product whose rounding error is worked out behind it: p = a * v, then a * v - p.
func (in *Input) exactProduct(code, i, last int, product, fused sass.Op) (v uint64, ok bool) {
	const apart = 16 // instructions
	mul := in.Inst(blamer.Node{Code: code, Inst: i})
	v, ok = immediateOf(mul)
	if mul.Op != product || !ok {
		return 0, false
	}
	to := mul.Operands[0].Reg
	for j := i + 1; j <= min(last, i+apart); j++ {
		fma := in.Inst(blamer.Node{Code: code, Inst: j})
		if u, same := immediateOf(fma); fma.Op == fused && same && u == v {
			if slices.ContainsFunc(fma.Operands, func(o sass.Operand) bool { return o.Kind == sass.KindReg && o.Source && o.Neg && o.Reg == to }) {
				return v, true
			}
		}
	}
	return 0, false
}

// immediateOf is the one immediate among an instruction's operands.
func immediateOf(inst *sass.Inst) (v uint64, ok bool) {
	for k := range inst.Operands {
		if o := &inst.Operands[k]; o.Kind == sass.KindImm {
			return o.Imm, true
		}
	}
	return 0, false
}

// exponentAt is the exponent that a call gives to the function for powers of doubles: the upper half of a double, of which the lower one is 0, in a
// register that the function reads.
func (in *Input) exponentAt(code, call, function int) (e float64, ok bool) {
	helper := in.effectOf(code, []int{function})
	if helper == nil {
		return 0, false
	}
	g := in.codes[code].graph
	b := g.Block(call)
	for i := call - 1; i >= b.First; i-- {
		inst := in.Inst(blamer.Node{Code: code, Inst: i})
		v, immediate := immediateOf(inst)
		if !immediate || !inst.Guard.Always() || !bringsConstant(inst) {
			continue
		}
		e := math.Float64frombits(v << 32)
		if to := withoutCounters(inst.Defs(nil)); isWhole(e) && len(to) == 1 && helper.reads[to[0]] {
			return e, true
		}
	}
	return 0, false
}

// inlinePowers enters the powers of floats, which compilers put into the line.
func (in *Input) inlinePowers(w *wholePowers, code int) {
	type line struct {
		floats, others float64
		exponents      []float64
		at             blamer.Node
	}
	lines := make(map[cubin.Frame]*line)
	insts := in.Module.Codes[code].Insts
	if !slices.ContainsFunc(insts, func(inst sass.Inst) bool { return hasImmediate(&inst, powMark) }) {
		return
	}
	frame := func(i int) cubin.Frame { return in.frame(blamer.Node{Code: code, Inst: i}) }
	for i := range insts {
		f := frame(i)
		if f.Line == 0 {
			continue
		}
		l := lines[f]
		if l == nil {
			l = &line{}
			lines[f] = l
		}
		inst := &insts[i]
		switch {
		case isFloat(inst.Op):
			l.floats++
		case inst.Op != sass.MUFU && removable(inst):
			l.others++
		}
		if v, ok := in.exactProduct(code, i, len(insts)-1, sass.FMUL, sass.FFMA); ok {
			l.exponents, l.at = append(l.exponents, float64(math.Float32frombits(uint32(v)))), blamer.Node{Code: code, Inst: i}
		}
	}
	for i := range insts {
		l := lines[frame(i)]
		if l == nil || len(l.exponents) == 0 || slices.ContainsFunc(l.exponents, func(e float64) bool { return !isWhole(e) }) {
			continue
		}
		if l.at.Inst == i {
			w.at = append(w.at, l.at)
			w.lines[frame(i)] = true
			w.exponents = append(w.exponents, l.exponents...)
		}
		keeps := 0.0
		for _, e := range l.exponents {
			keeps += float64(factorsOf(e))
		}
		powers := float64(len(l.exponents))
		switch inst := &insts[i]; {
		case isFloat(inst.Op):
			if share := min(1, powfFloats*powers/l.floats, (l.floats-keeps)/l.floats); share > 0 {
				w.found[code][i] = share
			}
		case inst.Op == sass.MUFU:
			w.found[code][i] = 1
		case removable(inst):
			w.found[code][i] = min(1, powfOthers*powers/l.others)
		}
	}
}
