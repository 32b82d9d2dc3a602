package emu

import "gpa/cubin/sass"

// minmaxCompilers are the integer minima and maxima of sm_90. The predicate chooses the minimum.
var minmaxCompilers = map[sass.Op]compiler{
	sass.VIMNMX:    compileIMNMX,
	sass.VIMNMX3:   compileMinmax(func(a, b, c uint32, least func(x, y uint32) uint32) uint32 { return least(least(a, b), c) }),
	sass.VIADDMNMX: compileMinmax(func(a, b, c uint32, least func(x, y uint32) uint32) uint32 { return least(a+b, c) }),
}

// compileMinmax is for instructions of three operands.
func compileMinmax(combine func(a, b, c uint32, least func(x, y uint32) uint32) uint32) compiler {
	return func(p *program, o *op) error {
		low, high := minS32, maxS32
		if o.inst.Mod(sass.U32) != 0 {
			low, high = minU32, maxU32
		}
		o.run = func(w *warp, o *op) error {
			a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
			smaller := w.get(o.pp)
			for i := range d {
				least := high
				if smaller>>i&1 != 0 {
					least = low
				}
				d[i] = combine(a[i], b[i], c[i], least)
			}
			w.done(o, 1)
			return nil
		}
		return p.resolve(o, layout{0, none, none, 1, 2, 3, 4, none}, intValue)
	}
}

func minS32(x, y uint32) uint32 { return uint32(min(int32(x), int32(y))) }
func maxS32(x, y uint32) uint32 { return uint32(max(int32(x), int32(y))) }
func minU32(x, y uint32) uint32 { return min(x, y) }
func maxU32(x, y uint32) uint32 { return max(x, y) }
