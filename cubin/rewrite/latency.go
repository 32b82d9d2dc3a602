package rewrite

import (
	"fmt"
	"slices"

	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// A writer is a class of instructions of fixed latency by when their results are there.
type writer uint8

const (
	writesALU    writer = iota
	writesFMA           // IMAD.WIDE's halves apart
	writesWideLo        // low half of what IMAD.WIDE writes
	writesWideHi
	writesPair // CS2R of 64 bits, LEPC
	writesHalf // FP16
	writesFMA2 // HFMA2.MMA, which the tensor cores execute
	writesDouble
	writesBits    // matrix products of integers and bits in their smallest shapes
	writesMatrix  // of the others those that take one pass
	writesSums    // deeper ones of those, and the smallest of TF32
	writesMatrix2 // of the others those that take two
	writesOther   // what none of the above is: as slow as any
	numWriters
)

// A reader is a class of instructions by when they need their operands.
type reader uint8

const (
	readsALU    reader = iota
	readsFMA           // and the low half of what IMAD.WIDE adds
	readsWide          // factors of IMAD.WIDE
	readsWideHi        // high half of what IMAD.WIDE adds
	readsHalf          // FP16
	readsDouble        // FP64 and HFMA2.MMA
	readsTensor
	readsUnit    // units with queues of their own: XU, ADU, CBU
	readsMemory  // LSU
	readsTexture // TEX
	numReaders
)

// A latencyTable holds the cycles that must lie between the issue of an instruction of fixed latency and the issue of one
// that depends on it. No counter guards such a dependence: the stall counts between the two have to add up to it.
type latencyTable struct {
	registers [numReaders][numWriters]int
	guard     int // predicate as guard, or as an operand of other pipes than ALU and FMA
	data      int // predicate as an operand, from ALU to ALU and from FMA to FMA
	carry     int // predicate as an operand, from ALU to FMA and back
	barrier   int // convergence barrier, of which one unit executes all instructions in order
	counter   int // from an instruction that takes a dependence counter to one that waits for it
	uniform   *uniformLatencies
	model     *arch.Model // what the units take whose results dependence counters announce
}

// volta is the table of sm_70. NVIDIA publishes no such figures. These are the least sums of stall counts that its compiler
// leaves on any path between producer and consumer, over the machine code of this repository's kernels; most of them occur
// hundreds of times, always with the same least sum. They agree with what is published: four cycles for arithmetic on Volta
// (Jia et al. 2018, table 4.1) and about twelve for a predicate as a guard.
var volta = latencyTable{
	registers: [numReaders][numWriters]int{
		//            ALU FMA lo hi pair half fma2 double bits matrix sums matrix2 other
		readsALU:     {4, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6},
		readsFMA:     {5, 4, 4, 4, 6, 6, 6, 6, 6, 6, 6, 6, 6},
		readsWide:    {5, 4, 4, 4, 6, 6, 6, 6, 6, 6, 6, 6, 6},
		readsWideHi:  {5, 4, 4, 4, 6, 6, 6, 6, 6, 6, 6, 6, 6},
		readsHalf:    {6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6},
		readsDouble:  {6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6},
		readsTensor:  {6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6},
		readsUnit:    {6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6},
		readsMemory:  {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8},
		readsTexture: {6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6},
	},
	guard: 12, data: 4, carry: 5, barrier: 1, counter: 2,
}

// turing and ampere are the tables of sm_75 and of sm_80 to sm_90, after the scheduling information that NVIDIA gave to
// the authors of the free compiler NAK (Mesa, src/nouveau/compiler/nak/sm75_instr_latencies.rs and
// sm80_instr_latencies.rs). The least sums in this repository's kernels for these architectures agree with them.
var turing = latencyTable{
	registers: [numReaders][numWriters]int{
		//            ALU FMA lo hi pair half fma2 double bits matrix sums matrix2 other
		readsALU:     {4, 5, 3, 5, 6, 8, 8, 9, 10, 14, 22, 22, 22},
		readsFMA:     {5, 4, 2, 4, 6, 8, 8, 9, 10, 14, 22, 22, 22},
		readsWide:    {5, 4, 4, 6, 6, 8, 8, 9, 10, 14, 22, 22, 22},
		readsWideHi:  {3, 2, 2, 2, 4, 6, 6, 7, 8, 12, 20, 20, 20},
		readsHalf:    {6, 6, 6, 6, 6, 6, 6, 9, 10, 14, 22, 22, 22},
		readsDouble:  {6, 6, 6, 6, 6, 8, 8, 8, 10, 14, 22, 22, 22},
		readsTensor:  {6, 6, 6, 6, 6, 8, 8, 9, 10, 14, 22, 22, 22},
		readsUnit:    {6, 6, 6, 6, 6, 8, 8, 9, 10, 14, 22, 22, 22},
		readsMemory:  {8, 8, 8, 8, 8, 8, 8, 9, 10, 14, 22, 22, 22},
		readsTexture: {6, 6, 6, 6, 6, 8, 8, 9, 10, 14, 22, 22, 22},
	},
	guard: 12, data: 4, carry: 5, barrier: 1, counter: 2, uniform: &uniforms,
}

var ampere = latencyTable{
	registers: [numReaders][numWriters]int{
		//            ALU FMA lo hi pair half fma2 double bits matrix sums matrix2 other
		readsALU:     {4, 5, 3, 5, 6, 5, 10, 10, 13, 13, 16, 17, 17},
		readsFMA:     {5, 4, 2, 4, 6, 5, 10, 10, 13, 13, 16, 17, 17},
		readsWide:    {5, 4, 4, 6, 6, 5, 10, 10, 13, 13, 16, 17, 17},
		readsWideHi:  {3, 2, 2, 2, 4, 3, 8, 8, 11, 11, 14, 15, 15},
		readsHalf:    {5, 5, 3, 5, 6, 4, 10, 10, 13, 13, 16, 17, 17},
		readsDouble:  {6, 6, 6, 6, 6, 6, 6, 8, 13, 13, 16, 17, 17},
		readsTensor:  {7, 7, 7, 7, 7, 7, 11, 11, 14, 14, 17, 18, 18},
		readsUnit:    {4, 4, 4, 4, 4, 4, 6, 6, 11, 11, 14, 15, 15},
		readsMemory:  {5, 5, 5, 5, 5, 5, 7, 7, 12, 12, 15, 16, 16},
		readsTexture: {4, 4, 4, 4, 4, 4, 6, 6, 11, 11, 14, 15, 15},
	},
	guard: 13, data: 4, carry: 5, barrier: 1, counter: 2, uniform: &uniforms,
}

// hopper is the table of sm_90. Between two instructions on a convergence barrier its compiler leaves four cycles at least (from BSSY
// to BMOV), where those for the GPUs before leave one (also from BMOV to BSYNC): in functions that nest branches so deeply that they
// keep barriers in registers.
var hopper = func() latencyTable {
	t := ampere
	t.barrier = 4
	return t
}()

// uniformLatencies are those of the uniform datapath, first of its arithmetic, then of what the dispatcher itself executes:
// ULDC, UMOV and VOTEU.
type uniformLatencies struct {
	registers  [numUniformReaders][2]int
	predicates [numUniformReaders][2]int
}

// A uniformReader is a class of instructions by when they need a uniform register or predicate.
type uniformReader uint8

const (
	uniformToUniform  uniformReader = iota
	uniformToDispatch               // UMOV and VOTEU; a guard
	uniformToMath                   // ALU, FMA, FP16
	uniformToUnit                   // units with queues of their own
	uniformToBranch
	uniformToConstant // address of a constant
	numUniformReaders
)

// uniforms has the same source as turing and ampere, in which the figures are the same.
var uniforms = uniformLatencies{
	registers: [numUniformReaders][2]int{
		uniformToUniform: {4, 2}, uniformToDispatch: {7, 2}, uniformToMath: {6, 2}, uniformToUnit: {9, 2}, uniformToBranch: {10, 3},
		uniformToConstant: {12, 5},
	},
	predicates: [numUniformReaders][2]int{
		uniformToUniform: {4, 1}, uniformToDispatch: {11, 5}, uniformToMath: {6, 1}, uniformToUnit: {11, 5}, uniformToBranch: {9, 2},
		uniformToConstant: {11, 5},
	},
}

// latencies returns the table of an architecture.
func latencies(isa sass.Arch) (*latencyTable, error) {
	var t latencyTable
	switch isa {
	case sass.SM70:
		t = volta
	case sass.SM75:
		t = turing
	case sass.SM80, sass.SM86, sass.SM89:
		t = ampere
	case sass.SM90:
		t = hopper
	default:
		return nil, fmt.Errorf("sm_%d: the latencies that stall counts must cover are not known", isa)
	}
	m, err := arch.ByName(fmt.Sprintf("sm_%d", isa))
	if err != nil {
		return nil, err
	}
	t.model = m
	return &t, nil
}

// between returns how many cycles after p, of fixed latency, instruction q may read resource r.
func (t *latencyTable) between(p, q *sass.Inst, r sass.Resource) int {
	switch {
	case r >= sass.ResConvBar:
		return t.barrier
	case p.Op.Properties().Class == sass.ClassCross:
		return t.crossed(q, r)
	case r >= sass.ResUPred && r < sass.ResSB:
		return t.uniform.between(&t.uniform.predicates, p, q, r)
	case r >= sass.ResPred && r < sass.ResUPred:
		return t.predicate(p, q, uint8(r-sass.ResPred))
	case r >= sass.ResUReg && r < sass.ResPred:
		return t.uniform.between(&t.uniform.registers, p, q, r)
	}
	return t.registers[readerOf(q, uint8(r))][writerOf(p, uint8(r))]
}

// crossed returns the latency of what an instruction writes that crosses over to the uniform datapath. Its predicate is there sooner as an
// operand, though not as a guard: the least that the compiler leaves, in the loops over handles of textures of which each lane has another.
func (t *latencyTable) crossed(q *sass.Inst, r sass.Resource) int {
	if r >= sass.ResPred && r < sass.ResUPred && (q.Guard.Uniform || q.Guard.Reg != uint8(r-sass.ResPred)) {
		return 8
	}
	return t.model.Latencies.Cross.Int()
}

// predicate returns the latency of a predicate that p writes and q reads.
func (t *latencyTable) predicate(p, q *sass.Inst, reg uint8) int {
	to, late := q.Form.Pipe, 0
	if p.Form.Pipe == sass.PipeFP64 {
		late = 1
	}
	switch {
	case !q.Guard.Uniform && q.Guard.Reg == reg:
		return t.guard + late
	case late > 0 && to == sass.PipeFP64:
		return t.data + 2
	case to != sass.PipeALU && to != sass.PipeFMA, q.Op == sass.VOTE:
		return t.guard + late
	case to != p.Form.Pipe:
		return t.carry + late
	}
	return t.data
}

// writerOf returns the class of an instruction that writes a register.
func writerOf(p *sass.Inst, reg uint8) writer {
	switch p.Form.Pipe {
	case sass.PipeALU:
		switch {
		case p.Op == sass.CS2R && (p.Operands[0].Width == 2 || p.Arch == sass.SM70):
			return writesPair
		case p.Op == sass.VIADD:
			return writesFMA // so says the code that the compiler makes
		}
		return writesALU
	case sass.PipeFMA:
		switch {
		case p.Op == sass.HFMA2:
			return writesFMA2
		case !wide(p):
			return writesFMA
		case reg == p.Operands[0].Reg:
			return writesWideLo
		}
		return writesWideHi
	case sass.PipeFP16:
		return writesHalf
	case sass.PipeFP64:
		return writesDouble
	case sass.PipeTensor:
		return matrixWriter(p)
	}
	if p.Op == sass.LEPC {
		return writesPair
	}
	return writesOther
}

// matrixWriter returns the class of a matrix product.
func matrixWriter(p *sass.Inst) writer {
	switch shape := p.Mod(sass.MmaShape); {
	case shape == sass.Mma8816, shape == sass.Mma8832, shape == sass.Mma88128, shape == sass.Mma168128:
		return writesBits
	case p.Op == sass.IMMA, p.Op == sass.BMMA, shape == sass.Mma1684:
		return writesSums
	case shape == sass.Mma1688 && p.Mod(sass.SrcType) != sass.TypeTF32:
		return writesMatrix
	}
	return writesMatrix2
}

// wide reports whether an instruction is a multiplication with a result of 64 bits.
func wide(in *sass.Inst) bool {
	return in.Op == sass.IMAD && in.Form.Pipe == sass.PipeFMA && slices.ContainsFunc(in.Operands, func(o sass.Operand) bool {
		return o.Kind == sass.KindReg && o.Dest && o.Width == 2
	})
}

// readerOf returns the class of an instruction that reads a register.
func readerOf(q *sass.Inst, reg uint8) reader {
	switch q.Form.Pipe {
	case sass.PipeALU, sass.PipeFMA:
		switch {
		case q.Variable():
			return readsUnit // R2UR, REDUX
		case q.Op == sass.VIADD:
			return readsFMA
		case q.Form.Pipe == sass.PipeALU:
			return readsALU
		case q.Op == sass.HFMA2:
			return readsDouble
		case wide(q):
			return wideReader(q, reg)
		}
		return readsFMA
	case sass.PipeFP16:
		return readsHalf
	case sass.PipeFP64:
		return readsDouble
	case sass.PipeTensor:
		return readsTensor
	case sass.PipeLSU:
		if q.Op != sass.MATCH && q.Op != sass.SYNCS {
			return readsMemory
		}
	case sass.PipeTEX:
		return readsTexture
	}
	return readsUnit
}

// wideReader tells the factors of an IMAD.WIDE from the halves of what it adds. A register that is both is needed as early
// as the factor.
func wideReader(q *sass.Inst, reg uint8) reader {
	class := readsWideHi
	for i := range q.Operands {
		switch o := &q.Operands[i]; {
		case o.Kind != sass.KindReg || !o.Source || reg < o.Reg || int(reg) >= int(o.Reg)+max(1, int(o.Width)):
		case o.Width != 2:
			return readsWide
		case reg == o.Reg:
			class = readsFMA
		}
	}
	return class
}

// between returns the latency of a uniform register or predicate that p writes and q reads.
func (*uniformLatencies) between(table *[numUniformReaders][2]int, p, q *sass.Inst, r sass.Resource) int {
	by := 0
	if c := p.Op.Properties().Class; c == sass.ClassConstant || c == sass.ClassDispatch {
		by = 1
	}
	return table[uniformReaderOf(q, r)][by]
}

// uniformReaderOf returns the class of an instruction that reads a uniform register or predicate.
func uniformReaderOf(q *sass.Inst, r sass.Resource) uniformReader {
	if r >= sass.ResUPred && q.Guard.Uniform && q.Guard.Reg == uint8(r-sass.ResUPred) && q.Form.Pipe != sass.PipeCBU {
		return uniformToDispatch
	}
	if q.Op.Properties().Class == sass.ClassConstant {
		return uniformToConstant
	}
	switch q.Form.Pipe {
	case sass.PipeUniform:
		if q.Op.Properties().Class == sass.ClassDispatch {
			return uniformToDispatch
		}
		return uniformToUniform
	case sass.PipeCBU:
		return uniformToBranch
	case sass.PipeALU, sass.PipeFMA, sass.PipeFP16:
		return uniformToMath
	}
	return uniformToUnit
}

// most returns the longest latency of the table.
func (t *latencyTable) most() int {
	most := max(t.guard, t.barrier, t.counter)
	for _, row := range t.registers {
		most = max(most, slices.Max(row[:]))
	}
	if t.uniform != nil {
		for _, row := range append(t.uniform.registers[:], t.uniform.predicates[:]...) {
			most = max(most, row[0])
		}
	}
	return max(most, t.model.Latencies.Cross.Int())
}

// slowest returns the cycles until the result of an instruction of fixed latency is written.
func (t *latencyTable) slowest(p *sass.Inst, reg uint8) int {
	return slices.Min([]int{t.registers[readsALU][writerOf(p, reg)], t.registers[readsFMA][writerOf(p, reg)]})
}

// overwrite returns how many cycles after p, of fixed latency, an instruction q of fixed latency may write the same
// register: its result must not come first.
func (t *latencyTable) overwrite(p, q *sass.Inst, r sass.Resource) int {
	if r >= sass.ResUReg {
		return 1
	}
	return max(1, t.slowest(p, uint8(r))-t.slowest(q, uint8(r)))
}
