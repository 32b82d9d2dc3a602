package advisor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gpa/blamer"
	"gpa/blamer/sasstest"
)

// TestAdviceIsSound holds for arbitrary code and samples: nothing is listed under 1.02, no code optimizer promises more
// than all its matched stalls gone, no latency hiding more than a factor of two, the best comes first, and everything
// listed says what to do and where.
func TestAdviceIsSound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := sasstest.New(t, sasstest.Draw(rt))
		p.Launch.Grid[0] = rapid.IntRange(1, 200).Draw(rt, "blocks")
		p.Launch.Block[0] = rapid.IntRange(1, 1024).Draw(rt, "threads")
		r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		advice, err := Advise(r, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		total := NewInput(r).Total
		for _, a := range advice {
			checkSound(rt, a, total)
		}
		others := slices.DeleteFunc(slices.Clone(advice), func(a Advice) bool { return len(a.Overlaps) >= mostWays }) // further ways stand at the end
		if !slices.IsSortedFunc(others, func(x, y Advice) int { return cmp.Or(certainty(&x)-certainty(&y), cmp.Compare(y.Speedup, x.Speedup)) }) {
			rt.Fatalf("not ranked: %v", others)
		}
		if again, _ := Advise(r, Options{}); fmt.Sprint(speedups(again)) != fmt.Sprint(speedups(advice)) {
			rt.Fatal("a second look gives other advice")
		}
	})
}

func checkSound(t *rapid.T, a Advice, total float64) {
	m := a.Match
	if !(a.Speedup >= 1.02) || math.IsInf(a.Speedup, 0) {
		t.Fatalf("%s: speedup %g", a.Optimizer, a.Speedup)
	}
	if a.Class != Parallel && a.Speedup > EliminateStalls(total, m.Samples)+1e-9 {
		t.Fatalf("%s: speedup %g of %g matched samples of %g", a.Optimizer, a.Speedup, m.Samples, total)
	}
	if a.Class == LatencyHiding {
		checkHiding(t, a, total)
	}
	if i := a.Interval; !(i[0] > 0 && i[0] <= a.Speedup && i[1] >= a.Speedup && !math.IsInf(i[1], 0)) {
		t.Fatalf("%s: interval %v of %g", a.Optimizer, i, a.Speedup)
	}
	if a.Class != Parallel && len(m.Hotspots) == 0 || len(m.Hotspots) > 5 || len(m.Suggestions) == 0 {
		t.Fatalf("%s: %d hotspots, %d suggestions", a.Optimizer, len(m.Hotspots), len(m.Suggestions))
	}
}

// checkHiding holds the parts of an estimate by hiding latency apart: what goes altogether, by Equation 2, and what is hidden. Where
// active samples hide it, by Equation 4 that is at most half of what is left, a factor of two. The best order of the code, where it
// is known, lets loads that are under way together hide each other's latency as well: all that was matched then, but no more.
func checkHiding(t *rapid.T, a Advice, total float64) {
	m := a.Match
	bound := 2 * EliminateStalls(total, m.Gone)
	if m.Scheduled {
		bound = EliminateStalls(total, m.Gone+min(m.Hidden, m.Latency))
	}
	if a.Speedup > bound+1e-9 {
		t.Fatalf("%s: speedup %g by hiding %g of %g latency samples, active %g; %g go altogether, of %g", a.Optimizer, a.Speedup, m.Hidden, m.Latency, m.Active, m.Gone, total)
	}
	if !(m.Gone >= 0 && m.Latency >= 0 && m.Hidden >= 0) || m.Gone+m.Latency > m.Samples+1e-9 {
		t.Fatalf("%s: %g samples go and %g of latency are matched, of %g", a.Optimizer, m.Gone, m.Latency, m.Samples)
	}
}

func speedups(advice []Advice) []string {
	var list []string
	for _, a := range advice {
		list = append(list, fmt.Sprintf("%s %v", a.Optimizer, a.Speedup))
	}
	return list
}
