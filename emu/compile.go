package emu

import (
	"fmt"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// A program is the code of a module made ready for one launch: all sections one after another, so that an index in ops
// is a code address.
type program struct {
	ops       []op
	bases     []int32 // by section: index of its first instruction
	banks     [32][]byte
	registers int // that a warp needs
	uniforms  int // uniform registers that it needs
	model     *arch.Model
	packed    map[int32]*op    // by index, what a packed instruction is where it takes no time
	placed    []int32          // by index, the place in the code that the instruction caches hold; nil where that is the index
	relocated map[int32]uint64 // addresses that relocations put into instructions, by index
	at        int32            // index of the instruction that is being compiled
	clustered bool             // clusters have several blocks
	pairing   *pairing         // nil where pairs of blocks do not allocate tensor memory
	flows     []*dataflow      // by index, of the ops for which it was asked
}

// fetchedAt is the place of an instruction in the code that the instruction caches hold.
func (p *program) fetchedAt(index int32) int64 {
	if p.placed != nil {
		index = p.placed[index]
	}
	return int64(index)
}

// A compiler prepares one instruction: it resolves the operands and chooses the executor.
type compiler func(p *program, o *op) error

// codeBases lays the sections of a module out. The gap of one instruction catches what runs off the end of a section.
func codeBases(module *cubin.File) (bases []int32, total int32) {
	for _, c := range module.Codes {
		bases = append(bases, total)
		total += int32(len(c.Insts)) + 1
	}
	return bases, total
}

// compile makes a program with the constant banks of a launch.
func compile(module *cubin.File, banks [32][]byte, m *arch.Model, relocated map[int32]uint64) *program {
	bases, total := codeBases(module)
	p := &program{ops: make([]op, total), bases: bases, banks: banks, model: m, registers: 2, relocated: relocated}
	if p.clustered = bank(banks[0]).clustered(bankLayoutOf(module.Arch)); p.clustered {
		p.pairing = pairingOf(module)
	}
	for _, c := range module.Codes {
		for i := range c.Insts {
			p.compileOne(&p.ops[bases[c.Index]+int32(i)], c, &c.Insts[i], bases[c.Index]+int32(i))
		}
		end := bases[c.Index] + int32(len(c.Insts))
		behind := sass.Undecoded(module.Arch, c.Size(), sass.Word{})
		p.ops[end] = op{run: runOff, inst: &behind, index: end, code: int32(c.Index), guard: sass.PT}
	}
	for i := range p.ops {
		p.place(&p.ops[i])
	}
	return p
}

// place puts the rows of uniform registers and of sinks behind those of the registers, now that their number is known.
func (p *program) place(o *op) {
	for _, r := range []*uint16{&o.a.reg, &o.b.reg, &o.c.reg, &o.u.reg, &o.dst} {
		switch {
		case *r == sinkRegister:
			*r = uint16(p.state())
		case *r >= uniformRow:
			*r += uint16(p.registers) - uniformRow
		}
	}
}

// state is the number of rows that hold registers, uniform ones included; rows is that of all.
func (p *program) state() int { return p.registers + p.uniforms }
func (p *program) rows() int  { return p.state() + sinkRows }

// compileOne prepares an instruction. One that cannot be executed becomes a fault when it is.
func (p *program) compileOne(o *op, c *cubin.Code, in *sass.Inst, index int32) {
	*o = op{inst: in, index: index, code: int32(c.Index), following: min(in.PC+sass.InstSize, c.Size()-sass.InstSize), guard: guardPredicate(in.Guard), guardNot: in.Guard.Neg, generic: in.Op.Properties().Accesses(sass.SpaceGeneric),
		pd: sass.PT, pe: sass.PT, pp: predicate{reg: sass.PT}, pq: predicate{reg: sass.PT}, t: timingOf(in, p.model)}
	p.at = index
	var err error
	switch compile := compilers[in.Op]; {
	case !in.Known(): // its guard is not known either: whoever comes here fails
		o.guard, o.guardNot = sass.PT, false
		err = fmt.Errorf("unknown instruction word %#016x_%016x", in.Word.Hi, in.Word.Lo)
	case in.Purpose() != "":
		err = fmt.Errorf("%s is not supported: instructions of %s are not executed", in.Mnemonic(), in.Purpose())
	case compile == nil:
		err = fmt.Errorf("%s is not supported", in.Op)
	case in.Opaque():
		err = unsupported(o)
	default:
		err = compile(p, o)
		o.ordered = o.ordered || p.clustered && reachesOthers(in)
		o.shows = in.Op.Properties().Writes&(sass.SpaceGlobal|sass.SpaceGeneric) != 0
	}
	if err != nil {
		o.run = func(w *warp, o *op) error {
			if w.mask == 0 {
				return nil
			}
			return w.fault(o, w.first(), Unsupported, err.Error())
		}
	}
}

// runOff is executed behind the last instruction of a section.
func runOff(w *warp, o *op) error {
	return w.fault(o, w.first(), BadJump, "execution ran past the end of the section")
}

// layout says where an instruction's operands are: positions in its operand list, which are the same for all forms of
// an opcode. none is an operand that there is not.
type layout struct {
	dst, pd, pe int
	a, b, c     int
	pp, pq      int
}

const none = -1

// resolve fills in the operands that the layout names.
func (p *program) resolve(o *op, l layout, kind valueKind) error {
	operand := func(i int) *sass.Operand {
		if i < 0 || i >= len(o.inst.Operands) {
			return &sass.Operand{}
		}
		return &o.inst.Operands[i]
	}
	o.dst = p.dest(operand(l.dst))
	o.pd, o.pe = destPredicate(operand(l.pd)), destPredicate(operand(l.pe))
	o.pp, o.pq = predicateOf(operand(l.pp)), predicateOf(operand(l.pq))
	for _, s := range []struct {
		to *source
		at int
	}{{&o.a, l.a}, {&o.b, l.b}, {&o.c, l.c}} {
		var err error
		if *s.to, err = p.source(operand(s.at), kind); err != nil {
			return err
		}
	}
	return nil
}

func destPredicate(o *sass.Operand) uint8 {
	switch o.Kind {
	case sass.KindPred:
		return o.Reg
	case sass.KindUPred:
		return uniformPredicate(o.Reg)
	}
	return sass.PT
}

func guardPredicate(g sass.Guard) uint8 {
	if g.Uniform {
		return uniformPredicate(g.Reg)
	}
	return g.Reg
}

// uniformPredicate is where a warp keeps a uniform predicate, behind the others. UPT is PT.
func uniformPredicate(reg uint8) uint8 {
	if reg == sass.UPT {
		return sass.PT
	}
	return reg + sass.PT + 1
}

// simple is the compiler of an instruction whose executor needs no more than its operands.
func simple(l layout, kind valueKind, run execFunc) compiler {
	return func(p *program, o *op) error {
		o.run = run
		return p.resolve(o, l, kind)
	}
}

// unsupported is the error of a modifier that no executor knows.
func unsupported(o *op) error { return fmt.Errorf("%s is not supported", o.inst.Mnemonic()) }

// The layouts of the operand lists in sass.Op.
var (
	layoutB    = layout{0, none, none, none, 1, none, none, none} // Rd, B
	layoutAB   = layout{0, none, none, 1, 2, none, none, none}    // Rd, A, B
	layoutABC  = layout{0, none, none, 1, 2, 3, none, none}       // Rd, A, B, C
	layoutABP  = layout{0, none, none, 1, 2, none, 3, none}       // Rd, A, B, Pp
	layoutSetp = layout{none, 0, 1, 2, 3, none, 4, 5}             // Pd, Pe, A, B, Pp, Pq
)

// compilers is the table of all instructions that can be executed.
var compilers = merge(uniformCompilers, longCompilers, minmaxCompilers, packCompilers, intCompilers, bitCompilers, logicCompilers, mufuCompilers, floatCompilers, packedCompilers, doubleCompilers, halfCompilers, tensorCompilers, matrixCompilers, copyCompilers, mbarrierCompilers, warpgroupCompilers, tensorMemoryCompilers, tensorProductCompilers, tensorCopyCompilers, bulkCompilers, clusterCompilers, conversionCompilers, warpCompilers,
	memoryCompilers, textureCompilers, surfaceCompilers, controlCompilers)

// merge makes one table of the parts that the files of the executors declare.
func merge(parts ...map[sass.Op]compiler) (table [sass.NumOps]compiler) {
	for _, part := range parts {
		for op, c := range part {
			table[op] = c
		}
	}
	return table
}
