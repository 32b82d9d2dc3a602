package advisor

import (
	"maps"
	"slices"
	"strings"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// The compiler's sequences for operations that have no instruction of their own, and how much of them a cheaper form saves.

// integerSteps is the number of instructions of a 32-bit integer division after the conversion of the divisor, and cheapSteps
// that of a multiplication by a reciprocal in its stead, in the code that NVIDIA's compiler makes.
const (
	integerSteps = 20
	productSteps = 9 // of these, from the product with the reciprocal on
	cheapSteps   = 2
)

// A sequence says of the instructions of a section which share of them goes with a cheaper operation.
type sequence map[int]float64

// sequences returns the integer divisions and excursions to double precision in a section.
func (in *Input) sequences(code int) sequence {
	if in.sequencesOf[code] == nil {
		in.sequencesOf[code] = in.findSequences(code)
	}
	return in.sequencesOf[code]
}

// findSequences finds them.
func (in *Input) findSequences(code int) sequence {
	found := sequence{}
	c := in.codes[code]
	if c == nil {
		return found
	}
	for _, b := range c.graph.Blocks {
		t := in.newTrace(code, []part{{block: b.ID}})
		deps, _ := t.dependences()
		for i := range t.steps {
			n := blamer.Node{Code: code, Inst: b.First + i}
			switch inst := in.Inst(n); {
			case found[n.Inst] == 0 && (isReciprocalSeed(inst) || isHigh(inst)) && in.lineOps(n).integerDivision():
				in.followDivision(found, n, i, deps) // from the product on where the reciprocal is made before a loop
			case inst.Op == sass.F2F && writesPair(inst):
				in.followDoubles(found, n, i, deps)
			}
		}
	}
	return found
}

// followDivision marks what an integer division computes from the converted divisor, on its line, and what others on other lines compute from the
// same reciprocal.
func (in *Input) followDivision(found sequence, seed blamer.Node, at int, deps [][]int) {
	first, line, count := seed.Inst-at, in.frame(seed), 0
	reached, steps := map[int]bool{at: true}, integerSteps
	if found[seed.Inst] = 1; in.Inst(seed).Op == sass.IMAD {
		steps = productSteps
	}
	for i := at + 1; i < len(deps) && count < steps; i++ {
		n := blamer.Node{Code: seed.Code, Inst: first + i}
		if !anyOf(deps[i], reached) || !isDivisionStep(in.Inst(n).Op) {
			continue
		}
		if in.frame(n) != line {
			if isHigh(in.Inst(n)) && found[n.Inst] == 0 { // another division by the same divisor, of which compilers make one reciprocal
				in.followDivision(found, n, i, deps)
			}
			continue
		}
		reached[i] = true
		count++
		found[n.Inst] = 1 - cheapSteps/float64(steps)
	}
}

// isReciprocalSeed reports whether an instruction converts a divisor: rounded up, so that the reciprocal is never too large. Other
// conversions from integers round to the nearest.
func isReciprocalSeed(inst *sass.Inst) bool {
	return inst.Op == sass.I2F && inst.Mod(sass.Round) == sass.RoundRP
}

// isHigh reports whether an instruction multiplies for the high half of the product.
func isHigh(inst *sass.Inst) bool {
	return inst.Op == sass.IMAD && len(withoutCounters(inst.Defs(nil))) == 2
}

func isDivisionStep(op sass.Op) bool {
	return op == sass.MUFU || op == sass.F2I || isInteger(op)
}

// isInteger reports whether an instruction is arithmetic, a comparison or a selection of integers.
func isInteger(op sass.Op) bool {
	p := op.Properties()
	return p.Class == sass.ClassALU && !p.Crosses || p.Class == sass.ClassMultiply || p.Compares == sass.ComparesIntegers
}

// doubleShare is the share of double-precision arithmetic that single precision saves: half the latency and, of pipes with half
// the lanes, half the time.
const doubleShare = 0.5

// followDoubles marks the double-precision arithmetic on a value that was float, and the conversion back.
func (in *Input) followDoubles(found sequence, seed blamer.Node, at int, deps [][]int) {
	first := seed.Inst - at
	reached := map[int]bool{at: true}
	found[seed.Inst] = 1
	for i := at + 1; i < len(deps); i++ {
		inst := in.Inst(blamer.Node{Code: seed.Code, Inst: first + i})
		if !anyOf(deps[i], reached) {
			continue
		}
		switch {
		case inst.Op == sass.F2F:
			found[first+i] = 1
		case inst.Form.Pipe == sass.PipeFP64:
			reached[i] = true
			found[first+i] = max(found[first+i], doubleShare)
		}
	}
}

func writesPair(in *sass.Inst) bool { return len(withoutCounters(in.Defs(nil))) == 2 }

func withoutCounters(list []sass.Resource) []sass.Resource {
	var out []sass.Resource
	for _, r := range list {
		if r < sass.ResSB {
			out = append(out, r)
		}
	}
	return out
}

func anyOf(list []int, set map[int]bool) bool {
	for _, i := range list {
		if set[i] {
			return true
		}
	}
	return false
}

// accurate counts the accurate single-precision operations on a line, by what marks the compiler's sequence for each.
type accurate struct {
	steps    float64 // multiplications and additions of the sequences
	integers float64 // operations on integers, conversions among them, of divisions and roots
	kept     float64 // instructions in their place
	longer   bool    // there are logarithms, powers or sines, which compute with integers all along
	floats   float64 // multiplications and additions of the line
	others   float64 // what integers the line computes with
}

// Multiplications and additions in the compiler's sequences: of a division, a square root, a logarithm, an exponential, a sine or cosine, and
// powf; and operations on integers of a square root, where a division has none.
const (
	divisionFloats = 5
	rootFloats     = 4
	rootIntegers   = 2
	logFloats      = 13
	powerFloats    = 5
	sineFloats     = 11 // with the reduction of the argument
	powFloats      = 31
	logMark        = -0x3f2aaaab // added to the bits of the argument of a logarithm
	powerMark      = 0x3bbb989d  // log2(e)/252, with which an exponential begins
	sineMark       = -0x46b2bead // a coefficient of sine and cosine
	powMark        = 0x3a2c32e4  // a coefficient of the logarithm in powf
)

// accurateLines finds the source lines with accurate single-precision functions.
func (in *Input) accurateLines(code int) map[cubin.Frame]*accurate {
	if in.accurates[code] != nil {
		return in.accurates[code]
	}
	lines := map[cubin.Frame]*accurate{}
	at := func(i int) *accurate {
		f := in.frame(blamer.Node{Code: code, Inst: i})
		if lines[f] == nil {
			lines[f] = &accurate{}
		}
		return lines[f]
	}
	insts := in.Module.Codes[code].Insts
	for i := range insts {
		a := at(i)
		switch inst := &insts[i]; {
		case isFloat(inst.Op):
			a.floats++
		case inst.Op == sass.FCHK:
			a.add(divisionFloats, 0)
		case inst.Op == sass.CALL && in.callsRoot(blamer.Node{Code: code, Inst: i}):
			a.add(rootFloats, rootIntegers)
		default:
			if floats := functionOf(inst); floats > 0 {
				a.add(floats, 0)
				a.longer = true
			}
		}
		if countsAsInteger(&insts[i]) {
			a.others++
		}
	}
	for f, a := range lines {
		if a.steps == 0 || f.Line == 0 {
			delete(lines, f)
		}
	}
	in.accurates[code] = lines
	return lines
}

// functionOf is how many multiplications and additions the function takes of which an instruction has the mark, 0 for none.
func functionOf(inst *sass.Inst) float64 {
	for _, f := range []struct {
		mark   int64
		floats float64
	}{{logMark, logFloats}, {powerMark, powerFloats}, {sineMark, sineFloats}, {powMark, powFloats}} {
		if hasImmediate(inst, f.mark) {
			return f.floats
		}
	}
	return 0
}

func (a *accurate) add(steps, integers float64) {
	a.steps += steps
	a.integers += integers
	a.kept += cheapSteps
}

// accurateShares says of the instructions of a section which share of them approximate functions would save.
func (in *Input) accurateShares(code int) sequence {
	found := sequence{}
	if in.codes[code] == nil {
		return found
	}
	lines := in.accurateLines(code)
	for i := range in.Module.Codes[code].Insts {
		n := blamer.Node{Code: code, Inst: i}
		if in.inMathHelper(n) {
			found[i] = 1
		} else if a := lines[in.frame(n)]; a != nil {
			if share := a.saved(in.Inst(n)); share > 0 {
				found[i] = share
			}
		}
	}
	return found
}

// saved is the share of an instruction of the line that approximate functions save. Integer and control instructions serve the sequences, but
// for what the line of a division or a root computes with integers itself, as indices; special functions stay.
func (a *accurate) saved(inst *sass.Inst) float64 {
	switch {
	case isFloat(inst.Op):
		return max(0, min(1, (a.steps-a.kept)/max(1, a.floats)))
	case inst.Op == sass.MUFU || inst.Op == sass.S2R || inst.Form.Pipe == sass.PipeLSU || inst.Form.Pipe == sass.PipeTEX:
		return 0
	case countsAsInteger(inst) && !a.longer:
		return min(1, a.integers/a.others)
	}
	return 1
}

// countsAsInteger reports whether an instruction computes with integers, in the uniform datapath too, or converts to or from them.
func countsAsInteger(inst *sass.Inst) bool {
	switch inst.Op.Properties().Class {
	case sass.ClassALU, sass.ClassMultiply, sass.ClassUniform, sass.ClassConvert, sass.ClassPredicate:
		return true
	}
	return false
}

func isFloat(op sass.Op) bool { return op.Properties().Class == sass.ClassFloat }

// callsRoot reports whether a call is to the slow path of the square root.
func (in *Input) callsRoot(n blamer.Node) bool {
	f := in.Func(n)
	if f == nil {
		return false
	}
	for _, call := range f.Calls {
		if call.Inst != n.Inst {
			continue
		}
		for _, callee := range call.Callees {
			if isRoot(in.codes[n.Code].graph.Funcs[callee].Function.Name) {
				return true
			}
		}
	}
	return false
}

func isRoot(name string) bool { return strings.Contains(name, "sqrt") && strings.Contains(name, "f32") }

func hasImmediate(inst *sass.Inst, bits int64) bool {
	for i := range inst.Operands {
		if o := &inst.Operands[i]; o.Kind == sass.KindImm && uint32(o.Imm) == uint32(bits) {
			return true
		}
	}
	return false
}

// addSequence enters what a section's samples lose with the instructions of a sequence: the cycles in which they issue, and their
// stalls but those for memory and constants, which would be there all the same.
func (c *collector) addSequence(s Scope, code int, found sequence) {
	if len(found) == 0 {
		return
	}
	factors := c.in.exposing(code, c.in.saved(code, found))
	for i := range c.in.Module.Codes[code].Insts {
		share, n := found[i], blamer.Node{Code: code, Inst: i}
		if share <= 0 {
			c.addJoin(s, n, found)
			continue
		}
		factor := orWhole(factors, i)
		share *= factor
		if issued := c.in.codes[code].issued[i]; issued > 0 {
			c.addShare(s, &blamer.Blame{Def: n, Use: n, Detail: blamer.NotSelected, Count: issued}, share)
		}
		for _, b := range c.in.byUse[n] {
			if goesWithCode(b.Detail) {
				c.addShare(s, b, factor*found.shareOf(b))
			}
		}
	}
}

// withoutSequences matches sequences of all sections, of which a kernel can do without; nil where they have less than a share of its samples.
func (in *Input) withoutSequences(found []sequence, least float64) *Match {
	c := newCollector(in)
	for code, s := range found {
		c.addSequence(in.kernelScope(), code, s)
	}
	matches := c.finish() // of the kernel, or none
	if len(matches) == 0 || matches[0].Samples < least*in.Total {
		return nil
	}
	m := matches[0]
	m.Spares, m.Change = IssueSlots, in.change(found)
	return m
}

// addJoin enters what a BSYNC of a sequence takes, which shows at the instruction behind it.
func (c *collector) addJoin(s Scope, n blamer.Node, found sequence) {
	join := blamer.Node{Code: n.Code, Inst: n.Inst - 1}
	share := found[join.Inst]
	if share <= 0 || c.in.Inst(join).Op != sass.BSYNC {
		return
	}
	r := c.in.redirect(n)
	fetch := r.resolving / max(1, c.in.samplesAt(n, stall.BranchResolving, stall.NoInstructions))
	for _, b := range c.in.byUse[n] {
		switch {
		case b.Detail == blamer.InstructionFetch:
			c.addShare(s, b, share*fetch)
		case b.Def == join && goesWithCode(b.Detail):
			c.addShare(s, b, share)
		}
	}
}

// shareOf is the share of a stall that goes. Who waits for a result that is still computed passes the wait on to who uses it then.
func (s sequence) shareOf(b *blamer.Blame) float64 {
	if b.Def.Code != b.Use.Code {
		return 0
	}
	return s[b.Def.Inst]
}

// goesWithCode reports whether a stall at an instruction goes with it.
func goesWithCode(d blamer.DetailedReason) bool {
	switch d {
	case blamer.Arithmetic, blamer.Scheduling, blamer.InstructionFetch, blamer.PipeBusy, blamer.NotSelected:
		return true
	}
	return false
}

// change takes the instructions of sequences away. Double-precision arithmetic becomes cheap instead.
func (in *Input) change(found []sequence) *Change {
	c := &Change{}
	for code, s := range found {
		whole := maps.Clone(s)
		for _, i := range slices.Sorted(maps.Keys(s)) {
			if n := (blamer.Node{Code: code, Inst: i}); in.Inst(n).Form.Pipe == sass.PipeFP64 && in.Inst(n).Op != sass.F2F {
				c.Cheap = append(c.Cheap, n)
				delete(whole, i)
			}
		}
		c.Gone = append(c.Gone, in.goneOf(code, whole)...)
	}
	return c
}

// goneOf returns the instructions of a section that go with a sequence: of those that go in part as many as their shares add up to.
func (in *Input) goneOf(code int, s sequence) (gone []blamer.Node) {
	due := 0.0
	for _, i := range slices.Sorted(maps.Keys(s)) {
		n := blamer.Node{Code: code, Inst: i}
		if due += s[i]; due >= 0.5 && removable(in.Inst(n)) {
			gone = append(gone, n)
			due--
		}
	}
	return gone
}

// removable reports whether an instruction can take no time and still do what the rest of the code relies on.
func removable(inst *sass.Inst) bool {
	return inst.Form.Pipe != sass.PipeLSU && inst.Form.Pipe != sass.PipeTEX
}
