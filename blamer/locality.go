package blamer

import (
	"math"

	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// Where two loads are awaited together, the one that finds less of its data in L1 is the later. A profile of the hardware
// does not tell hits by instruction, but the code tells which loads read what another has just read, and the source
// counters how many sectors a load asks for.

const (
	sectorBytes = 32
	// sectorCycles is what each further sector of a request adds to its latency, cycles: L1 looks up four sectors of a line a
	// cycle at best, one line a cycle, and takes 64 bytes a cycle from L2 (hardware.md's L2 bandwidth over 80 SMs).
	sectorCycles = 1
	oneSector    = 1.05 // sectors of a request that count as one
)

// expectedLatency is between the latency bounds of the instruction: at the lower one where its data should be in L1, at the
// geometric mean where nothing is known. That of reading the operands of a memory instruction is the lower bound.
func (a *analysis) expectedLatency(d dependency) float64 {
	bound := a.model.Latency(LatencyClass(a.code.Insts[d.def].Op))
	least, most := float64(bound.Min), float64(bound.Max)
	if a.readBarrierOnly(d) {
		return least
	}
	latency := least * math.Pow(most/least, a.missShare(d.def)/2)
	return latency + sectorCycles*max(0, a.sectors[d.def]-1)
}

// missShare estimates how often a load asks for a sector that is not yet in L1, between 0 and 1. Each of the sectors of a
// request is a new one with the probability that a step of so many bytes leads into the next.
func (a *analysis) missShare(def int) float64 {
	at := globalLoad(&a.code.Insts[def])
	if at == nil {
		return 1
	}
	step := min(a.loopStep(def, at), sectorBytes)
	if near := a.neighbour(def, at); near < 0 && a.sectors[def] > 0 && a.sectors[def] <= oneSector {
		step = sectorBytes
	} else if near >= 0 {
		step = min(step, distance(at, globalLoad(&a.code.Insts[near])))
	}
	return 1 - math.Pow(1-step/sectorBytes, max(1, a.sectors[def]))
}

// globalLoad returns the address of a load from global memory, nil for other instructions.
func globalLoad(in *sass.Inst) *sass.Operand {
	if in.Op != sass.LDG {
		return nil
	}
	return memoryOperand(in)
}

// neighbour returns the first load of the block that reads less than a sector away from where a later one does, from the same
// base, -1 where there is none. Atomics and fences between them take the data from L1.
func (a *analysis) neighbour(def int, at *sass.Operand) int {
	base := sass.ResReg + sass.Resource(at.Reg)
	since := max(a.graph.Blocks[a.block[def]].First, lastBefore(a.defs[base], 0, def))
	near := -1
	for i := since; i < def; i++ {
		in := &a.code.Insts[i]
		if clearsL1(in.Op) {
			near = -1
		}
		o := globalLoad(in)
		if near < 0 && o != nil && o.Reg == at.Reg && o.UReg == at.UReg && a.near(def, o, at) && a.always(i) {
			near = i
		}
	}
	return near
}

// near reports whether an earlier access may have fetched what a load reads: it lies less than a sector away, and where the threads
// of a warp read one word together, as at the head of an array, in the same sector if the base is aligned.
func (a *analysis) near(def int, earlier, at *sass.Operand) bool {
	if a.sectors[def] > 0 && a.sectors[def] <= oneSector {
		return sector(earlier) == sector(at)
	}
	return distance(earlier, at) < sectorBytes
}

func sector(o *sass.Operand) float64 { return math.Floor(float64(o.Offset) / sectorBytes) }

func distance(a, b *sass.Operand) float64 { return math.Abs(float64(a.Offset) - float64(b.Offset)) }

func clearsL1(op sass.Op) bool {
	switch op {
	case sass.ATOM, sass.ATOMG, sass.RED, sass.MEMBAR, sass.CCTL:
		return true
	}
	return false
}

// loopStep is the number of bytes between where a load reads and the nearest place where a load from the same base has read in
// the round of the loop before, infinite where the loop does not advance the base by a known constant.
func (a *analysis) loopStep(def int, at *sass.Operand) float64 {
	least := math.Inf(1)
	loop := a.graph.InnermostLoop(def)
	if loop == nil {
		return least
	}
	advance, ok := a.advance(loop, at.Reg, maxAdvance)
	if !ok {
		return least
	}
	for _, b := range loop.Blocks {
		for i := a.graph.Blocks[b].First; i <= a.graph.Blocks[b].Last; i++ {
			if o := globalLoad(&a.code.Insts[i]); o != nil && o.Reg == at.Reg {
				least = min(least, math.Abs(float64(at.Offset)+advance-float64(o.Offset)))
			}
		}
	}
	return least
}

// maxAdvance is the number of instructions that an address is followed back through.
const maxAdvance = 6

// advance returns by how much a register grows in each round of a loop. ok is false where that is not a known constant.
func (a *analysis) advance(loop *cfg.Loop, reg uint8, depth int) (by float64, ok bool) {
	def := -1
	for _, d := range a.defs[sass.ResReg+sass.Resource(reg)] {
		if reg == sass.RZ || !loop.Contains(int(a.block[d])) {
			continue
		}
		if def >= 0 {
			return 0, false
		}
		def = int(d)
	}
	if def < 0 {
		return 0, true
	}
	if depth == 0 {
		return 0, false
	}
	return a.advanceOf(loop, &a.code.Insts[def], reg, depth-1)
}

// advanceOf is advance for a register that one instruction of the loop computes, from sums, shifts and products by constants.
func (a *analysis) advanceOf(loop *cfg.Loop, in *sass.Inst, reg uint8, depth int) (by float64, ok bool) {
	var from []*sass.Operand
	self := false
	for i := range in.Operands {
		o := &in.Operands[i]
		if o.Source && o.Kind != sass.KindPred {
			from = append(from, o)
			self = self || o.Kind == sass.KindReg && o.Reg == reg
		}
	}
	switch {
	case in.Op == sass.IADD3 && self:
		return constantSum(from, reg)
	case self:
		return 0, false
	case in.Op == sass.IADD3, in.Op == sass.MOV:
		return a.advanceSum(loop, from, depth)
	case in.Op == sass.IMAD && len(from) == 3:
		if factor := from[1]; factor.Kind == sass.KindImm {
			return a.advanceProduct(loop, from[0], float64(int32(factor.Imm)), from[2], depth)
		}
		if a.invariant(loop, from[0], depth) && a.invariant(loop, from[1], depth) {
			return a.advanceSum(loop, from[2:], depth)
		}
	case in.Op == sass.LEA && len(from) >= 3 && from[len(from)-1].Kind == sass.KindImm:
		return a.advanceProduct(loop, from[0], math.Ldexp(1, int(from[len(from)-1].Imm&31)), from[1], depth)
	}
	return 0, false
}

// constantSum is what is added to a register itself.
func constantSum(from []*sass.Operand, self uint8) (sum float64, ok bool) {
	for _, o := range from {
		switch {
		case o.Kind == sass.KindImm:
			sum += float64(int32(o.Imm))
		case o.Kind != sass.KindReg || o.Neg || o.Reg != self && o.Reg != sass.RZ:
			return 0, false
		}
	}
	return sum, true
}

func (a *analysis) advanceSum(loop *cfg.Loop, from []*sass.Operand, depth int) (sum float64, ok bool) {
	for _, o := range from {
		if o.Kind != sass.KindReg {
			continue // the same in every round
		}
		by, ok := a.advance(loop, o.Reg, depth)
		if !ok {
			return 0, false
		}
		if o.Neg {
			by = -by
		}
		sum += by
	}
	return sum, true
}

func (a *analysis) advanceProduct(loop *cfg.Loop, x *sass.Operand, factor float64, y *sass.Operand, depth int) (by float64, ok bool) {
	product, ok := a.advanceSum(loop, []*sass.Operand{x}, depth)
	if !ok {
		return 0, false
	}
	rest, ok := a.advanceSum(loop, []*sass.Operand{y}, depth)
	return product*factor + rest, ok
}

// invariant reports whether an operand is known to be the same in every round.
func (a *analysis) invariant(loop *cfg.Loop, o *sass.Operand, depth int) bool {
	by, ok := a.advanceSum(loop, []*sass.Operand{o}, depth)
	return ok && by == 0
}

// memoryOperand returns the address of a memory instruction, nil where it has none.
func memoryOperand(in *sass.Inst) *sass.Operand {
	for i := range in.Operands {
		if in.Operands[i].Kind == sass.KindMem {
			return &in.Operands[i]
		}
	}
	return nil
}
