package emu

import (
	"math"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// TestMMAOps compares the operations that this processor executes fastest with those for any.
func TestMMAOps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	fast, portable := fastestMMAOps(), portableMMAOps()
	for range 2000 {
		from := randomLanes(r)
		for i := range from {
			if r.IntN(3) == 0 {
				from[i] = uint32(r.IntN(1<<16))<<16*uint32(r.IntN(2)) | r.Uint32()&0x8000_8000
			}
		}
		sign := uint32(0x8000_8000) * uint32(r.IntN(2))
		for _, kind := range []halfType{halvesF16, halvesBF16} {
			var got, want [8][maxDepth]float64
			fast.Gather(&got, 8, from, sign, kind)
			portable.Gather(&want, 8, from, sign, kind)
			for i := range got {
				for k, x := range got[i] {
					if y := want[i][k]; math.Float64bits(x) != math.Float64bits(y) && (x == x || y == y) {
						t.Fatalf("row %d, element %d of type %d: %g and %g", i, k, kind, x, y)
					}
				}
			}
		}
		got, want := emptyMagnitudes(), emptyMagnitudes()
		for range 2 {
			fast.HalfRange(&got, from)
			portable.HalfRange(&want, from)
			if got != want {
				t.Fatalf("range of halves: %x and %x", got, want)
			}
			from = randomLanes(r)
		}
		got, want = emptyMagnitudes(), emptyMagnitudes()
		fast.WordRange(&got, from)
		portable.WordRange(&want, from)
		if got != want {
			t.Fatalf("range of words: %x and %x", got, want)
		}
		var a [16][maxDepth]float64
		var b [8][maxDepth]float64
		var sums, expected [16][8]float64
		rows, depth := 8+8*r.IntN(2), 4<<r.IntN(5)
		for k := range maxDepth { // what the depth leaves out does not count
			for i := range a {
				a[i][k] = float64(r.IntN(2001) - 1000)
			}
			for j := range b {
				b[j][k] = float64(r.IntN(2001) - 1000)
			}
		}
		fast.Dots(&sums, &a, &b, rows, depth)
		portable.Dots(&expected, &a, &b, rows, depth)
		if sums != expected {
			t.Fatalf("sums of %d rows and %d products differ", rows, depth)
		}
		columns, exponents, row := make([]float64, 8*depth), make([]int32, 8*depth), make([]int32, depth)
		for i := range columns {
			columns[i], exponents[i] = r.NormFloat64(), int32(r.IntN(300)-150)
		}
		for k := range row {
			row[k] = int32(r.IntN(300) - 150)
		}
		var scale, cut, cutWant [8]float64
		for j := range scale {
			scale[j] = math.Ldexp(1, r.IntN(40)-10)
		}
		fast.Cut(&cut, a[0][:depth], columns, &scale)
		portable.Cut(&cutWant, a[0][:depth], columns, &scale)
		var most, mostWant [8]int32
		fast.Exponents(&most, row, exponents)
		portable.Exponents(&mostWant, row, exponents)
		if cut != cutWant || most != mostWant {
			t.Fatalf("cut %v, %v; exponents %v, %v", cut, cutWant, most, mostWant)
		}
	}
}

// TestSpans holds that what a span says of numbers is true of them.
func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		var halves, words lanes
		all := make([]float64, 0, 64)
		only := r.IntN(3) // numbers of like exponents, of all, few that are not zero
		for i := range halves {
			halves[i] = uint32(r.IntN(1<<10) + 20<<10)
			if only > 0 {
				halves[i] = r.Uint32() & 0xfbff_fbff // no infinities
			}
			if only == 2 && r.IntN(30) > 0 {
				halves[i] = 0
			}
			all = append(all, f16ToF64(uint16(halves[i])), f16ToF64(uint16(halves[i]>>16)))
			if words[i] = randomWord(r); words[i]&infF32 == infF32 {
				words[i] = 0
			}
		}
		m := emptyMagnitudes()
		mmaWise.HalfRange(&m, &halves)
		s, rows := m.span(16, 10, 10, 15), spanOf(all, 11)
		w := emptyMagnitudes()
		mmaWise.WordRange(&w, &words)
		single := w.span(32, 23, 23, 127)
		for i, x := range all {
			for _, within := range []span{s, rows} {
				if x != 0 && (math.Abs(x) >= math.Ldexp(1, within.high) || math.Mod(x, math.Ldexp(1, within.low)) != 0) {
					t.Fatalf("%g is not within %+v", x, within)
				}
			}
			if y := float64(math.Float32frombits(words[i/2])); y != 0 && (math.Abs(y) >= math.Ldexp(1, single.high) || math.Mod(y, math.Ldexp(1, single.low)) != 0) {
				t.Fatalf("%g is not within %+v", y, single)
			}
		}
		halves[r.IntN(32)] = 0x7c00 << 16
		mmaWise.HalfRange(&m, &halves)
		if s := m.span(16, 10, 10, 15); s.high-s.low < 53 {
			t.Fatalf("an infinity is within %+v", s)
		}
	}
	if m := emptyMagnitudes(); m.span(16, 10, 10, 15) != emptySpan || spanOf([]float64{0, 0}, 11) != emptySpan {
		t.Error("zeros have a span that is not empty")
	}
}

