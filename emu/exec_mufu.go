package emu

import (
	"math"
	"math/bits"

	"gpa/cubin/sass"
)

// mufuCompilers is the special function unit.
var mufuCompilers = map[sass.Op]compiler{
	sass.MUFU: compileMUFU,
}

// mufuFunctions are the functions of MUFU; those of 64H map high words of f64.
var mufuFunctions = [...]func(uint32) uint32{
	sass.MufuCOS:    mufuCOS,
	sass.MufuSIN:    mufuSIN,
	sass.MufuEX2:    mufuEX2,
	sass.MufuLG2:    mufuLG2,
	sass.MufuRCP:    mufuRCP,
	sass.MufuRSQ:    mufuRSQ,
	sass.MufuRCP64H: mufuRCP64H,
	sass.MufuRSQ64H: mufuRSQ64H,
	sass.MufuSQRT:   mufuSQRT,
	sass.MufuTANH:   mufuTANH,
}

func compileMUFU(p *program, o *op) error {
	fn := o.inst.Mod(sass.MufuFn)
	if int(fn) >= len(mufuFunctions) {
		return unsupported(o)
	}
	if t := o.inst.Mod(sass.SrcType); t == sass.TypeF16 || t == sass.TypeBF16 {
		return compileHalfMUFU(p, o, mufuFunctions[fn])
	}
	if err := p.resolve(o, layoutB, floatValue); err != nil {
		return err
	}
	if high := fn == sass.MufuRCP64H || fn == sass.MufuRSQ64H; high && o.inst.Operands[1].Kind == sass.KindImm {
		o.b.value = o.b.high
	}
	f := mufuFunctions[fn]
	o.run = func(w *warp, o *op) error { return mufu(w, o, f) }
	return nil
}

// compileHalfMUFU: the function of a half, rounded to a half in the low bits of the result.
func compileHalfMUFU(p *program, o *op, f func(uint32) uint32) error {
	b := &o.inst.Operands[1]
	widen, narrow := f16ToF64, func(x float64) uint16 { return f16FromF64(x, roundRN) }
	if o.inst.Mod(sass.SrcType) == sass.TypeBF16 {
		widen, narrow = bf16ToF64, bf16FromF64
	}
	shift := uint(0)
	if b.Kind != sass.KindImm && b.Swz == sass.SelH1 {
		shift = highHalf
	}
	o.run = func(w *warp, o *op) error {
		return mufu(w, o, func(v uint32) uint32 {
			h := uint16(v >> shift)
			if b.Abs {
				h &= 0x7fff
			}
			if b.Neg {
				h ^= 0x8000
			}
			return uint32(narrow(float64(math.Float32frombits(f(math.Float32bits(float32(widen(h))))))))
		})
	}
	return p.resolve(o, layoutB, rawValue)
}

// mufu computes in the lanes that execute only: each takes long.
func mufu(w *warp, o *op, f func(uint32) uint32) error {
	b, d := w.in(&o.b, 1), &w.regs[o.dst]
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = f(b[i])
	}
	return nil
}
