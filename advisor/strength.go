package advisor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// longLatency is from how many cycles on an arithmetic instruction counts as one of long latency: conversions, MUFU and
// bit counts, but not FP64, as in the paper's tool.
const longLatency = 10

// strengthReduction matches execution dependency stalls of long-latency arithmetic instructions, all stalls inside the compiler's
// own integer division functions, and its sequences for integer division and for float arithmetic by way of double: cheaper
// operations would not have them.
type strengthReduction struct{}

func (strengthReduction) Name() string { return "strength-reduction" }
func (strengthReduction) Class() Class { return StallElimination }

func (strengthReduction) Match(in *Input) []*Match {
	c := newCollector(in)
	scope := in.kernelScope()
	found := make([]sequence, len(in.codes))
	divisions := in.longDivisions()
	for code := range in.codes {
		found[code] = maps.Clone(in.sequences(code))
		maps.Copy(found[code], divisions[code].found)
	}
	doubles := in.doubles()
	single := func(n blamer.Node) bool { // goes where all is single precision
		return len(doubles) > 0 && (in.Inst(n).Form.Pipe == sass.PipeFP64 || in.Inst(n).Op == sass.F2F)
	}
	back := in.truncations()
	for code := range found {
		maps.DeleteFunc(found[code], func(i int, _ float64) bool {
			n := blamer.Node{Code: code, Inst: i}
			return single(n) || back[n]
		})
	}
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		inSequence := found[b.Use.Code][b.Use.Inst] > 0 && goesWithCode(b.Detail)
		if !inSequence && !single(b.Def) && !back[b.Def] && (in.isLongArithmetic(b) || in.inDivisionHelper(b.Use) && isDependency(b.Detail)) {
			c.add(scope, b)
		}
	}
	for code := range in.codes {
		c.addSequence(scope, code, found[code])
	}
	matches := c.finish()
	for _, m := range matches {
		m.Spares = IssueSlots
		m.Change = in.change(found).with(&Change{Cheap: in.longDefs(m)})
		m.Suggestions = in.strengthSuggestions(m.Hotspots)
		if signed := signedNodes(divisions); len(signed) > 0 {
			m.Suggestions = append(m.Suggestions, in.signedDivision(signed))
		}
		if len(back) > 0 {
			m.Suggestions = append(m.Suggestions, fmt.Sprintf("%s: what has just been converted to an integer is converted back, as where an int adds up floating-point numbers: that cuts off the fraction each time, and only trunc() of a sum in floating point does the same.", in.places(sortedKeys(back), 3)))
		}
	}
	return slices.Concat(matches, doubles, in.alike(), in.wraparounds(divisions), in.powers())
}

// truncations returns the conversions of integers to floating point that take what was floating point before: both together cut off the fraction,
// which is one conversion less as FRND, but no other number.
func (in *Input) truncations() map[blamer.Node]bool {
	back := make(map[blamer.Node]bool)
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op == sass.I2F }) {
		if slices.ContainsFunc(in.operandsFrom(n), func(def blamer.Node) bool { return in.Inst(def).Op == sass.F2I }) {
			back[n] = true
		}
	}
	return back
}

// longDefs returns the blamed instructions of long latency.
func (in *Input) longDefs(m *Match) []blamer.Node {
	return slices.DeleteFunc(m.allDefs(), func(n blamer.Node) bool { return in.latency(n) < longLatency })
}

func (in *Input) latency(n blamer.Node) int {
	return in.Model.Bound(in.Inst(n).Op.Properties().Class).Min
}

func (in *Input) isLongArithmetic(b *blamer.Blame) bool {
	return b.Detail == blamer.Arithmetic && in.latency(b.Def) >= longLatency && !in.isCheapest(b.Def)
}

// isCheapest reports whether an instruction is a function that has no cheaper form: one instruction of the special function unit, and no part of a
// power.
func (in *Input) isCheapest(n blamer.Node) bool {
	if in.Inst(n).Op != sass.MUFU {
		return false
	}
	switch in.Inst(n).Mod(sass.MufuFn) {
	case sass.MufuEX2, sass.MufuLG2:
		return !in.lineOps(n).power()
	case sass.MufuSIN, sass.MufuCOS, sass.MufuTANH:
		return true
	}
	return false
}

// inDivisionHelper reports whether an instruction belongs to one of the functions by which the compiler divides 64-bit
// integers, as in $__internal_0_$__cuda_sm20_div_s64.
func (in *Input) inDivisionHelper(n blamer.Node) bool {
	return in.inInternal(n) && isIntegerDivision(in.Func(n).Function.Name)
}

