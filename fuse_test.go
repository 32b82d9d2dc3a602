package gpa

import (
	"math"
	"strings"
	"testing"

	"gpa/advisor"
)

// TestFused holds what is tried of launches that could be one against kernels that are one, compiled, and what is said of them. The launches of
// the file come in threes: two that could be one, and the one.
func TestFused(t *testing.T) {
	for i, c := range []struct {
		word  string // of the advice
		push  bool
		times float64 // that values are computed
	}{
		{"computed 2.0 times", false, 2}, // the columns, by tiles one above the other
		{"as an epilogue", true, 1},
		{"whatever the shapes", false, 1},
		{"whatever the shapes", false, 1},
		{"whatever the shapes", false, 1},
		{"whatever the shapes", false, 1},
		{"computed 4.0 times", false, 4},
	} {
		two, one := launchesOf(t, 3*i, 2), launchesOf(t, 3*i+2, 1)
		name := two.Profile.Launches[0].Kernel
		a := threads(t, two)
		if a == nil {
			t.Errorf("%s: no advice to fuse", name)
			continue
		}
		if !strings.Contains(strings.Join(a.Match.Suggestions, " "), c.word) || a.Match.Change.Joints[0].Push != c.push {
			t.Errorf("%s: the advice is %q", name, a.Match.Suggestions)
		}
		if joint := two.Profile.Joined("")[0].Joints[0]; math.Abs(joint.Times-c.times) > .05 {
			t.Errorf("%s: values are computed %.2f times, not %.2f", name, joint.Times, c.times)
		}
		trial := trial{options: two.options, target: two.Target, before: two.session, result: &two.Result, fusions: make(map[int]int64)}
		o := trial.one(t.Context(), 0, a)
		if o.err != nil {
			t.Fatal(o.err)
		}
		try := o.try
		achieved := float64(two.Profile.Launches[0].Facts.Cycles+two.Profile.Launches[1].Facts.Cycles) / float64(one.Profile.Launches[0].Facts.Cycles)
		t.Logf("%s: estimated %.2f, tried %.2f, compiled %.2f", name, a.Speedup, try.Speedup, achieved)
		if math.Abs(try.Speedup/achieved-1) > .13 {
			t.Errorf("%s: %.2fx when tried, %.2fx compiled (%s)", name, try.Speedup, achieved, try.Why)
		}
	}
}

// TestNotFused holds launches apart that cannot be one: what has nothing to do with the one before, what needs the results of several blocks, and
// what needs sums over the grid.
func TestNotFused(t *testing.T) {
	for _, c := range [][2]int{{2, 2}, {5, 2}, {21, 2}, {23, 2}} {
		r := launchesOf(t, c[0], c[1])
		if c[0] > 20 && len(r.Profile.Launches[1].Inherits.Feeds) == 0 {
			t.Errorf("%s loads nothing of what was stored before", r.Profile.Launches[1].Kernel)
		}
		for k := range r.Launches {
			for i := range r.Launches[k].Advice {
				if a := &r.Launches[k].Advice[i]; a.Match.Launches > 1 {
					t.Errorf("%s: %q", r.Profile.Launches[k].Kernel, a.Match.Suggestions)
				}
			}
		}
	}
}

// launchesOf profiles some launches of the test's file.
func launchesOf(t *testing.T, first, n int) *Result {
	t.Helper()
	target, err := Load("testdata/fusion.yaml", LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	target.File.Launches = target.File.Launches[first : first+n]
	r, err := target.Profile(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Advise(AdviceOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	return r
}

// threads is the advice on the first launch to make it one with others by their threads.
func threads(t *testing.T, r *Result) *advisor.Advice {
	t.Helper()
	for i := range r.Launches[0].Advice {
		if a := &r.Launches[0].Advice[i]; a.Match.Change != nil && len(a.Match.Change.Joints) > 0 {
			return a
		}
	}
	return nil
}
