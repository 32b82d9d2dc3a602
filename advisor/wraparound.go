package advisor

import (
	"fmt"
	"maps"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// Numba's indices are signed 64-bit numbers, and a negative one counts from the end, as in Python: its compiler adds the length of the axis where
// the sign bit is set (shape & i >> 63), unless it knows that the index is not negative. For each index that takes the sign of its high
// word, two ANDs with the length, and a 64-bit addition. Its // and % correct by signs, as Python's do ([longDivision]).

// leastWrapped is the share of the samples that these must have, leastUnsigned what they have to gain: compilers schedule the loop anew.
const (
	leastWrapped  = .05
	leastUnsigned = 1.05
)

// wraparounds matches the instructions by which Numba's kernels look for negative indices.
func (in *Input) wraparounds(divisions []*longDivision) []*Match {
	if in.language != numba {
		return nil
	}
	found := make([]sequence, len(in.codes))
	wrapped := make(map[blamer.Node]bool)
	for code := range in.codes {
		found[code] = in.wraps(code)
		for i := range found[code] {
			wrapped[blamer.Node{Code: code, Inst: i}] = true
		}
		if d := divisions[code]; d.signed {
			maps.Copy(found[code], d.found)
		}
	}
	m := in.withoutSequences(found, leastWrapped)
	if m == nil {
		return nil
	}
	m.Variant, m.Least = "unsigned", leastUnsigned
	if divided := signedNodes(divisions); len(divided) > 0 {
		m.Suggestions = append(m.Suggestions, in.signedDivision(divided))
	}
	if len(wrapped) == 0 {
		return []*Match{m}
	}
	m.Suggestions = append(m.Suggestions,
		fmt.Sprintf("An index may be negative in Python, and then counts from the end: at %s the sign of each is looked at, and the length of the axis added to a negative one, in 64 bits. Make indices unsigned (i = numba.uint32(i) behind cuda.grid(), range(numba.uint32(n)) in loops), so that there is nothing to look at.",
			in.places(in.bySamples(sortedKeys(wrapped)), 3)),
		"What is computed of them is signed again, as numbers that are written out are: numba.uint32(i - 1) where it cannot be negative. Where an array has more than 2^32 elements an axis, numba.uint64.")
	return []*Match{m}
}

// wraps marks the instructions of a section by which an index that is negative gets the length of its axis added.
func (in *Input) wraps(code int) sequence {
	found := sequence{}
	if in.codes[code] == nil || in.codes[code].executions == nil {
		return found
	}
	insts := in.Module.Codes[code].Insts
	users := in.usersOf(code, func(i int) bool { return isSign(&insts[i]) || isBitwise(&insts[i], andTable) })
	for sign, ands := range users {
		if !isSign(&insts[sign]) || len(ands) == 0 {
			continue
		}
		all := true // of its users
		for _, i := range ands {
			if !masks(&insts[i]) {
				all = false
				continue
			}
			found[i] = 1
			for _, user := range users[i] {
				if addsOnly(&insts[user]) {
					found[user] = 1
				}
			}
		}
		if all {
			found[sign] = 1
		}
	}
	return found
}

// usersOf lists, by executed instruction of a kind, the executed instructions that read what it writes.
func (in *Input) usersOf(code int, is func(int) bool) map[int][]int {
	insts, users := in.Module.Codes[code].Insts, make(map[int][]int)
	written := make(map[sass.Resource]bool)
	executed := func(i int) bool { return in.codes[code].executions[i] > 0 }
	for i := range insts {
		if executed(i) && is(i) {
			users[i] = nil
			for _, r := range insts[i].Defs(nil) {
				written[r] = true
			}
		}
	}
	for i := range insts {
		if !executed(i) {
			continue
		}
		for _, r := range insts[i].Uses(nil) {
			if !written[r] || !isValue(r) {
				continue
			}
			for _, def := range in.defsWithin(nil, code, i, r) {
				if _, listed := users[def]; listed {
					users[def] = append(users[def], i)
				}
			}
		}
	}
	return users
}

// isSign reports whether an instruction fills a register with the sign of another one: SHF.R.S32.HI RZ, 31.
func isSign(x *sass.Inst) bool {
	zero, bits := false, false
	for k := range x.Operands {
		o := &x.Operands[k]
		zero = zero || o.Source && isZero(o)
		bits = bits || o.Kind == sass.KindImm && o.Imm == 31
	}
	return x.Op.Vector() == sass.SHF && zero && bits
}

// Truth tables of LOP3 for two values.
const (
	andTable = 0xc0
	orTable  = 0xfc
	xorTable = 0x3c
)

// isBitwise reports whether an instruction combines two values bit by bit by a truth table.
func isBitwise(x *sass.Inst, table uint64) bool {
	last := len(x.Operands) - 1
	for ; last > 0 && isCondition(&x.Operands[last]); last-- {
	}
	return x.Op.Vector() == sass.LOP3 && last > 0 && x.Operands[last].Kind == sass.KindImm && x.Operands[last].Imm == table
}

// masks reports whether an instruction is the AND of two values that the compiler does not know.
func masks(x *sass.Inst) bool {
	return isBitwise(x, andTable) && sourcesBut(x, func(o *sass.Operand) bool { return o.Kind == sass.KindImm }) == 2
}

// addsOnly reports whether an instruction adds one value to another one, and nothing else: without the one the other is left.
func addsOnly(x *sass.Inst) bool {
	p := x.Op.Vector().Properties()
	multiplies := p.Does == sass.MultipliesAdds && multipliesByOne(x)
	return !p.Floats() && (p.Does == sass.Adds || multiplies) && sourcesBut(x, func(o *sass.Operand) bool { return multiplies && isOne(o) }) == 2
}

// sourcesBut counts what an instruction reads, but conditions, zeros and operands of a kind.
func sourcesBut(x *sass.Inst, is func(*sass.Operand) bool) (n int) {
	for k := range x.Operands {
		if o := &x.Operands[k]; o.Source && !isCondition(o) && !isZero(o) && !is(o) {
			n++
		}
	}
	return n
}
