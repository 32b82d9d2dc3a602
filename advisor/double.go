package advisor

import (
	"fmt"
	"slices"
	"strings"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/profiler"
)

// leastDouble is the share of the samples that double-precision arithmetic must have, with the waits for doubles from memory, for the precision
// to be worth a question.
const leastDouble = .1

// doubles matches double-precision arithmetic, what the program asks for and what constants in double precision make of floats. Single
// precision has half the latency and at least twice the lanes. Where outputs are compared so closely that only doubles can be right, doubles that
// memory holds stay, and with them the arithmetic on them; those that constants make of floats need not.
func (in *Input) doubles() []*Match {
	c := newCollector(in)
	nodes, cost := make(map[blamer.Node]bool), 0.0
	for _, n := range in.executedNodes(isDouble) {
		nodes[n] = true
		cost += in.codes[n.Code].issued[n.Inst]
	}
	gone := in.onlyForDoubles(nodes)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if (nodes[b.Def] || gone[b.Def]) && (isDependency(b.Detail) || b.Detail == blamer.PipeBusy) {
			share := doubleShare
			if gone[b.Def] {
				share = 1
			}
			c.addShare(in.kernelScope(), b, share)
			cost += b.Count
		}
	}
	c.addIssued(sortedKeys(gone))
	arrays := in.doubleAccesses(nodes)
	if in.precise && len(arrays) > 0 || in.needsDoublesRange(nodes) {
		return nil
	}
	waits := 0.0 // for doubles of arrays: half of the bytes
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; slices.Contains(arrays, b.Def) && (b.Detail == blamer.GlobalMemory || b.Detail == blamer.MemoryThrottle) {
			c.addShare(in.kernelScope(), b, doubleShare)
			waits += b.Count
		}
	}
	if cost+waits < leastDouble*in.Total {
		return nil
	}
	conversions := slices.DeleteFunc(in.executedNodes(func(op sass.Op) bool { return op == sass.F2F }), func(n blamer.Node) bool { return !widensOrNarrows(in.Inst(n)) })
	matches := c.finish()
	for _, m := range matches {
		m.Spares, m.Variant = IssueSlots, "single precision"
		m.Change = &Change{Cheap: sortedKeys(nodes), Gone: sortedKeys(gone)}
		if len(arrays) > 0 {
			m.Spares |= L2 | DRAM | Sectors
			m.Change.Streams = &Streams{Narrowed: arrays}
		}
		m.Suggestions = []string{
			fmt.Sprintf("Double-precision arithmetic has %.0f%% of the samples (%s); the %s does %s single-precision operations in the time of a double one. Where float's 24 bits are enough, use it: variables, constants with f (1.0f), functions with f (expf, logf).",
				100*cost/in.Total, in.places(in.userNodes(m.defs()), 3), in.Model.Name, doubleRatio(in.Model)),
			"Sums of many terms keep their precision in float by compensation (Kahan) or by adding up parts. Not where the result has to have double's precision.",
		}
		if in.drawsNumbers(m.defs()) {
			m.Suggestions[1] = "Generators of random numbers draw others for float than for double: compare within the error of the sample. " + m.Suggestions[1]
		}
		if in.callsPower() {
			m.Suggestions[1] = "Instead of pow: a power of two with a whole exponent is a shift (1 << k) or ldexp, a small whole power a product. " + m.Suggestions[1]
		}
		if cost < leastDouble*in.Total {
			m.Suggestions[0] = fmt.Sprintf("The waits for doubles from memory have %.0f%% of the samples (%s). Where float's 24 bits are enough, store arrays as float: half of the bytes move, and the arithmetic may still be double.",
				100*waits/in.Total, in.places(arrays, 3))
		} else if len(arrays) > 0 {
			m.Suggestions = slices.Insert(m.Suggestions, 1, fmt.Sprintf("Arrays of doubles (%s) take half of the bytes as float.", in.places(arrays, 3)))
		}
		if len(conversions) > 0 {
			m.Suggestions = slices.Insert(m.Suggestions, 1, fmt.Sprintf("%s: conversion between float and double. A constant such as 2.0 is double and makes the whole expression double: write 2.0f.", in.places(conversions, 3)))
		}
	}
	return matches
}

// drawsNumbers reports whether some instructions are of cuRAND's functions.
func (in *Input) drawsNumbers(nodes []blamer.Node) bool {
	return slices.ContainsFunc(nodes, func(n blamer.Node) bool { return strings.Contains(in.frame(n).Function, "curand") })
}

// callsPower reports whether a launch calls CUDA's function for powers of doubles.
func (in *Input) callsPower() bool {
	for code := range in.codes {
		if len(in.powHelpers(code)) > 0 {
			return true
		}
	}
	return false
}

