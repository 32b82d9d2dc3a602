package emu

import (
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// Times of dense and sparse products of a warpgroup as Luo et al. (arXiv 2501.12084) measured them, with A in shared memory and in registers.
func TestGroupProductIntervals(t *testing.T) {
	m, err := arch.ByName("h100pcie")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int64{
		"HGMMA.64x256x16.F32 R24, gdesc[UR8], R24, gsb0":                     128,
		"HGMMA.64x256x16.F32 R24, R4, gdesc[UR8], R24, gsb0":                 128,
		"QGMMA.64x256x32.F32.E4M3.E4M3 R24, gdesc[UR8], R24, gsb0":           128,
		"IGMMA.64x256x32.S8.S8 R24, gdesc[UR8], R24, gsb0":                   128,
		"HGMMA.SP.64x256x32.F32 R24, gdesc[UR8], R24, R2, 0x0, gsb0":         144,
		"HGMMA.SP.64x256x32.F32 R24, R152, gdesc[UR8], R24, R156, 0x0, gsb0": 128,
		"HGMMA.64x8x16.F32 R24, gdesc[UR8], R24, gsb0":                       24,
	} {
		in, err := sass.Parse(sass.SM90, 0, text, sass.Control{Stall: 1})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := timingOf(&in, m).interval; got != want {
			t.Errorf("%s: %d cycles, want %d", text, got, want)
		}
	}
}
