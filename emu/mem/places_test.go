package mem

import (
	"testing"

	"gpa/emu/arch"
)

// TestPlaces holds that lines which all lie in few slices of a GPU lie in as small a share of those of its parts, or in one, and that lines
// in a row are spread evenly.
func TestPlaces(t *testing.T) {
	model, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	const lines = 1 << 14
	for _, parts := range []int{2, 4, 8, 16} {
		part, _ := model.Part(parts)
		x := newPlaces(part)
		each := make([]int, x.slices)
		for line := range uint64(lines) {
			set := x.set(line)
			if set >= uint64(x.l2Sets) {
				t.Fatalf("1/%d: line %d is in set %d of %d", parts, line, set, x.l2Sets)
			}
			if slice, _ := x.sequence(x.whole.set(line)); slice != set%uint64(x.slices) {
				t.Fatalf("1/%d: line %d is in slices %d and %d", parts, line, slice, set%uint64(x.slices))
			}
			each[set%uint64(x.slices)]++
		}
		for slice, n := range each {
			if n != lines/x.slices {
				t.Errorf("1/%d: slice %d of %d has %d of %d lines", parts, slice, x.slices, n, lines)
			}
		}
		const stride, window = 64, 8
		crowded := make(map[uint64]bool)
		for i := range x.wholeSets / stride * window {
			crowded[x.set(i/window*stride+i%window)%uint64(x.slices)] = true
		}
		if most := max(1, x.slices*window/model.L2.Slices.Int()); len(crowded) > most {
			t.Errorf("1/%d: an eighth of the slices of the GPU is %d of %d", parts, len(crowded), x.slices)
		}
	}
}