// needsDoublesRange reports whether arithmetic of the program's own makes numbers in double precision that single precision does not have: what is
// computed from an infinity is no number, or nothing. Functions of libraries may do so on the way to a result that is small.
func (in *Input) needsDoublesRange(doubles map[blamer.Node]bool) bool {
	r := in.Launch.Record
	return r != nil && slices.ContainsFunc(r.Beyond, func(at profiler.Place) bool {
		n := nodeOf(at)
		return doubles[n] && !in.inInternal(n)
	})
}

// longPolynomial is from how many steps on a chain c + x (c + x (…)) of doubles is taken to be the polynomial of a function. NVIDIA's exp
// has 11, log 7 and sin 6; in single precision expf, logf and sinf are a function of the MUFU and a few steps before and behind it.
const (
	longPolynomial = 6
	leftOfIt       = 2
	exponential    = 10         // and more steps are an exponential, which in single precision needs no branch for results out of range
	doubleLogMark  = 0x3ff6a09f // the upper half of the root of two: a logarithm compares with it
)

// onlyForDoubles returns what single precision does without: most steps of the polynomials of functions, the moves that bring the two
// halves of constants, tables of coefficients, conversions, and what is done to the halves of a double by themselves, as to see its
// exponent.
func (in *Input) onlyForDoubles(doubles map[blamer.Node]bool) map[blamer.Node]bool {
	gone := make(map[blamer.Node]bool)
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		insts := in.Module.Codes[code].Insts
		held := heldBefore(s.graph, insts, (*halves).after)
		tables := heldBefore(s.graph, insts, func(h *halves, inst *sass.Inst) { h.set(inst, in.makesAddress(inst)) })
		for _, b := range s.graph.Blocks {
			for _, i := range in.withoutDoubles(code, b, doubles, held[b.ID], tables[b.ID]) {
				gone[blamer.Node{Code: code, Inst: i}] = true
			}
			if in.dividesDoubles(code, b) {
				for i := b.First; i <= b.Last; i++ {
					if n := (blamer.Node{Code: code, Inst: i}); !doubles[n] && (isArithmetic(&insts[i]) || moves(&insts[i])) {
						gone[n] = true
					}
				}
			}
		}
	}
	return gone
}

// dividesDoubles reports whether a block is in the compiler's function for quotients of doubles out of range, 0 among them. That for floats is about as
// long as the arithmetic and the branches of this one: 0/x takes some 25 instructions there, and 84 here (NVRTC 12.9, sm_80).
func (in *Input) dividesDoubles(code int, b *cfg.Block) bool {
	n := blamer.Node{Code: code, Inst: b.First}
	return in.inInternal(n) && strings.Contains(in.Func(n).Function.Name, "div_rn_f64")
}

// withoutDoubles returns the instructions of a block that single precision does without. held are the registers that hold half of a double
// before it, tables those with the address of a table of coefficients.
func (in *Input) withoutDoubles(code int, b *cfg.Block, doubles map[blamer.Node]bool, held, tables *halves) (gone []int) {
	insts, constant, coefficients := in.Module.Codes[code].Insts, new(halves), new(halves)
	chains, longest := make(map[uint8][]int), 0 // by the register that a chain is in
	logarithm, steps := false, 0
	for i := b.First; i <= b.Last; i++ {
		inst, n := &insts[i], blamer.Node{Code: code, Inst: i}
		to := destination(inst)
		logarithm = logarithm || hasImmediate(inst, doubleLogMark)
		switch {
		case doubles[n] && constant.suffice(inst):
			gone = append(gone, i)
		case doubles[n] && logarithm:
			if steps++; steps > logFloats {
				gone = append(gone, i)
			}
		case doubles[n] && to != nil:
			chain := append(hornerStep(inst, chains, coefficients), i)
			if chains[to.Reg], longest = chain, max(longest, len(chain)); len(chain) >= longPolynomial {
				gone = append(gone, chain[:len(chain)-leftOfIt]...)
			}
		case inst.Op == sass.F2F && widensOrNarrows(inst), to != nil && bringsConstant(inst) && in.firstUse(b.Last, n, []sass.Resource{sass.ResReg + sass.Resource(to.Reg)}, doubles),
			held.onHalves(inst), in.makesAddress(inst), tables.loadsBy(inst):
			gone = append(gone, i)
		}
		held.after(inst)
		coefficients.set(inst, tables.loadsBy(inst))
		tables.set(inst, in.makesAddress(inst))
		constant.set(inst, bringsConstant(inst) || makesDouble(inst) && constant.suffice(inst))
	}
	if longest >= exponential {
		gone = append(gone, guardOf(in.codes[code].graph, b, insts)...)
	}
	return gone
}

