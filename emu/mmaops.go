package emu

import "math"

// mmaOps are what products of matrices are made of. They are there twice, as [vectorOps] are; both give the same bits, Dots where no
// order of its additions rounds.
type mmaOps struct {
	// Gather gives eight rows the eight elements that a register has of each, lanes 4g to 4g+3 those of row g, from an element on. sign flips those of
	// both halves.
	Gather func(rows *[8][maxDepth]float64, at int, from *lanes, sign uint32, kind halfType)
	// HalfRange extends a range by the magnitudes of the halves of a register, WordRange by those of its words.
	HalfRange, WordRange func(r *magnitudes, from *lanes)
	// Dots adds up the products of rows by columns; rows and depth are multiples of 4.
	Dots func(sums *[16][8]float64, a *[16][maxDepth]float64, b *[8][maxDepth]float64, rows, depth int)
	// Exponents are the largest sums of the exponents of a row and of eight columns, Cut the sums of their products, each of which is scaled and loses what
	// lies below the point. Rows have as many elements as columns, those of columns lie eight side by side.
	Exponents func(most *[8]int32, row []int32, columns []int32)
	Cut       func(sums *[8]float64, row []float64, columns []float64, scale *[8]float64)
}

// magnitudes are the largest and the least of some numbers by their bits without the sign, zeros left out, in eight parts: least is one less, so that
// zero is larger than any. The zero value is not empty; see emptyMagnitudes.
type magnitudes struct{ most, least [8]uint32 }

func emptyMagnitudes() (m magnitudes) {
	for i := range m.least {
		m.least[i] = math.MaxUint32
	}
	return m
}

// span is that of floating-point numbers with so many bits of fraction, of which the first ones count, and so large a bias; they have size bits, which are
// two in each part where that is 16.
func (m *magnitudes) span(size, fraction, count, bias int) span {
	most, least := uint32(0), uint32(math.MaxUint32)
	for i := range m.most {
		if size == 16 {
			most, least = max(most, m.most[i]&0xffff, m.most[i]>>16), min(least, m.least[i]&0xffff, m.least[i]>>16)
		} else {
			most, least = max(most, m.most[i]), min(least, m.least[i])
		}
	}
	if most == 0 {
		return emptySpan
	}
	if int(most>>fraction) == 1<<(size-1-fraction)-1 {
		return span{-1 << 16, 1 << 16}
	}
	return span{max(1, int((least+1)>>fraction)) - bias - count, max(1, int(most>>fraction)) - bias + 1}
}

// mmaWise are the operations that this processor executes fastest.
var mmaWise = fastestMMAOps()

// portableMMAOps are the operations for any processor.
func portableMMAOps() *mmaOps {
	return &mmaOps{Gather: gatherHalves, HalfRange: halfRange, WordRange: wordRange, Dots: dots, Exponents: largestExponents, Cut: cutProducts}
}

func gatherHalves(rows *[8][maxDepth]float64, at int, from *lanes, sign uint32, kind halfType) {
	for lane, v := range from {
		to := rows[lane>>2][at+lane&3*2:][:2]
		if v ^= sign; kind == halvesF16 {
			to[0], to[1] = f16ToF64(uint16(v)), f16ToF64(uint16(v>>16))
		} else {
			to[0], to[1] = bf16ToF64(uint16(v)), bf16ToF64(uint16(v>>16))
		}
	}
}

func halfRange(r *magnitudes, from *lanes) {
	for i, v := range from {
		low, high := v&0x7fff, v>>16&0x7fff
		p := &r.most[i&7]
		*p = max(*p&0xffff, low) | max(*p>>16, high)<<16
		p = &r.least[i&7]
		*p = min(*p&0xffff, (low-1)&0xffff) | min(*p>>16, (high-1)&0xffff)<<16
	}
}

func wordRange(r *magnitudes, from *lanes) {
	for i, v := range from {
		v &= signF32 - 1
		r.most[i&7], r.least[i&7] = max(r.most[i&7], v), min(r.least[i&7], v-1)
	}
}

func largestExponents(most *[8]int32, row []int32, columns []int32) {
	for j := range most {
		most[j] = math.MinInt32
	}
	for k, a := range row {
		for j, b := range columns[8*k:][:8] {
			most[j] = max(most[j], a+b)
		}
	}
}

func cutProducts(sums *[8]float64, row []float64, columns []float64, scale *[8]float64) {
	*sums = [8]float64{}
	for k, a := range row {
		for j, b := range columns[8*k:][:8] {
			sums[j] += math.Trunc(float64(a*b) * scale[j])
		}
	}
}

func dots(sums *[16][8]float64, a *[16][maxDepth]float64, b *[8][maxDepth]float64, rows, depth int) {
	for i := range rows {
		for j := range sums[i] {
			sums[i][j] = dotOf(a[i][:depth], b[j][:depth])
		}
	}
}
