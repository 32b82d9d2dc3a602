package program

import (
	"slices"
	"testing"

	"gpa/emu"
)

// TestSeries holds which launches of a series are timed: the first two, those at powers of two, and all where they take different times.
func TestSeries(t *testing.T) {
	for _, c := range []struct {
		name   string
		cycles func(n int) int64
		warps  func(n int) int64
		want   []int
	}{
		{"equal", func(int) int64 { return 1000 }, func(int) int64 { return 10 }, []int{1, 2, 4, 8, 16}},
		{"nearly equal", func(n int) int64 { return 1000 + int64(n%3) }, func(int) int64 { return 10 }, []int{1, 2, 4, 8, 16}},
		{"varying", func(n int) int64 { return 1000 + 20*int64(n) }, func(int) int64 { return 10 }, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
		{"varying from the eighth on", func(n int) int64 { return 1000 + 100*int64(n/8) }, func(int) int64 { return 10 }, []int{1, 2, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
		{"another amount in the sixth", func(int) int64 { return 1000 }, func(n int) int64 { return 10 + int64(n)/6%2 }, []int{1, 2, 4, 7, 8, 13, 14}},
	} {
		var s series
		var got []int
		for n := 1; n <= 16; n++ {
			r := &emu.Result{Cycles: c.cycles(n), WarpInstructions: c.warps(n)}
			if s.launches++; !s.untimed() {
				s.timed(r, 0)
				got = append(got, n)
			} else if !s.like(r) {
				s.next = 0
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: timed %v, want %v", c.name, got, c.want)
		}
	}
}
