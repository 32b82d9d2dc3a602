package reconv

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// figure1 is Figure 1 of Thread Frontiers, which is Figure 7 of Wu et al. too: blocks 0 to 4 are BB1 to BB5.
var figure1 = graph{succs: [][]int{{1, 2}, {2, 5}, {3, 4}, {4, 5}, {5}, {}}}

// figure1Paths are the paths of the paper's four threads.
func figure1Paths() chooser {
	return onPaths([]int{0, 2, 3, 4, 5}, []int{0, 1, 5}, []int{0, 1, 2, 4, 5}, []int{0, 1, 2, 3, 5})
}

// The schedules of Figure 1: PDOM executes 8 blocks, and thread frontiers 5, whether on a sorted stack or on Sandybridge
// (Figure 4).
func TestFigure1Schedules(t *testing.T) {
	frontier := []Group{{0, 0b1111}, {1, 0b1110}, {2, 0b1101}, {3, 0b1001}, {4, 0b0101}, {5, 0b1111}}
	for _, test := range []struct {
		model   Model
		want    []Group
		entries int
	}{
		{PDOM{}, []Group{{0, 0b1111}, {1, 0b1110}, {2, 0b1100}, {3, 0b1000}, {4, 0b0100}, {2, 0b0001}, {3, 0b0001}, {4, 0b0001}, {5, 0b1111}}, 4},
		{TFStack{}, frontier, 3},
		{TFSandy{}, frontier, 3},
	} {
		t.Run(test.model.Name(), func(t *testing.T) {
			e := figure1.play(figure1.plan(t, test.model), 4, figure1Paths())
			if diff := cmp.Diff(test.want, e.log); diff != "" {
				t.Error(diff)
			}
			if e.stats.Entries != test.entries || e.stats.Empty != 0 {
				t.Errorf("%+v, want %d entries and nothing empty", e.stats, test.entries)
			}
		})
	}
	t.Run("mimd", func(t *testing.T) {
		if e := figure1.play(figure1.plan(t, MIMD{}), 4, figure1Paths()); e.stats.Bound != 6 {
			t.Errorf("bound %d, want 6 with the exit", e.stats.Bound)
		}
	})
}

// Figure 7 of Wu et al.: seven threads on all seven paths. With Entry and Exit PDOM takes 12 slots with 39 enabled
// threads, 3.25 on average.
func TestWuFigure7(t *testing.T) {
	var paths [][]int
	var walk func(path []int)
	walk = func(path []int) {
		last := path[len(path)-1]
		if last == 5 {
			paths = append(paths, path)
		}
		for _, to := range figure1.succs[last] {
			walk(append(slices.Clone(path), to))
		}
	}
	walk([]int{0})
	for _, test := range []struct {
		model          Model
		slots, threads int
	}{
		{PDOM{}, 12, 39},
		{TFStack{}, 7, 39},
	} {
		e := figure1.play(figure1.plan(t, test.model), len(paths), onPaths(paths...))
		slots, threads := 1, len(paths) // of Entry
		for _, g := range e.log {
			slots++
			for m := g.Lanes; m != 0; m &= m - 1 {
				threads++
			}
		}
		if slots != test.slots || threads != test.threads {
			t.Errorf("%s: %d slots with %d threads, want %d with %d", test.model.Name(), slots, threads, test.slots, test.threads)
		}
	}
}

