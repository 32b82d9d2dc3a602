package reports

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatchLines(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		want                []int
	}{
		{"the same", "a b c", "a b c", []int{0, 1, 2}},
		{"one added", "a b c", "a x b c", []int{0, 2, 3}},
		{"one removed", "a b c", "a c", []int{0, -1, 1}},
		{"one changed", "a b c", "a x c", []int{0, 1, 2}},
		{"two changed into three", "a b c d", "a x y z d", []int{0, 1, 2, 4}},
		{"moved", "a b c d e", "b c d a e", []int{-1, 0, 1, 2, 4}},
		{"all gone", "a b", "", []int{-1, -1}},
		{"changes apart", "a b c d e", "a x c y e", []int{0, 1, 2, 3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := matchLines(strings.Fields(c.before), strings.Fields(c.after)); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// Matches go forward, and no line is matched twice.
func TestMatchLinesIsMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 12)
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		last := -1
		for i, to := range matchLines(before, after) {
			if to < 0 {
				continue
			}
			if to <= last || to >= len(after) {
				t.Fatalf("line %d has become %d after %d", i, to, last)
			}
			last = to
		}
	})
}