func isIntegerDivision(name string) bool {
	for _, part := range []string{"div_s", "div_u", "rem_s", "rem_u"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// An operation is what an expensive instruction is in the source program.
type operation uint8

const (
	integerDivision operation = iota
	longIntegerDivision
	tripCount
	floatConversion
	intConversion
	floatDivision
	doubleDivision
	mathFunction
	bitCount
	numOperations
)

// advice of each operation; %s is where it happens.
var strengthAdvice = [numOperations]string{
	integerDivision: "%s: an integer division or modulo by a value unknown to the compiler%s, some twenty instructions. " +
		"Divide by a constant or a power of two (shift and mask), multiply by a reciprocal computed once, or carry the quotient along instead of dividing anew; of what is less than twice the divisor, as (i + 1) %% n, subtract it where it is too large.",
	longIntegerDivision: "%s: a 64-bit integer division or modulo, done by a function of about a hundred instructions. " +
		"Use 32-bit operands where the values fit; otherwise divide by a constant or a power of two.",
	tripCount: "%s: the compiler divides by the stride to know the number of iterations of this loop, so that it can unroll it. " +
		"Make the stride a constant or a power of two, pass the count as an argument, or forbid the unrolling of a short loop (#pragma unroll 1).",
	floatConversion: "%s: conversion between float and double. A constant such as 2.0 is double and makes the whole expression double: write 2.0f.",
	intConversion:   "%s: conversion between integer and floating point. Keep a copy of the value in the type that is needed, or convert once outside the loop.",
	floatDivision: "%s: a single-precision division. Multiply by the reciprocal where the divisor repeats, or use __fdividef or -use_fast_math " +
		"if two more bits of error are acceptable.",
	doubleDivision: "%s: a double-precision division or square root. Compute the reciprocal once and multiply, or use float where its precision is enough.",
	mathFunction: "%s: a root or a power of floats (%s). Use a cheaper form: rsqrtf(x) for 1/sqrtf(x), multiplication for a small integer power, " +
		"a value computed once outside the loop.",
	bitCount: "%s: bit counting or searching (%s). Use a ballot or a running count where one is at hand.",
}

// strengthSuggestions names each kind of operation among the hotspots with the lines where it happens, the hottest
// first.
func (in *Input) strengthSuggestions(spots []Hotspot) []string {
	var order []operation
	defs := map[operation][]blamer.Node{}
	for _, h := range spots[:min(maxHotspots, len(spots))] {
		op := in.operationOf(h)
		if len(defs[op]) == 0 {
			order = append(order, op)
		}
		defs[op] = append(defs[op], h.Def)
	}
	var out []string
	for _, op := range order {
		at := in.places(defs[op], 3)
		if op == longIntegerDivision {
			at = in.places(in.callSites(defs[op][0]), 3)
		}
		text := strengthAdvice[op]
		switch {
		case op == integerDivision:
			out = append(out, fmt.Sprintf(text, at, in.divisorOf(defs[op])))
		case strings.Count(text, "%s") == 2:
			out = append(out, fmt.Sprintf(text, at, in.mnemonic(defs[op][0])))
		default:
			out = append(out, fmt.Sprintf(text, at))
		}
		if op == integerDivision && slices.ContainsFunc(defs[op], in.choosesThreads) {
			out = append(out, fmt.Sprintf("The remainder at %s decides which threads of a block work in a round. Let neighbouring threads work instead: in place of each thread t whose t %% (2 * s) is 0 thread t for the element 2 * s * t, as long as that is within the block. There is no remainder then, and warps have all their lanes or none at work.", at))
		}
	}
	return out
}

// choosesThreads reports whether a remainder, by its line, is compared with 0 in rounds that end at a barrier of the block, as where a tree of sums takes every
// second thread, then every fourth.
func (in *Input) choosesThreads(n blamer.Node) bool {
	b, at := in.Block(n), in.frame(n)
	if b == nil || b.Loop == nil || at.Line == 0 {
		return false
	}
	compared, barrier := false, false
	in.eachInst(n.Code, b.Loop, func(i int) {
		x := blamer.Node{Code: n.Code, Inst: i}
		switch inst := in.Inst(x); {
		case inst.Op == sass.BAR:
			barrier = true
		case inst.Op.Properties().Compares == sass.ComparesIntegers && in.frame(x) == at:
			compared = compared || slices.ContainsFunc(inst.Operands, func(o sass.Operand) bool { return o.Source && isZero(&o) })
		}
	})
	return compared && barrier
}

// operationOf recognises the operation that a def belongs to: by its opcode and by what else stands on its line.
func (in *Input) operationOf(h Hotspot) operation {
	if in.inDivisionHelper(h.Use) {
		return longIntegerDivision
	}
	def, line := in.Inst(h.Def), in.lineOps(h.Def)
	if use := in.Inst(h.Use); !isExpensive(def) && isExpensive(use) {
		def = use // the operation waits for its operand
	}
	if def.Form.Pipe == sass.PipeFP64 {
		return floatConversion // arithmetic on what was converted
	}
	switch class := def.Op.Properties().Class; {
	case class == sass.ClassBitCount:
		return bitCount
	case def.Op == sass.F2F:
		return floatConversion
	case isInteger(def.Op):
		return in.divisionOf(h.Def)
	case class == sass.ClassConvert:
		if line.integerDivision() {
			return in.divisionOf(h.Def)
		}
		return intConversion
	}
	switch def.Mod(sass.MufuFn) {
	case sass.MufuRCP64H, sass.MufuRSQ64H:
		return doubleDivision
	case sass.MufuRCP:
		if line.integerDivision() {
			return in.divisionOf(h.Def)
		}
		return floatDivision
	}
	return mathFunction
}

// isExpensive reports whether an instruction by itself says which operation it belongs to.
func isExpensive(inst *sass.Inst) bool {
	switch inst.Op.Properties().Class {
	case sass.ClassMUFU, sass.ClassConvert, sass.ClassBitCount:
		return true
	}
	return inst.Form.Pipe == sass.PipeFP64
}

// divisionOf tells a division of the program from one by which the compiler finds the trip count of a loop: that stands
// before a loop whose line it has, and that goes on by a value unknown to the compiler.
func (in *Input) divisionOf(n blamer.Node) operation {
	at, block := in.frame(n), in.Block(n)
	if at.Line == 0 || block == nil {
		return integerDivision
	}
	for _, l := range in.codes[n.Code].graph.Loops {
		if !l.Contains(block.ID) && l.Func == block.Func && in.loopFrame(n.Code, l) == at && in.stepsByValue(n.Code, l) {
			return tripCount
		}
	}
	return integerDivision
}

// mnemonic names an instruction as people search for it, as in MUFU.EX2.
func (in *Input) mnemonic(n blamer.Node) string {
	text, _, _ := strings.Cut(strings.TrimSpace(in.Inst(n).Text()), " ")
	return text
}
