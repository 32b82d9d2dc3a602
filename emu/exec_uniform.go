package emu

import (
	"fmt"
	"math/bits"

	"gpa/cubin/sass"
)

// The uniform datapath (sm_75 and later) executes an instruction once for a warp, on uniform registers and predicates. A
// warp keeps each of them as a row with the same value in all lanes. So instructions on registers read them at no cost,
// and uniform instructions are executed by the executors of their vector counterparts.

var uniformCompilers = map[sass.Op]compiler{
	sass.UBMSK:   once(compileBMSK),
	sass.UBREV:   once(simple(layoutB, intValue, brev)),
	sass.UFLO:    once(compileFLO),
	sass.UIADD3:  once(compileUIADD3),
	sass.UP2UR:   once(compileUP2UR),
	sass.UPLOP3:  once(compilePLOP3),
	sass.UIMAD:   once(compileIMAD),
	sass.UISETP:  once(compileISETP),
	sass.ULEA:    once(compileLEA),
	sass.ULOP3:   once(compileLOP3),
	sass.UMOV:    once(compileUMOV),
	sass.UPOPC:   once(simple(layoutB, intValue, popc)),
	sass.UPRMT:   once(compilePRMT),
	sass.USEL:    once(compileSEL),
	sass.USGXT:   once(compileSGXT),
	sass.USHF:    once(compileSHF),
	sass.ULDC:    once(compileLDC),
	sass.LDCU:    once(compileLDC),
	sass.UFADD:   once(compileFADD),
	sass.UFFMA:   once(compileFFMA),
	sass.UFMUL:   once(compileFMUL),
	sass.UFSEL:   once(compileFSEL),
	sass.UFSETP:  once(compileFSETP),
	sass.UI2F:    once(compileConversion),
	sass.UI2FP:   once(compileConversion),
	sass.UF2I:    once(compileConversion),
	sass.UVIMNMX: once(compileVIMNMX),
	sass.S2UR:    compileS2UR,
	sass.R2UR:    compileR2UR,
	sass.REDUX:   compileREDUX,
	sass.CREDUX:  compileREDUX,
	sass.VOTEU:   compileVOTEU,
}

// once makes the compiler of an instruction of the uniform datapath out of that of its vector counterpart: it is executed
// for all lanes, whichever of them are active, if the uniform guard is true.
func once(vector compiler) compiler {
	return func(p *program, o *op) error {
		if err := vector(p, o); err != nil {
			return err
		}
		run := o.run
		o.run = func(w *warp, o *op) error {
			if w.mask == 0 {
				return nil
			}
			mask := w.mask
			w.mask = allLanes
			err := run(w, o)
			w.mask = mask
			return err
		}
		return nil
	}
}

// compileUIADD3: with .64, a sum of register pairs. ptxas adds pointers and offsets with it on sm_90, always without carries;
// what its predicates would do is not known, so that they are refused.
func compileUIADD3(p *program, o *op) error {
	if o.inst.Mod(sass.Size) != sass.Size64 {
		return compileIADD3(p, o)
	}
	if o.inst.Operands[1].Reg != sass.UPT || o.inst.Operands[2].Reg != sass.UPT {
		return fmt.Errorf("%s with a carry is not supported", o.inst.Mnemonic())
	}
	o.run = func(w *warp, o *op) error {
		var sum uint64
		for _, s := range []*source{&o.a, &o.b, &o.c} {
			low, high := w.rawPair(s)
			if v := uint64(high[0])<<32 | uint64(low[0]); s.neg {
				sum -= v
			} else {
				sum += v
			}
		}
		*w.out(o, 0), *w.out(o, 1) = *broadcast(uint32(sum)), *broadcast(uint32(sum >> 32))
		w.done(o, 2)
		return nil
	}
	return p.resolve(o, layout{0, none, none, 3, 4, 5, none, none}, rawValue)
}

// compileUP2UR puts the uniform predicates that the mask b names into a byte of a.
func compileUP2UR(p *program, o *op) error {
	o.n = 8 * uint32(o.inst.Mod(sass.ByteSel))
	o.run = func(w *warp, o *op) error {
		var set uint32
		for reg := range uint8(sass.UPT) {
			set |= w.preds[uniformPredicate(reg)] & 1 << reg
		}
		mask := w.in(&o.b, 1)[0] & 0xff
		w.setUniform(o, w.in(&o.a, 0)[0]&^(mask<<o.n)|(set&mask)<<o.n)
		return nil
	}
	return p.resolve(o, layout{0, none, none, 2, 3, none, none, none}, intValue)
}

// setUniform gives a uniform register its value.
func (w *warp) setUniform(o *op, v uint32) {
	row := &w.regs[o.dst]
	for i := range row {
		row[i] = v
	}
}

// compileS2UR: a special register that differs among the lanes gives the value of the lowest that executes.
func compileS2UR(p *program, o *op) error {
	read := specialRegisterOf(o.inst)
	if read == nil {
		return unsupported(o)
	}
	o.dst = p.dest(&o.inst.Operands[0])
	o.run = func(w *warp, o *op) error {
		if w.mask != 0 {
			var values lanes
			read(w, &values)
			w.setUniform(o, values[bits.TrailingZeros32(w.mask)])
		}
		return nil
	}
	return nil
}

