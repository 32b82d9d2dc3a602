package cfg

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCycles(t *testing.T) {
	for _, c := range []struct {
		name  string
		succs [][]int
		want  []Cycle
	}{
		{"none", [][]int{{1, 2}, {2}, {}}, nil},
		{"a node that repeats itself", [][]int{{1}, {1, 2}, {}}, []Cycle{{1, []int{1}, -1}}},
		{"a loop in a loop", [][]int{{1}, {2}, {3}, {2, 4}, {1, 5}, {}}, []Cycle{{1, []int{1, 2, 3, 4}, -1}, {2, []int{2, 3}, 0}}},
		{"two entries", [][]int{{1, 2}, {2}, {1, 3}, {}}, []Cycle{{2, []int{1, 2}, -1}}},
		{"not reached", [][]int{{1}, {}, {2}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := (&Shape{Exit: -1, Succs: c.succs}).Cycles()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Without the headers of its cycles nothing in a shape repeats.
func TestCyclesHeadersBreakAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "nodes")
		s := &Shape{Exit: -1, Succs: make([][]int, n)}
		for i := range s.Succs {
			s.Succs[i] = rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, "succs")
		}
		headers := make(map[int]bool)
		for _, c := range s.Cycles() {
			headers[c.Header] = true
		}
		rest := &Shape{Exit: -1, Succs: make([][]int, n)}
		reachable := s.Reachable()
		for i, list := range s.Succs {
			for _, to := range list {
				if reachable[i] && !headers[i] && !headers[to] {
					rest.Succs[i] = append(rest.Succs[i], to)
				}
			}
		}
		for i := range rest.Succs {
			rest.Entry = i
			if left := rest.Cycles(); len(left) > 0 {
				t.Fatalf("%v: %v stays", s.Succs, left)
			}
		}
	})
}
