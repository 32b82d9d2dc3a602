package emu

import "gpa/cubin/sass"

// mufuFunctions are the functions of the multi-function unit, on bits of single lanes. Those whose name ends in 64H map
// high words of f64.
var mufuFunctions = map[uint16]func(b uint32) uint32{
	sass.MufuCOS:    mufuCOS,
	sass.MufuSIN:    mufuSIN,
	sass.MufuEX2:    mufuEX2,
	sass.MufuLG2:    mufuLG2,
	sass.MufuRCP:    mufuRCP,
	sass.MufuRSQ:    mufuRSQ,
	sass.MufuSQRT:   mufuSQRT,
	sass.MufuRCP64H: mufuRCP64H,
	sass.MufuRSQ64H: mufuRSQ64H,
}

// mufuCompilers has the one instruction of the unit.
var mufuCompilers = map[sass.Op]compiler{sass.MUFU: compileMUFU}

func compileMUFU(p *program, o *op) error {
	fn := o.inst.Mod(sass.MufuFn)
	f := mufuFunctions[fn]
	if f == nil {
		return unsupported(o)
	}
	double := fn == sass.MufuRCP64H || fn == sass.MufuRSQ64H
	saturate := o.inst.Mod(sass.Sat) != 0
	o.run = func(w *warp, o *op) error { return mufu(w, o, f, saturate) }
	if err := p.resolve(o, layoutB, floatValue); err != nil {
		return err
	}
	if double && o.inst.Operands[1].Kind == sass.KindImm { // an immediate is the high word of an f64
		o.b.value = o.b.high
	}
	return nil
}

// mufu computes the lanes that execute; the functions take long.
func mufu(w *warp, o *op, f func(b uint32) uint32, saturate bool) error {
	b, d := w.in(&o.b, 1), w.out(o, 0)
	for m, i := w.mask, 0; m != 0; m, i = m>>1, i+1 {
		if m&1 == 0 {
			continue
		}
		if d[i] = f(b[i]); saturate {
			d[i] = saturateF32(d[i])
		}
	}
	w.done(o, 1)
	return nil
}
