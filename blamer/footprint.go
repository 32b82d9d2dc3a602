package blamer

import (
	"math"
	"math/bits"
	"slices"

	"gpa/cubin/sass"
	"gpa/profiler"
)

// A footprint says which indices of threads and blocks a value depends on, whether on the round of a loop, and whether on memory. Loads
// whose addresses depend on every index read data that nobody else reads; the others share it.
type footprint struct {
	parts [numIndices]part
	data  bool // read from memory, or of an unknown instruction
}

// The indices of threads and blocks, and that of the round of a loop.
const (
	tidX = iota
	tidY
	tidZ
	ctaidX
	ctaidY
	ctaidZ
	round
	numIndices
)

// A part says what is left of an index in a value. Quotient and remainder together make the whole of it again.
type part uint8

const (
	quotient  part = 1 << iota // neighbours have the same value: i/n, i>>n
	remainder                  // values come again: i%n, i&n
	whole     = quotient | remainder
)

// plus is the footprint of a sum. An index less a multiple of its quotient is a remainder.
func (f footprint) plus(g footprint) footprint {
	for i := range f.parts {
		if f.parts[i]|g.parts[i] == whole && f.parts[i]&g.parts[i] == quotient {
			f.parts[i] = remainder
		} else {
			f.parts[i] |= g.parts[i]
		}
	}
	f.data = f.data || g.data
	return f
}

// only keeps the given part of every index.
func (f footprint) only(p part) footprint {
	for i := range f.parts {
		if f.parts[i] != 0 {
			f.parts[i] = p
		}
	}
	return f
}

// constant reports whether the value is the same in all threads.
func (f footprint) constant() bool {
	f.parts[round] = 0
	return f == footprint{}
}

// or is the footprint of a value that is one of two.
func (f footprint) or(g footprint) footprint {
	for i := range f.parts {
		f.parts[i] |= g.parts[i]
	}
	f.data = f.data || g.data
	return f
}

// maxRounds bounds the rounds in which footprints of values that depend on each other in loops are computed. Each round takes them one
// instruction further; indices go in before the loop.
const maxRounds = 8

// footprintOf returns the footprint of a register that an instruction reads. What it depends on is listed first and computed then, round
// by round until nothing changes, so that loops come out alike wherever they are entered.
func (a *analysis) footprintOf(use int, r sass.Resource) footprint {
	list := a.unknownFootprints(use, r, nil)
	for range maxRounds {
		changed := false
		for _, at := range list {
			f := a.resultFootprint(at)
			changed = changed || f != a.footprints[at]
			a.footprints[at] = f
		}
		if !changed {
			break
		}
	}
	return a.join(use, r)
}

// unknownFootprints lists what a register comes from and has no footprint yet, with sources before what is made of them, loops aside,
// and gives each the empty one. What goes into itself, by the values that are on the way, is another in each round of its loop.
func (a *analysis) unknownFootprints(use int, r sass.Resource, way []place) []place {
	var list []place
	for _, d := range a.reaching(use, r) {
		at := place{d, r}
		if _, ok := a.footprints[at]; ok {
			if slices.Contains(way, at) {
				a.rounds[at] = true
			}
			continue
		}
		a.footprints[at] = footprint{}
		for _, o := range dataSources(&a.code.Insts[d]) {
			if from, ok := registerOf(o); ok {
				list = append(list, a.unknownFootprints(d, from, append(way, at))...)
			}
		}
		list = append(list, at)
	}
	return list
}

// join is the footprint of a register, by those of its definitions.
func (a *analysis) join(use int, r sass.Resource) footprint {
	var f footprint
	for _, d := range a.reaching(use, r) {
		f = f.or(a.footprints[place{d, r}])
	}
	return f
}

// resultFootprint returns the footprint of what an instruction writes to a register, by those of what it reads.
func (a *analysis) resultFootprint(at place) footprint {
	f := a.operationFootprint(at.inst)
	if a.rounds[at] {
		f.parts[round] = whole
	}
	if in := &a.code.Insts[at.inst]; in.Mod(sass.Wide) != 0 && at.res == sass.ResReg+sass.Resource(in.Operands[0].Reg)+1 {
		return f.only(quotient) // the high word of a product
	}
	return f
}

