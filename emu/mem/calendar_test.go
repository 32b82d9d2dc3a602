package mem

import (
	"testing"

	"pgregory.net/rapid"
)

func TestCalendarFillsGaps(t *testing.T) {
	var c calendar
	if got := c.take(100, 4); got != 100 {
		t.Errorf("first at %d", got)
	}
	if got := c.take(90, 12); got != 90 {
		t.Errorf("what comes before begins at %d", got)
	}
	if got := c.take(95, 1); got != 106 { // 90 to 99 and 104 to 105 are the second's
		t.Errorf("the next free cycle is %d", got)
	}
}

// TestCalendarAgainstMap compares with a set of cycles.
func TestCalendarAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c calendar
		taken := map[int64]bool{}
		now := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			now += rapid.SampledFrom([]int64{0, 1, 5, 100, 5000}).Draw(t, "step")
			c.forget(now)
			from, n := now+rapid.Int64Range(0, 40).Draw(t, "ahead"), rapid.IntRange(1, 40).Draw(t, "cycles")
			want := from
			for taken[want] {
				want++
			}
			for at, left := want, n; left > 0; at++ {
				if !taken[at] {
					taken[at] = true
					left--
				}
			}
			if got := c.take(from, n); got != want {
				t.Fatalf("%d cycles from %d: got %d, want %d", n, from, got, want)
			}
		}
	})
}
