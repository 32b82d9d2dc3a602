package emu

import "golang.org/x/sys/cpu"

// fastestMMAOps returns the operations that use AVX2 where the processor has it; all that have it convert halves too (F16C).
func fastestMMAOps() *mmaOps {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return portableMMAOps()
	}
	return &mmaOps{
		Gather: func(rows *[8][maxDepth]float64, at int, from *lanes, sign uint32, kind halfType) {
			to := &rows[0][at : at+8][0] // the other rows have as many
			if kind == halvesF16 {
				gatherF16AVX2(to, from, sign)
			} else {
				gatherBF16AVX2(to, from, sign)
			}
		},
		HalfRange: halfRangeAVX2, WordRange: wordRangeAVX2, Dots: dotsAVX2,
		Exponents: func(most *[8]int32, row []int32, columns []int32) {
			exponentsAVX2(most, &row[0], &columns[:8*len(row)][0], len(row))
		},
		Cut: func(sums *[8]float64, row []float64, columns []float64, scale *[8]float64) {
			cutAVX2(sums, &row[0], &columns[:8*len(row)][0], scale, len(row))
		},
	}
}

//go:noescape
func gatherF16AVX2(to *float64, from *lanes, sign uint32)

//go:noescape
func gatherBF16AVX2(to *float64, from *lanes, sign uint32)

//go:noescape
func halfRangeAVX2(r *magnitudes, from *lanes)

//go:noescape
func wordRangeAVX2(r *magnitudes, from *lanes)

//go:noescape
func dotsAVX2(sums *[16][8]float64, a *[16][maxDepth]float64, b *[8][maxDepth]float64, rows, depth int)

//go:noescape
func exponentsAVX2(most *[8]int32, row, columns *int32, depth int)

//go:noescape
func cutAVX2(sums *[8]float64, row, columns *float64, scale *[8]float64, depth int)