func (a *analysis) operationFootprint(def int) footprint {
	in := &a.code.Insts[def]
	if _, special := in.Special(); special {
		return specialFootprint(in)
	}
	switch in.Op.Vector() {
	case sass.IMAD:
		return a.productFootprint(def, in)
	case sass.SHF:
		if in.Mod(sass.Dir) == sass.DirL && in.Mod(sass.HI) == 0 {
			return a.sumFootprint(def, in)
		}
		return a.sumFootprint(def, in).only(quotient)
	case sass.LEA:
		if in.Mod(sass.HI) != 0 {
			return a.sumFootprint(def, in).only(quotient)
		}
		return a.sumFootprint(def, in)
	case sass.LOP3:
		return a.sumFootprint(def, in).only(maskPart(in))
	case sass.SHFL:
		return footprint{data: true}
	}
	if keepsSize(in.Op.Vector()) {
		return a.sumFootprint(def, in)
	}
	f := a.sumFootprint(def, in).only(quotient)
	f.data = f.data || sourceOf(in.Op) != arithmeticSource && sourceOf(in.Op) != constantSource
	return f
}

// keepsSize reports whether the result of an instruction steps with its operands: sums, selections, moves.
func keepsSize(op sass.Op) bool {
	p := op.Properties()
	return adds(op) || op == sass.MOV || op == sass.SEL || p.Class == sass.ClassCross || p.Class == sass.ClassALU && p.Vector == sass.OpNone && !p.Crosses
}

// maskPart is what LOP3 leaves of an index: a mask without low bits rounds it down to a multiple.
func maskPart(in *sass.Inst) part {
	const and = 0xc0 // the LUT of A & B
	isAnd := false
	var mask uint32
	for i := range in.Operands {
		switch o := &in.Operands[i]; {
		case o.Kind == sass.KindImm && o.Source:
			mask = uint32(o.Imm)
		case o.Kind == sass.KindImm:
			isAnd = o.Imm == and
		}
	}
	low := bits.TrailingZeros32(mask)
	if high := mask >> low; isAnd && low > 0 && high > 0 && high&(high+1) == 0 {
		return quotient
	}
	return remainder
}

// specialFootprint is that of a special register. Clocks and lane numbers say nothing about data.
func specialFootprint(in *sass.Inst) footprint {
	var f footprint
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == sass.KindSReg {
			switch o.Imm {
			case sass.SRTIDX, sass.SRTIDY, sass.SRTIDZ:
				f.parts[tidX+o.Imm-sass.SRTIDX] = whole
			case sass.SRCTAIDX, sass.SRCTAIDY, sass.SRCTAIDZ:
				f.parts[ctaidX+o.Imm-sass.SRCTAIDX] = whole
			}
		}
	}
	return f
}

// sumFootprint adds up the operands of an instruction.
func (a *analysis) sumFootprint(def int, in *sass.Inst) footprint {
	var f footprint
	for _, o := range dataSources(in) {
		f = f.plus(a.operandFootprint(def, o))
	}
	return f
}

func (a *analysis) operandFootprint(def int, o *sass.Operand) footprint {
	if r, ok := registerOf(o); ok {
		return a.join(def, r)
	}
	return footprint{}
}

// productFootprint is that of IMAD: a multiple keeps all of an index, the high word of a product only its quotient. The product of
// two indices says less than either.
func (a *analysis) productFootprint(def int, in *sass.Inst) footprint {
	var from []footprint
	for _, o := range dataSources(in) {
		from = append(from, a.operandFootprint(def, o))
	}
	if len(from) != 3 {
		return footprint{data: true}
	}
	product := from[0].plus(from[1])
	if !from[0].constant() && !from[1].constant() {
		product = product.only(remainder)
	}
	f := product.plus(from[2])
	if in.Mod(sass.HI) != 0 {
		return f.only(quotient)
	}
	return f
}

