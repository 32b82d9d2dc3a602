package emu

import (
	"fmt"

	"gpa/cubin/sass"
)

// minmaxCompilers are the integer minima and maxima of sm_90. The predicate chooses the minimum.
var minmaxCompilers = map[sass.Op]compiler{
	sass.VIMNMX:    compileVIMNMX,
	sass.VIMNMX3:   compileMinmax(layoutABCP, func(a, b, c uint32, t *laneType, least laneOp) uint32 { return least(least(a, b), c) }),
	sass.VIADDMNMX: compileMinmax(layoutABCP, func(a, b, c uint32, t *laneType, least laneOp) uint32 { return least(t.add(a, b), c) }),
}

// compileVIMNMX: the minimum or maximum of two.
func compileVIMNMX(p *program, o *op) error {
	return compileMinmax(layout{0, none, none, 3, 4, none, 5, none}, func(a, b, _ uint32, _ *laneType, least laneOp) uint32 { return least(a, b) })(p, o)
}

// compileVIADD: with .16x2, sums of halves, with .U8x4 of bytes, or differences.
func compileVIADD(p *program, o *op) error {
	kind, minus := o.inst.Mod(sass.Lanes), o.inst.Operands[2].Neg
	if kind == sass.TypeS32 {
		return simple(layoutAB, intValue, iadd3)(p, o)
	}
	if kind == sass.TypeU8x4 {
		o.run = func(w *warp, o *op) error { return w.eachLane(o, addBytes(minus)) }
		return p.resolve(o, layoutAB, rawValue)
	}
	if kind != sass.TypeS16x2 || minus {
		return unsupported(o)
	}
	add := laneTypes[sass.TypeS16x2].add
	o.run = func(w *warp, o *op) error {
		return w.eachLane(o, func(a, b, _ uint32) uint32 { return add(a, b) })
	}
	return p.resolve(o, layoutAB, intValue)
}

// layoutABCP is Rd, A, B, C, Pp.
var layoutABCP = layout{0, none, none, 1, 2, 3, 4, none}

// A laneOp computes a register, or each half of it, from two.
type laneOp func(x, y uint32) uint32

// A laneType says what registers hold: one integer or two, signed or not.
type laneType struct {
	low, high, add laneOp
	relu           laneOp // the larger of x and zero, whatever y is; nil where that means nothing
}

var laneTypes = map[uint16]*laneType{
	sass.TypeS32:   {minS32, maxS32, addInt, func(x, _ uint32) uint32 { return maxS32(x, 0) }},
	sass.TypeU32:   {minU32, maxU32, addInt, nil},
	sass.TypeS16x2: {eachHalf(minS16), eachHalf(maxS16), eachHalf(addInt), eachHalf(func(x, _ uint32) uint32 { return maxS16(x, 0) })},
	sass.TypeU16x2: {eachHalf(minU32), eachHalf(maxU32), eachHalf(addInt), nil},
	sass.TypeU8x4:  {eachByte(minU32), eachByte(maxU32), eachByte(addInt), nil},
	sass.TypeS8x4:  {eachByte(minS8), eachByte(maxS8), eachByte(addInt), eachByte(func(x, _ uint32) uint32 { return maxS8(x, 0) })},
}

// compileMinmax is for instructions of two or three operands, which combine joins.
func compileMinmax(l layout, combine func(a, b, c uint32, t *laneType, least laneOp) uint32) compiler {
	return func(p *program, o *op) error {
		t, relu := laneTypes[o.inst.Mod(sass.Lanes)], o.inst.Mod(sass.Relu) != 0
		if t == nil || relu && t.relu == nil {
			return unsupported(o)
		}
		o.run = func(w *warp, o *op) error {
			a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
			smaller := w.get(o.pp)
			for i := range d {
				least := t.high
				if smaller>>i&1 != 0 {
					least = t.low
				}
				if d[i] = combine(a[i], b[i], c[i], t, least); relu {
					d[i] = t.relu(d[i], 0)
				}
			}
			w.done(o, 1)
			return nil
		}
		return p.resolve(o, l, intValue)
	}
}

// eachHalf applies an operation on 16-bit integers, in the low halves of registers, to both halves.
func eachHalf(f laneOp) laneOp {
	return func(x, y uint32) uint32 { return f(x&0xffff, y&0xffff)&0xffff | f(x>>16, y>>16)<<16 }
}

// eachByte applies an operation on 8-bit integers, in the low bytes of registers, to all four.
func eachByte(f laneOp) laneOp {
	return func(x, y uint32) (r uint32) {
		for at := 0; at < 32; at += 8 {
			r |= f(x>>at&0xff, y>>at&0xff) & 0xff << at
		}
		return r
	}
}

// addBytes adds bytes to bytes, or subtracts them (CUDA's __vadd4 and __vsub4).
func addBytes(minus bool) func(a, b, c uint32) uint32 {
	f := eachByte(func(x, y uint32) uint32 {
		if minus {
			return x - y
		}
		return x + y
	})
	return func(a, b, _ uint32) uint32 { return f(a, b) }
}

func addInt(x, y uint32) uint32 { return x + y }
func minS32(x, y uint32) uint32 { return uint32(min(int32(x), int32(y))) }
func maxS32(x, y uint32) uint32 { return uint32(max(int32(x), int32(y))) }
func minU32(x, y uint32) uint32 { return min(x, y) }
func maxU32(x, y uint32) uint32 { return max(x, y) }
func minS16(x, y uint32) uint32 { return uint32(min(int16(x), int16(y))) }
func maxS16(x, y uint32) uint32 { return uint32(max(int16(x), int16(y))) }
func minS8(x, y uint32) uint32  { return uint32(min(int8(x), int8(y))) }
func maxS8(x, y uint32) uint32  { return uint32(max(int8(x), int8(y))) }

// compileXorSign checks the operands of a minimum with .XORSIGN, which compilers write with absolute values: the magnitude is
// theirs, the sign of a number the XOR of the signs of the operands before (PTX ISA, min.xorsign.abs). c becomes the second
// operand as it was.
func (p *program) compileXorSign(o *op) (bool, error) {
	if o.inst.Mod(sass.XorSign) == 0 {
		return false, nil
	}
	for _, s := range o.inst.Operands[1:3] {
		if !s.Abs || s.Neg || s.Kind == sass.KindImm {
			return false, fmt.Errorf("%s of operands that are not absolute values is not supported", o.inst.Mnemonic())
		}
	}
	var err error
	o.c, err = p.source(&o.inst.Operands[2], rawValue)
	return true, err
}