func compileR2UR(p *program, o *op) error {
	o.run, o.mode = r2ur, o.inst.Mod(sass.OrBefore)
	return p.resolve(o, layout{1, 0, none, 2, none, none, none, none}, intValue)
}

// r2ur takes the value of the lowest lane that executes. The predicate is true in the lanes that hold another: compiled code
// branches on it where it does not know that they agree. With .OR it stays true where it was: loops over the values of several registers
// gather in one predicate which lanes need another turn.
func r2ur(w *warp, o *op) error {
	if w.mask == 0 {
		return nil
	}
	a := w.in(&o.a, 0)
	v := a[bits.TrailingZeros32(w.mask)]
	var others uint32
	for i := range a {
		if a[i] != v {
			others |= 1 << i
		}
	}
	if o.mode != 0 {
		others |= w.preds[o.pd]
	}
	w.setUniform(o, v)
	w.set(o.pd, others)
	return nil
}

func compileVOTEU(p *program, o *op) error {
	o.mode, o.run = o.inst.Mod(sass.VoteMode), voteu
	return p.resolve(o, layout{0, 1, none, none, none, none, 2, none}, intValue)
}

// voteu is VOTE with a uniform result: it too counts over the lanes that execute.
func voteu(w *warp, o *op) error {
	if w.mask == 0 {
		return nil
	}
	ballot, holds := w.ballot(o)
	w.setUniform(o, ballot)
	if o.pd != sass.PT {
		w.preds[o.pd] = holds
	}
	return nil
}

// reductions are the operations of REDUX.
var reductions = map[uint16]func(a, b uint32) uint32{
	sass.ReduxAND: func(a, b uint32) uint32 { return a & b },
	sass.ReduxOR:  func(a, b uint32) uint32 { return a | b },
	sass.ReduxXOR: func(a, b uint32) uint32 { return a ^ b },
	sass.ReduxSUM: func(a, b uint32) uint32 { return a + b },
	sass.ReduxMIN: func(a, b uint32) uint32 { return min(a, b) },
	sass.ReduxMAX: func(a, b uint32) uint32 { return max(a, b) },
}

// compileREDUX: minimum and maximum of signed integers are those of unsigned ones with the highest bits flipped.
func compileREDUX(p *program, o *op) error {
	kind := o.inst.Mod(sass.ReduxOp)
	if o.inst.Mod(sass.SrcType) == sass.TypeF32 {
		return p.compileFloatREDUX(o, kind)
	}
	reduce := reductions[kind]
	if reduce == nil {
		return unsupported(o)
	}
	var flip uint32
	if o.inst.Mod(sass.SrcType) == sass.TypeS32 && (kind == sass.ReduxMIN || kind == sass.ReduxMAX) {
		flip = 1 << 31
	}
	o.run = func(w *warp, o *op) error { return redux(w, o, reduce, flip) }
	return p.resolve(o, layout{0, none, none, 1, none, none, none, none}, intValue)
}

// compileFloatREDUX: the smallest or largest number of the lanes, or absolute value; a NaN is left out of account, but with .NAN one makes
// the result NaN, as do NaNs alone (PTX ISA, redux.sync).
func (p *program) compileFloatREDUX(o *op, kind uint16) error {
	least, mask := minF32, allLanes
	switch kind {
	case sass.ReduxMIN:
	case sass.ReduxMINABS:
		mask = ^signF32
	case sass.ReduxMAX:
		least = maxF32
	case sass.ReduxMAXABS:
		least, mask = maxF32, ^signF32
	default:
		return unsupported(o)
	}
	nan := o.inst.Mod(sass.NaN) != 0
	reduce := func(a, b uint32) uint32 {
		if a, b = a&mask, b&mask; nan && (isNaNF32(a) || isNaNF32(b)) {
			return nanF32
		}
		return least(a, b)
	}
	o.run = func(w *warp, o *op) error {
		if w.mask == 0 {
			return nil
		}
		a := w.in(&o.a, 0)
		r := a[w.first()]
		for m := w.mask; m != 0; m &= m - 1 { // the first with itself too, for its sign and NaN
			r = reduce(r, a[bits.TrailingZeros32(m)])
		}
		w.setUniform(o, r)
		return nil
	}
	return p.resolve(o, layout{0, none, none, 1, none, none, none, none}, intValue)
}

// redux reduces over the lanes that execute.
func redux(w *warp, o *op, reduce func(a, b uint32) uint32, flip uint32) error {
	if w.mask == 0 {
		return nil
	}
	a := w.in(&o.a, 0)
	r := a[bits.TrailingZeros32(w.mask)] ^ flip
	for m := w.mask & (w.mask - 1); m != 0; m &= m - 1 {
		r = reduce(r, a[bits.TrailingZeros32(m)]^flip)
	}
	w.setUniform(o, r^flip)
	return nil
}