// guardOf returns the branch at the end of a block by which most lanes go to its nearest join, and what has them meet there.
func guardOf(g *cfg.Graph, b *cfg.Block, insts []sass.Inst) []int {
	if insts[b.Last].Op != sass.BRA || insts[b.Last].Guard.Always() {
		return nil
	}
	list := []int{b.Last}
	for i := b.Last; i >= b.First; i-- {
		if insts[i].Op != sass.BSSY {
			continue
		}
		for _, next := range b.Succs {
			if join := g.Blocks[next].First; insts[join].Op == sass.BSYNC && insts[join].ConvBar().Reg == insts[i].ConvBar().Reg {
				return append(list, i, join)
			}
		}
	}
	return list
}

// halves is a set of registers, as of those that hold half of a double.
type halves [256]bool

// heldBefore returns which registers are in a set at the beginning of each block, whichever way control came. after enters what an
// instruction does to it.
func heldBefore(g *cfg.Graph, insts []sass.Inst, after func(h *halves, inst *sass.Inst)) []*halves {
	before := make([]*halves, len(g.Blocks))
	for i := range before {
		before[i] = new(halves)
	}
	for again := true; again; {
		again = false
		for _, b := range g.Blocks {
			held := *before[b.ID]
			for i := b.First; i <= b.Last; i++ {
				after(&held, &insts[i])
			}
			for _, next := range b.Succs {
				again = before[next].merge(&held) || again
			}
		}
	}
	return before
}

func (h *halves) merge(other *halves) (changed bool) {
	for r, held := range other {
		if held && !h[r] {
			h[r], changed = true, true
		}
	}
	return changed
}

// after enters what an instruction leaves in its registers.
func (h *halves) after(inst *sass.Inst) {
	h.set(inst, makesDouble(inst) || h.readBy(inst) && (isInteger(inst.Op) || inst.Op == sass.FFMA || isMove(inst)))
}

// set enters whether the registers that an instruction writes are among those.
func (h *halves) set(inst *sass.Inst, held bool) {
	for _, r := range inst.Defs(nil) {
		if at := r - sass.ResReg; int(at) < len(h) {
			h[at] = held || h[at] && !inst.Guard.Always()
		}
	}
}

// readBy reports whether an instruction reads half of a double as if it were a number of its own.
func (h *halves) readBy(inst *sass.Inst) bool {
	for i := range inst.Operands {
		if o := &inst.Operands[i]; o.Source && o.Kind == sass.KindReg && o.Reg != sass.RZ && o.Width <= 1 && h[o.Reg] {
			return true
		}
	}
	return false
}

// onHalves reports whether an instruction computes with half of a double, compares or moves it. Of the two moves of a double one is left.
func (h *halves) onHalves(inst *sass.Inst) bool {
	if !h.readBy(inst) {
		return false
	}
	if isMove(inst) {
		to := destination(inst)
		return to != nil && to.Reg%2 == 1
	}
	return isInteger(inst.Op) || inst.Op == sass.FSETP || inst.Op == sass.FFMA
}

// suffice reports whether an instruction computes with numbers that the compiler knows, of which h has those in registers, as the reciprocal of
// a constant: in single precision that is a constant too.
func (h *halves) suffice(inst *sass.Inst) bool {
	return !slices.ContainsFunc(inst.Operands, func(o sass.Operand) bool {
		switch {
		case !o.Source || o.Kind == sass.KindImm || isCondition(&o) && o.Reg == sass.PT || o.Kind == sass.KindReg && o.Reg == sass.RZ:
			return false
		case o.Kind != sass.KindReg:
			return true
		}
		return slices.Contains(h[o.Reg:o.Reg+max(1, o.Width)], false)
	})
}

// makesDouble reports whether an instruction gives a double: arithmetic, a conversion, the first approximation of a reciprocal.
func makesDouble(inst *sass.Inst) bool {
	class := inst.Op.Properties().Class
	return class == sass.ClassDouble || class == sass.ClassConvert && inst.Op != sass.F2I && writesPair(inst) ||
		inst.Op == sass.MUFU && (inst.Mod(sass.MufuFn) == sass.MufuRCP64H || inst.Mod(sass.MufuFn) == sass.MufuRSQ64H)
}

// isMove reports whether an instruction moves a register or chooses between two.
func isMove(inst *sass.Inst) bool {
	p := inst.Op.Properties()
	return moves(inst) && !p.Floats() || p.Does == sass.Selects
}

// mathTables is how the names of the tables begin in which NVIDIA's functions of doubles have their coefficients.
const mathTables = "__cudart_"