// Figure 2: a barrier before the post-dominator stops PDOM, and one in a loop stops thread frontiers if the side path has
// the lower priority. The rule for barriers cures that.
func TestFigure2Deadlocks(t *testing.T) {
	a := graph{succs: [][]int{{1, 2}, {3, 4}, {3}, {4}, {}}, bars: []int{3}}
	c := graph{succs: [][]int{{1}, {2, 3}, {0, 4}, {2}, {}}, bars: []int{1}}
	pathsA := func() chooser { return onPaths([]int{0, 1, 3, 4}, []int{0, 2, 3, 4}) }
	pathsC := func() chooser { return onPaths([]int{0, 1, 2, 0, 1, 2, 4}, []int{0, 1, 3, 2, 0, 1, 2, 4}) }
	for _, test := range []struct {
		name  string
		g     graph
		plan  Plan
		paths chooser
		stuck uint32 // lanes that wait at the barrier
		queue uint32 // lanes that come after them
	}{
		{"a under PDOM", a, a.plan(t, PDOM{}), pathsA(), 0b01, 0b10},
		{"a under TF-STACK", a, a.plan(t, TFStack{}), pathsA(), 0, 0},
		{"a under TF-SANDY", a, a.plan(t, TFSandy{}), pathsA(), 0, 0},
		{"a under VOLTA", a, a.plan(t, Volta{}), pathsA(), 0, 0},
		{"c under PDOM", c, c.plan(t, PDOM{}), pathsC(), 0, 0},
		{"c with BB2 before BB3", c, c.ordered(t, []int{0, 1, 2, 3, 4}, false), pathsC(), 0b01, 0b10},
		{"d, BB3 before BB2", c, c.ordered(t, []int{0, 1, 3, 2, 4}, false), pathsC(), 0, 0},
		{"c with the rule for barriers", c, c.plan(t, TFStack{}), pathsC(), 0, 0},
		{"c with the rule for barriers under TF-SANDY", c, c.plan(t, TFSandy{}), pathsC(), 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := test.g.play(test.plan, 2, test.paths)
			if test.stuck == 0 {
				if len(e.stuck) > 0 {
					t.Errorf("stuck: %+v", e.stuck)
				}
				return
			}
			if len(e.stuck) != 2 || e.stuck[0].At != "BAR 0" || e.stuck[0].Lanes != test.stuck || !e.stuck[1].Queued || e.stuck[1].Lanes != test.queue {
				t.Errorf("stuck: %+v", e.stuck)
			}
		})
	}
}

// Conservative branches of TF-SANDY go through blocks without lanes: the frontier of block 1 has block 2, where nobody
// waits.
func TestSandyGoesThroughEmptyBlocks(t *testing.T) {
	g := graph{succs: [][]int{{1, 2, 3}, {4}, {4}, {4}, {}}}
	e := g.play(g.plan(t, TFSandy{}), 2, onPaths([]int{0, 1, 4}, []int{0, 3, 4}))
	if e.stats.Empty != 1 || e.blocks(g) != 3 {
		t.Errorf("%d empty instructions and %d blocks, want 1 and 3: %+v", e.stats.Empty, e.blocks(g), e.log)
	}
}

// Thread frontiers are not always better than PDOM where there are loops: the smallest cases found.
func TestFrontiersWorseThanPDOM(t *testing.T) {
	selfLoop := graph{succs: [][]int{{2}, {1, 2}, {3, 1}, {}}}
	short, once, twice := []int{0, 2, 3}, []int{0, 2, 1, 2, 3}, []int{0, 2, 1, 1, 1, 2, 3}
	irreducible := graph{succs: [][]int{{2, 1}, {2}, {3, 1}, {}}}
	for _, test := range []struct {
		name     string
		g        graph
		order    []int
		paths    [][]int
		tf, pdom int // blocks, the exit included
	}{
		{"leavers of an inner loop run ahead", selfLoop, []int{0, 2, 1, 3}, [][]int{short, short, once, short, short, once, short, twice}, 8, 7},
		{"irreducible", irreducible, []int{0, 2, 1, 3}, [][]int{{0, 1, 2, 3}, {0, 2, 3}, {0, 1, 2, 3}}, 5, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			tf := test.g.play(test.g.ordered(t, test.order, false), len(test.paths), onPaths(test.paths...))
			pdom := test.g.play(test.g.plan(t, PDOM{}), len(test.paths), onPaths(test.paths...))
			if len(tf.log) != test.tf || len(pdom.log) != test.pdom {
				t.Errorf("TF-STACK %d blocks, PDOM %d, want %d and %d", len(tf.log), len(pdom.log), test.tf, test.pdom)
			}
		})
	}
}
