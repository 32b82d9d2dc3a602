package reconv

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/cubin/cfg"
)

// randomGraph makes a graph of at most n blocks, each on a path from the entry to the exit; ok is false where the dice
// fall otherwise.
func randomGraph(rng *rand.Rand, n int, cyclic bool) (g graph, ok bool) {
	g.succs = make([][]int, n)
	for b := range n - 1 {
		next := b + 1
		if rng.Float64() >= 0.8 {
			next = b + 1 + rng.IntN(n-b-1)
		}
		g.succs[b] = []int{next}
		if rng.Float64() < 0.25 {
			continue
		}
		other := b + 1 + rng.IntN(n-b-1)
		if cyclic && b > 0 && rng.Float64() < 0.3 {
			other = 1 + rng.IntN(b)
		}
		if other != next {
			g.succs[b] = append(g.succs[b], other)
		}
	}
	s := cfg.Shape{Exit: n - 1, Succs: g.succs}
	post := s.PostDominators()
	for b, reachable := range s.Reachable() {
		if !reachable || b < n-1 && post[b] < 0 {
			return graph{}, false
		}
	}
	return g, true
}

// A trial is one graph under all models.
type trial struct {
	g     graph
	lanes int
	runs  map[string]*execution
}

// forGraphs makes n random graphs, each for 4, 8 or 32 lanes.
func forGraphs(n int, cyclic bool, do func(seed uint64, g graph, lanes int)) {
	for seed, made := uint64(0), 0; made < n; seed++ {
		rng := rand.New(rand.NewPCG(seed, 7))
		g, ok := randomGraph(rng, 4+rng.IntN(7), cyclic)
		if !ok {
			continue
		}
		made++
		do(seed, g, []int{4, 8, 32}[made%3])
	}
}

// forTrials plays n random graphs under all models and hands them to check.
func forTrials(t *testing.T, n int, cyclic bool, check func(*testing.T, *trial)) {
	t.Helper()
	forGraphs(n, cyclic, func(seed uint64, g graph, lanes int) {
		r := &trial{g: g, lanes: lanes, runs: make(map[string]*execution)}
		for _, m := range Models() {
			e := g.play(g.plan(t, m), r.lanes, g.random(seed))
			if len(e.stuck) > 0 {
				t.Fatalf("seed %d: %s is stuck: %+v", seed, m.Name(), e.stuck)
			}
			r.runs[m.Name()] = e
		}
		if check(t, r); t.Failed() {
			t.Fatalf("seed %d, %d lanes: %v", seed, r.lanes, g.succs)
		}
	})
}

// bound is the MIMD bound of a run's traces.
func (e *execution) bound(blocks int) (sum int64) {
	for b := range blocks {
		most := int64(0)
		for _, trace := range e.traces {
			n := int64(0)
			for _, x := range trace {
				if x == b {
					n++
				}
			}
			most = max(most, n)
		}
		sum += most
	}
	return sum
}

// holdAlways checks what is true of every graph: the models differ in the order of execution only, none is below the
// bound, and conservative branches never make thread frontiers faster.
func holdAlways(t *testing.T, r *trial) {
	volta := r.runs["volta"]
	bound := volta.bound(len(r.g.succs))
	for name, e := range r.runs {
		if diff := cmp.Diff(volta.traces, e.traces); diff != "" {
			t.Errorf("%s sends lanes elsewhere than volta: %s", name, diff)
		}
		if int64(len(e.log)) < bound {
			t.Errorf("%s executes %d blocks, the bound is %d", name, len(e.log), bound)
		}
	}
	if got := r.runs["mimd"].stats.Bound; got != bound {
		t.Errorf("MIMD counts %d, the traces say %d", got, bound)
	}
	stack, sandy := r.runs["tf-stack"], r.runs["tf-sandy"]
	if diff := cmp.Diff(stack.log, sandy.log); diff != "" {
		t.Errorf("TF-SANDY executes other groups than TF-STACK: %s", diff)
	}
}

// Without cycles thread frontiers reach the bound, and so are never worse than PDOM.
func TestModelsWithoutCycles(t *testing.T) {
	better, empty := 0, 0
	forTrials(t, 1500, false, func(t *testing.T, r *trial) {
		holdAlways(t, r)
		stack, pdom := r.runs["tf-stack"], r.runs["pdom"]
		if bound := stack.bound(len(r.g.succs)); int64(len(stack.log)) != bound {
			t.Errorf("TF-STACK executes %d blocks, the bound is %d", len(stack.log), bound)
		}
		if len(stack.log) < len(pdom.log) {
			better++
		}
		if r.runs["tf-sandy"].stats.Empty > 0 {
			empty++
		}
	})
	if better == 0 || empty == 0 {
		t.Errorf("TF-STACK better than PDOM in %d runs, TF-SANDY with empty blocks in %d: the trials show nothing", better, empty)
	}
	t.Logf("TF-STACK better than PDOM in %d runs of 1500, TF-SANDY with empty blocks in %d", better, empty)
}

// With cycles thread frontiers are mostly better than PDOM, and sometimes worse.
func TestModelsWithCycles(t *testing.T) {
	better, worse := 0, 0
	forTrials(t, 1500, true, func(t *testing.T, r *trial) {
		holdAlways(t, r)
		switch d := len(r.runs["tf-stack"].log) - len(r.runs["pdom"].log); {
		case d < 0:
			better++
		case d > 0:
			worse++
		}
	})
	t.Logf("TF-STACK better than PDOM in %d runs of 1500, worse in %d", better, worse)
	if better <= worse {
		t.Errorf("TF-STACK better than PDOM in %d runs, worse in %d", better, worse)
	}
}

// Lanes wait only where the exact frontiers say.
func TestLanesWaitInTheFrontier(t *testing.T) {
	for _, cyclic := range []bool{false, true} {
		forTrials(t, 1000, cyclic, func(t *testing.T, r *trial) {
			plan := r.g.plan(t, TFStack{}).(*tfPlan)
			_, _, first := r.g.program()
			f, err := plan.super.Shape.Frontiers(append(plan.order, plan.super.Shape.Exit))
			if err != nil {
				t.Fatal(err)
			}
			node := func(block int) int { return int(plan.node[first[block]]) }
			at := make([]int, r.lanes) // steps of each lane's trace
			e := r.runs["tf-stack"]
			for _, g := range e.log {
				for lane, n := range at {
					if g.Lanes>>lane&1 != 0 {
						at[lane]++
						continue
					}
					if trace := e.traces[lane]; n < len(trace) && !f.Has(node(int(g.PC)), node(trace[n])) {
						t.Errorf("a lane waits at %d while %d is executed", trace[n], g.PC)
					}
				}
			}
		})
	}
}