// TestMMASums holds that products whose sums come as they do are those that are rounded once, at all exponents.
func TestMMASums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, in := range map[string]mma{
		"HMMA.16816.F32":      {tall: 2, depth: 16, a: mmaFactors[sass.TypeF16], b: mmaFactors[sass.TypeF16]},
		"HMMA.1688.F32.BF16":  {tall: 2, depth: 8, a: mmaFactors[sass.TypeBF16], b: mmaFactors[sass.TypeBF16]},
		"HMMA.1688.F32.TF32":  {tall: 2, depth: 8, a: mmaFactors[sass.TypeTF32], b: mmaFactors[sass.TypeTF32]},
		"QMMA.16832.F32.E4M3": {tall: 2, depth: 32, a: mmaFactors[sass.TypeE4M3], b: mmaFactors[sass.TypeE4M3]},
	} {
		m := in
		m.exact, m.result = true, sass.TypeF32
		fits := 0
		for range 400 {
			w := &warp{regs: make([]lanes, 40), mask: allLanes, scratch: new(scratch)}
			w.preds[sass.PT] = allLanes
			spread := r.IntN(4) // of the exponents
			for i := range w.regs {
				for lane := range w.regs[i] {
					v := r.Uint32()
					if i >= 24 {
						v = math.Float32bits(float32(r.NormFloat64() * math.Ldexp(1, r.IntN(1+8*spread))))
					} else if spread < 3 {
						v = v&0x8fff_8fff | 0x3000_3000 // of 16 bits, away from infinities
						if m.a.halves == halvesBF16 {
							v = v&0x80ff_80ff | 0x3f00_3f00
						}
						if m.a.words {
							v = v&0x807f_ffff | 0x3f00_0000
						}
					}
					if spread == 0 && r.IntN(2) == 0 {
						v &= 0x8000_8000
					}
					w.regs[i][lane] = v
				}
			}
			o := &op{dst: 0, a: source{reg: 8}, b: source{reg: 16}, c: source{reg: 24}, pp: predicate{reg: sass.PT}}
			if err := m.run(w, o); err != nil {
				t.Fatal(err)
			}
			if m.fits(w, o) {
				fits++
			}
			t2 := w.mma
			for lane := range 32 {
				for i := range 4 {
					want := uint32(m.dot(&t2.a[lane>>2+8*(i/2)], &t2.b[2*(lane&3)+i&1], float64(math.Float32frombits(w.regs[24+i][lane])), toF32))
					if got := w.regs[i][lane]; got != want && !(got&^signF32 > infF32 && want&^signF32 > infF32) {
						t.Fatalf("%s: lane %d, element %d: %#x, rounded once %#x", name, lane, i, got, want)
					}
				}
			}
		}
		t.Logf("%s: %d of 400 fit", name, fits)
		if narrow := m.a.halves != noHalves || m.a.words; narrow && (fits == 0 || fits == 400) || !narrow && fits > 0 {
			t.Errorf("%s: %d of 400 fit: not both ways were compared", name, fits)
		}
	}
}