// makesAddress reports whether an instruction makes an address in such a table.
func (in *Input) makesAddress(inst *sass.Inst) bool {
	return slices.ContainsFunc(inst.Operands, func(o sass.Operand) bool {
		return o.Kind == sass.KindConst && o.Bank == addressBank && in.pointsToTable(uint64(o.Offset))
	})
}

// loadsBy reports whether an instruction loads by one of the addresses in registers.
func (h *halves) loadsBy(inst *sass.Inst) bool {
	return inst.Op == sass.LDG && slices.ContainsFunc(inst.Operands, func(o sass.Operand) bool { return o.Kind == sass.KindMem && o.Reg != sass.RZ && h[o.Reg] })
}

// addressBank is the constant bank with the addresses of variables.
const addressBank = 4

// pointsToTable reports whether the loader puts the address of a table at a place of the bank.
func (in *Input) pointsToTable(offset uint64) bool {
	return slices.ContainsFunc(in.Module.Relocs, func(r cubin.Reloc) bool {
		return r.Offset == offset && r.Section == fmt.Sprintf(".nv.constant%d", addressBank) && strings.HasPrefix(r.Symbol, mathTables)
	})
}

// hornerStep returns the steps of the chain that an instruction goes on with: it multiplies what the last one gave, and adds a constant.
// coefficients are the registers that have one from a table.
func hornerStep(inst *sass.Inst, chains map[uint8][]int, coefficients *halves) []int {
	var factors []*sass.Operand
	for i := range inst.Operands {
		if o := &inst.Operands[i]; o.Source {
			factors = append(factors, o)
		}
	}
	if inst.Op != sass.DFMA || len(factors) != 3 {
		return nil
	}
	if c := factors[2]; c.Kind != sass.KindConst && c.Kind != sass.KindImm && (c.Kind != sass.KindReg || !coefficients[c.Reg]) {
		return nil
	}
	var longest []int
	for _, f := range factors[:2] {
		if steps := chains[f.Reg]; f.Kind == sass.KindReg && len(steps) > len(longest) {
			longest = steps
		}
	}
	return slices.Clone(longest)
}

// widensOrNarrows reports whether a conversion is between double and a narrower type.
func widensOrNarrows(inst *sass.Inst) bool {
	wide := 0
	for i := range inst.Operands {
		if inst.Operands[i].Kind == sass.KindReg && inst.Operands[i].Width == 2 {
			wide++
		}
	}
	return wide == 1
}

// bringsConstant reports whether an instruction only moves a number into a register.
func bringsConstant(inst *sass.Inst) bool {
	numbers := 0
	for i := range inst.Operands {
		switch o := &inst.Operands[i]; {
		case !o.Source:
		case o.Kind == sass.KindImm:
			numbers++
		case o.Kind != sass.KindReg || o.Reg != sass.RZ:
			return false
		}
	}
	return numbers > 0
}

// firstUse reports whether the first instruction of the block that reads one of some registers behind the one that writes them is one of some.
func (in *Input) firstUse(last int, n blamer.Node, regs []sass.Resource, by map[blamer.Node]bool) bool {
	for i := n.Inst + 1; i <= last; i++ {
		user := blamer.Node{Code: n.Code, Inst: i}
		if slices.ContainsFunc(in.Inst(user).Uses(nil), func(r sass.Resource) bool { return slices.Contains(regs, r) }) {
			return by[user]
		}
	}
	return false
}

// doubleAccesses are the loads from global memory, and the stores to it, of doubles: what double-precision arithmetic of their block reads or has
// computed.
func (in *Input) doubleAccesses(doubles map[blamer.Node]bool) []blamer.Node {
	list := in.executedNodes(func(op sass.Op) bool { return op == sass.LDG || op == sass.STG })
	return slices.DeleteFunc(list, func(n blamer.Node) bool {
		inst := in.Inst(n)
		size := inst.AccessBytes()
		switch {
		case size != 8 && size != 16:
			return true
		case inst.Op == sass.STG:
			return !slices.ContainsFunc(in.operandsFrom(n), func(def blamer.Node) bool { return isDouble(in.Inst(def).Op) })
		}
		value := slices.DeleteFunc(inst.Defs(nil), func(r sass.Resource) bool { return !isValue(r) })
		return !in.firstUse(in.Block(n).Last, n, value, doubles)
	})
}

// isDouble reports whether an instruction is arithmetic or a comparison of doubles.
func isDouble(op sass.Op) bool { return op.Properties().Class == sass.ClassDouble }

// doubleRatio is how many single-precision operations a GPU does in the time of a double one.
func doubleRatio(m *arch.Model) string {
	return fmt.Sprintf("%.0f", m.Pipes[arch.FP64].Interval.Value/m.Pipes[arch.FMA].Interval.Value)
}