// addressFootprint is that of a load's address.
func (a *analysis) addressFootprint(def int, at *sass.Operand) footprint {
	var f footprint
	for _, part := range addressParts(at) {
		if r, ok := registerOf(part); ok {
			f = f.plus(a.footprintOf(def, r))
		}
	}
	return f
}

// missShares says where a load finds what it is the first of its warp to touch, as shares of its executions: what is left it finds in
// L1.
type missShares struct {
	first float64 // nobody has asked for it before: DRAM
	joins float64 // it is on its way from DRAM for another block
	far   float64 // in L2
}

// missShares estimates where a load finds its data. Others that read the same, blocks by the indices that its address does not depend
// on and rounds of its loop, find it in L2 if they come later than the first by more than that one waits, and in L1 if they run on the
// same SM.
func (a *analysis) missShares(def int, at *sass.Operand) missShares {
	r := a.reuse(def, at)
	late := func(latency float64) float64 { return latency / (latency + r.spread) }
	s := missShares{first: 1 / r.readers}
	deep := max(s.first, late(a.model.Latencies.DRAM.Value))
	s.joins = deep - s.first
	sms := float64(max(1, a.result.Launch.Facts.SMs))
	s.far = max(deep, min(1, sms/r.readers), late(a.model.Latencies.L2.Value)) - deep
	return s
}

// reuse says how many executions of a load, by blocks and in rounds of its loop, read one sector, and over how many cycles these begin.
type reuse struct{ readers, spread float64 }

// gatherSharing is how many blocks are taken to read a sector whose address comes from memory.
const gatherSharing = 2

// reuse estimates who reads the sectors of a load. Of an index of which the address has the remainder, half the range is taken to share;
// where it has the quotient, as many blocks as there are quotients, which are neighbours and begin one after the other.
func (a *analysis) reuse(def int, at *sass.Operand) reuse {
	f := a.addressFootprint(def, at)
	if f.data {
		return reuse{gatherSharing, a.spread}
	}
	r := reuse{1, a.spread}
	for i := range 3 {
		blocks := float64(max(1, a.result.Launch.Grid[i]))
		switch f.parts[ctaidX+i] {
		case 0:
			r.readers *= blocks
		case quotient:
			r.readers *= math.Sqrt(blocks)
			r.spread /= math.Sqrt(blocks)
		case remainder:
			r.readers *= max(1, blocks/2)
		}
	}
	if f.parts[round] == remainder {
		rounds, cycles := a.roundsOf(def)
		r.readers *= rounds
		r.spread += cycles
	}
	return r
}

// roundsOf returns how many times a warp executes an instruction of a loop, and how many cycles it spends in that loop.
func (a *analysis) roundsOf(def int) (rounds, cycles float64) {
	loop := a.graph.InnermostLoop(def)
	warps := launchWarps(a.result.Launch)
	if loop == nil || a.warps[def] <= warps {
		return 1, 0
	}
	for _, b := range loop.Blocks {
		for i := a.graph.Blocks[b].First; i <= a.graph.Blocks[b].Last; i++ {
			cycles += a.residence[i] * a.warps[i]
		}
	}
	return a.warps[def] / warps, cycles / warps
}

// warpsInLine returns how many warps of a block read one after the other, each on from where the one before ends, 1 where that is
// not known.
func (a *analysis) warpsInLine(def int, at *sass.Operand) int {
	l := a.result.Launch
	if !a.dense(def) || l.Block[0]%warpLanes != 0 {
		return 1
	}
	f := a.addressFootprint(def, at)
	if f.data || f.parts[tidX] != whole {
		return 1
	}
	return l.Block[0] / warpLanes
}

// idealSectorsOf is the number of sectors that the bytes of one execution would fill.
func idealSectorsOf(c *profiler.Counter) float64 {
	if c.Executions == 0 {
		return 0
	}
	return float64(c.GlobalSectorsIdeal) / float64(c.Executions)
}
