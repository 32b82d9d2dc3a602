package evaluation

import (
	"math"
	"testing"

	"gpa/profiler"
)

// TestMeasuredLaunches holds which launches a measurement is of, and that numbers of launches that there are not are errors.
func TestMeasuredLaunches(t *testing.T) {
	p := &profiler.Profile{Launches: []*profiler.Launch{{Kernel: "a"}, {Kernel: "b"}}}
	for _, c := range []struct{ launch, count, want int }{
		{0, 0, 1}, {1, 1, 1}, {0, 2, 2}, {1, 2, 0}, {2, 1, 0}, {-1, 1, 0}, {math.MaxInt, 2, 0}, {0, math.MaxInt, 0},
	} {
		list, err := (&measuredPoint{Launch: c.launch, Count: c.count}).emulated(p)
		if len(list) != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("launch %d, %d of them: %d launches, %v", c.launch, c.count, len(list), err)
		}
	}
}