// TestGroupSums holds that products of warpgroups whose numbers are all finite are those of fusedSum.dot, term by term, at all exponents, and that others
// are left to it.
func TestGroupSums(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, c := range []struct {
		name   string
		kind   uint16
		sum    fusedSum
		negate bool
	}{
		{"F16", sass.TypeF16, fusedSum{align: 25, keep: 23}, false}, {"BF16", sass.TypeBF16, fusedSum{align: 25, keep: 23}, true}, {"TF32", sass.TypeTF32, fusedSum{align: 25, keep: 23}, false},
		{"E4M3", sass.TypeE4M3, fusedSum{align: 13, keep: 13}, false}, {"E5M2, half sums", sass.TypeE5M2, fusedSum{align: 13, keep: 13, half: true}, false}, {"F16, half sums", sass.TypeF16, fusedSum{align: 25, keep: 23, half: true}, true},
	} {
		g := &groupProduct{columns: 24, sum: c.sum, negate: c.negate, a: mmaFactors[c.kind], b: mmaFactors[c.kind], format: groupFormats[c.kind], formatB: groupFormats[c.kind]}
		g.elementBytes, g.registers = int(g.a.bits)/8, g.columns/2
		if c.sum.half {
			g.registers /= 2
		}
		finite := 0
		for range 150 {
			a, b := make([]groupRow, groupRows), make([]groupRow, g.columns)
			wild := r.IntN(3)
			fill := func(rows []groupRow) {
				for i := range rows {
					for k := range rows[i] {
						if rows[i][k] = byte(r.Uint32()); wild == 0 && k&1 == 1 || wild < 2 && g.elementBytes == 1 {
							rows[i][k] = rows[i][k]&0x8f | 0x30
						}
						if r.IntN(8) == 0 {
							rows[i][k] = 0
						}
					}
				}
			}
			fill(a)
			fill(b)
			var d [128]lanes
			for i := range d {
				for lane := range d[i] {
					switch d[i][lane] = r.Uint32(); {
					case c.sum.half:
						d[i][lane] &= 0xbbff_bbff
					case wild < 2:
						d[i][lane] = math.Float32bits(float32(math.Ldexp(r.NormFloat64(), r.IntN(40)-20)))
					}
				}
			}
			got := d
			if !g.finite(&got, a, b) {
				continue
			}
			finite++
			depth := groupRowBytes / g.elementBytes
			rows, columns := termsOf(a, g.a, g.format, depth), termsOf(b, g.b, g.formatB, depth)
			if g.negate {
				for i := range rows {
					rows[i] = rows[i].minus()
				}
			}
			for i := range 2 * g.columns / 4 {
				for lane := range 32 {
					row, column := groupElement(lane, i)
					x, y := rows[row*depth:][:depth], columns[column*depth:][:depth]
					var is, want uint32
					if c.sum.half {
						shift := 16 * (i & 1)
						is = got[i/2][lane] >> shift & 0xffff
						want = g.sum.dot(x, y, g.format.frac+g.formatB.frac, half.termOf(f16ToF64(uint16(d[i/2][lane]>>shift))), half.frac)
					} else {
						is = got[i][lane]
						want = g.sum.dot(x, y, g.format.frac+g.formatB.frac, single.termOf(float64(math.Float32frombits(d[i][lane]))), single.frac)
					}
					if is != want {
						t.Fatalf("%s: lane %d, element %d: %#x, term by term %#x", c.name, lane, i, is, want)
					}
				}
			}
		}
		if t.Logf("%s: %d of 150 are finite", c.name, finite); finite == 0 || finite == 150 {
			t.Errorf("%s: %d of 150 are finite: not both ways were met", c.name, finite)
		}
	}
}

// BenchmarkMMA times a product of 16x8x16 halves whose sums fit, whose sums have to be looked at by rows and columns, and whose sums round.
func BenchmarkMMA(b *testing.B) {
	for _, c := range []struct {
		name   string
		spread uint32 // of exponents
		addend float64
	}{{"fits", 0x0c00_0c00, 1}, {"rows", 0x7800_7800, 1}, {"rounds", 0x7800_7800, 1e9}} {
		b.Run(c.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(7, 8))
			w := &warp{regs: make([]lanes, 40), mask: allLanes, scratch: new(scratch)}
			w.preds[sass.PT] = allLanes
			for i := range w.regs {
				for lane := range w.regs[i] {
					if w.regs[i][lane] = r.Uint32()&(c.spread|0x83ff_83ff) | 0x2000_2000; i >= 24 {
						w.regs[i][lane] = math.Float32bits(float32(r.NormFloat64() * c.addend))
					}
				}
			}
			m := mma{tall: 2, depth: 16, a: mmaFactors[sass.TypeF16], b: mmaFactors[sass.TypeF16], exact: true, result: sass.TypeF32}
			o := &op{dst: 0, a: source{reg: 8}, b: source{reg: 16}, c: source{reg: 24}, pp: predicate{reg: sass.PT}}
			for b.Loop() {
				m.run(w, o)
			}
		})
	}
}
