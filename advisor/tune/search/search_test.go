package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestExpr(t *testing.T) {
	at := map[string]Value{"BM": "64", "BN": "48", "arch": "v100", "x": "2.5", "half": "true"}
	for text, want := range map[string]string{
		"BM / BN": "1", "BM % BN": "16", "ceil(BM, BN)": "2", "max(BM, BN, 70)": "70", "min(BM, BN)": "48", "-BM + 1": "-63",
		"BM <= 96KiB": "true", "2 MiB": "2097152", `arch == "v100"`: "true", `arch != "a100" && !(BM > BN)`: "false", "x * 2": "5", "BM / x": "25.6",
		"BM == 64.0": "true", `BM == "64"`: "false", "half || BM / 0 > 1": "true", "half": "true",
	} {
		e, err := ParseExpr(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := e.Text(at); err != nil || got != want {
			t.Errorf("%s is %s, not %s: %v", text, got, want, err)
		}
	}
	for _, text := range []string{"", "BM +", "f(BM)", "BM[0]", "func() {}", "ceil(1)", "BM.x", "BM << 2"} {
		e, err := ParseExpr(text)
		if err == nil {
			_, err = e.Text(at)
		}
		if err == nil {
			t.Errorf("%q has a value", text)
		}
	}
	for _, text := range []string{"BM / 0", "BM % 0", "y", "arch + 1", "!BM", "ceil(1, 0)", "ceil(x, 2)", "BM && half", "half < half"} {
		e, err := ParseExpr(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, err := e.Text(at); err == nil {
			t.Errorf("%s is %s", text, got)
		}
	}
}

// TestSpace compares the pruned space with the grid filtered point by point.
func TestSpace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var axes []Axis
		for i := range rapid.IntRange(1, 4).Draw(t, "axes") {
			a := Axis{Name: string(rune('a' + i))}
			for v := range rapid.IntRange(1, 4).Draw(t, "values") {
				a.Values = append(a.Values, Value(strconv.Itoa(1<<v)))
			}
			axes = append(axes, a)
		}
		var where []*Expr
		for range rapid.IntRange(0, 3).Draw(t, "constraints") {
			name := rapid.SampledFrom(axes)
			text := fmt.Sprintf("%s * %s %s %d", name.Draw(t, "x").Name, name.Draw(t, "y").Name, rapid.SampledFrom([]string{"<", ">=", "!="}).Draw(t, "op"), rapid.IntRange(1, 32).Draw(t, "n"))
			e, err := ParseExpr(text)
			if err != nil {
				t.Fatal(err)
			}
			where = append(where, e)
		}
		s, err := NewSpace(axes, where)
		if err != nil {
			t.Fatal(err)
		}
		all, err := NewSpace(axes, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want []Point
		for _, p := range all.Points {
			ok := true
			for _, w := range where {
				v, err := w.Bool(all.At(p))
				if err != nil {
					t.Fatal(err)
				}
				ok = ok && v
			}
			if ok {
				want = append(want, p)
			}
		}
		if fmt.Sprint(s.Points) != fmt.Sprint(want) {
			t.Fatalf("%v instead of %v", s.Points, want)
		}
		pruned := 0
		for _, p := range s.Pruned {
			pruned += p.Count
		}
		if pruned+len(want) != len(all.Points) {
			t.Errorf("%d pruned and %d left of %d", pruned, len(want), len(all.Points))
		}
	})
}

func TestSpec(t *testing.T) {
	s, err := Parse("s.yaml", []byte(`
kernel: mm.cu
axes: {BM: '2^[4:6]', n: '[10:30:10]', block: [128, [16, 8]], arch: [v100, a100], flag: x}
where: [BM % 2 == 0, max(BM, n) > 10]
set: {grid: [ceil(n, BM), ceil(max(n, 1), BM)], buffers: {a: [min(n, BM), 4]}}
first: [{BM: 32, block: 128}]
search: {method: tpe, budget: 5, stop: 1.5}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := "[{BM [16 32 64]} {n [10 20 30]} {block [128 16,8]} {arch [v100 a100]} {flag [x]}]"
	if got := fmt.Sprint(s.Axes); got != want {
		t.Errorf("%s instead of %s", got, want)
	}
	if fmt.Sprintf("%v %v %v %v", s.Macros, s.Per, s.Objective, s.First) != "[BM] [arch] cycles [map[BM:32 block:128]]" {
		t.Error(s.Macros, s.Per, s.Objective, s.First)
	}
	if fmt.Sprintf("%q %q %v", s.Set.Grid, s.Set.Buffers["a"], len(s.Where)) != `["ceil(n, BM)" "ceil(max(n, 1), BM)"] ["min(n, BM)" "4"] 2` {
		t.Errorf("%q %q %v", s.Set.Grid, s.Set.Buffers["a"], s.Where)
	}
	for _, text := range []string{
		"", "axes: {}", "kernel: k\nunknown: 1", "kernel: k\naxes: {A: []}", "kernel: k\naxes: {A: [1, 1]}", "kernel: k\ngoal: best", "kernel: k\nsearch: {method: luck}",
		"kernel: k\nsearch: {stop: 0.5}", "kernel: k\nsearch: {method: halving}", "kernel: k\nwhere: ['1 +']", "kernel: k\naxes: {A: '2^[1:100]'}", "kernel: k\naxes: {A: '[5:1]'}",
		"kernel: k\nwhere: [max(1]", "kernel: k\naxes: {n: [1, 2]}\nper: [n]\nsearch: {method: halving, fidelity: n}",
	} {
		if _, err := Parse("s.yaml", []byte(text)); err == nil {
			t.Errorf("%q is a sweep file", text)
		}
	}
}

func TestReadReport(t *testing.T) {
	const report = `{"launches": [
		{"kernel": "k", "cycles": 100, "count": 2, "samples": {"total": 10, "by_reason": {"barrier": 5, "selected": 5}}, "lines": [{"at": {"file": "k.cu", "line": 7}, "samples": 2}, {"at": {"file": "k.cu", "line": 9}, "samples": 6}, {"at": {"pc": 16}, "samples": 2}], "advice": [{"optimizer": "a", "estimated_speedup": 1.5}]},
		{"kernel": "l", "cycles": 50, "samples": {"total": 4, "by_reason": {"barrier": 1}}, "advice": [{"optimizer": "b", "estimated_speedup": 2, "tried_speedup": 1.1}]}],
		"checks": [{"buffer": "y", "ok": false, "mismatches": 3}]}`
	for objective, want := range map[string]float64{
		"cycles": 250, "samples.by_reason.barrier": 11, "launches[1].cycles": 50, "launches[1].samples.by_reason.selected": 0,
	} {
		o, err := ReadReport([]byte(report), objective, false)
		if err != nil || o.Objective != want || o.Cycles != 250 || o.Stalls["barrier"] != 112.5 || fmt.Sprint(o.Advice) != "[{a 1.5}]" || fmt.Sprint(o.Lines) != "[{k.cu 9 120} {k.cu 7 40}]" {
			t.Errorf("%s: %+v, %v", objective, o, err)
		}
	}
	if o, err := ReadReport([]byte(report), "cycles", true); err != nil || o.Status != Wrong {
		t.Errorf("%+v, %v", o, err)
	}
	for _, objective := range []string{"speed", "launches[7].cycles", "kernel", "samples"} {
		if _, err := ReadReport([]byte(report), objective, false); err == nil {
			t.Errorf("%s is a figure", objective)
		}
	}
	if o, err := ReadReport([]byte(`{"launches": [{"kernel": "k", "fault": {"kind": "misaligned", "at": {"file": "k.cu", "line": 3}}}]}`), "cycles", true); err != nil || o.Status != Fault || fmt.Sprint(o.Lines) != "[{k.cu 3 0}]" {
		t.Errorf("%+v, %v", o, err)
	}
}

// searched runs a strategy over a group with known outcomes, so many at a time, and returns the points in the order of their outcomes.
func searched(t *testing.T, s *Spec, space *Space, group []int, outcome func(int) *Outcome, atATime int) []int {
	t.Helper()
	strategy, err := NewStrategy(s, space, group, 0)
	if err != nil {
		t.Fatal(err)
	}
	var order, flying []int
	for {
		flying = append(flying, strategy.Next(atATime-len(flying))...)
		if len(flying) == 0 {
			return order
		}
		strategy.Tell(flying[0], outcome(flying[0]))
		order, flying = append(order, flying[0]), flying[1:]
	}
}

// TestStrategies holds what every strategy has to: no point twice, none of another group, no more than the budget, seeds first, and without
// a budget all points of the grid.
func TestStrategies(t *testing.T) {
	rapid.Check(t, func(t2 *rapid.T) {
		s := &Spec{Goal: rapid.SampledFrom([]string{"min", "max"}).Draw(t2, "goal")}
		s.Search = Search{Method: rapid.SampledFrom(Methods).Draw(t2, "method"), Budget: rapid.IntRange(0, 20).Draw(t2, "budget"), Eta: 2}
		if s.Search.Method == "halving" {
			s.Search.Fidelity = "n"
		}
		axes := []Axis{{"n", []Value{"1", "2", "3"}}, {"a", []Value{"1", "2", "4", "8"}}, {"b", []Value{"1", "2"}}, {"arch", []Value{"x", "y"}}}
		space, err := NewSpace(axes, nil)
		if err != nil {
			t.Fatal(err)
		}
		groups, err := space.Groups([]string{"arch"})
		if err != nil || len(groups) != 2 {
			t.Fatal(groups, err)
		}
		s.First = []map[string]Value{{"a": "4", "b": "2", "n": "1"}}
		scores := rapid.SliceOfN(rapid.IntRange(0, 9), len(space.Points), len(space.Points)).Draw(t2, "scores")
		order := searched(t, s, space, groups[1], func(i int) *Outcome {
			if scores[i] == 0 {
				return &Outcome{Status: Fault}
			}
			return &Outcome{Status: OK, Objective: float64(scores[i])}
		}, rapid.IntRange(1, 5).Draw(t2, "at a time"))
		seen := make(map[int]bool)
		for _, i := range order {
			if seen[i] || !slices.Contains(groups[1], i) {
				t2.Fatalf("%s: point %d again, or of another group, in %v", s.Search.Method, i, order)
			}
			seen[i] = true
		}
		if s.Search.Budget > 0 && len(order) > s.Search.Budget {
			t2.Errorf("%s: %d runs, the budget is %d", s.Search.Method, len(order), s.Search.Budget)
		}
		if at := space.At(space.Points[order[0]]); at["a"] != "4" || at["b"] != "2" {
			t2.Errorf("%s begins with %v", s.Search.Method, at)
		}
		if m := s.Search.Method; (m == "grid" || m == "random") && s.Search.Budget == 0 && len(order) != len(groups[1]) {
			t2.Errorf("%s: %d of %d points", m, len(order), len(groups[1]))
		}
	})
}

// TestHalving holds which points go on: the best of each level, and of the last the whole grid's best where levels agree.
func TestHalving(t *testing.T) {
	axes := []Axis{{"n", []Value{"1", "2", "4"}}, {"a", []Value{"0", "1", "2", "3", "4", "5", "6", "7", "8"}}}
	space, err := NewSpace(axes, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &Spec{Goal: "min", Search: Search{Method: "halving", Fidelity: "n", Eta: 3}}
	groups, _ := space.Groups(nil)
	counts := make(map[Value]int)
	last := -1
	order := searched(t, s, space, groups[0], func(i int) *Outcome {
		at := space.At(space.Points[i])
		counts[at["n"]]++
		last = i
		return &Outcome{Status: OK, Objective: math.Abs(float64(space.Points[i][1]) - 6)}
	}, 4)
	if len(order) != 13 || counts["1"] != 9 || counts["2"] != 3 || counts["4"] != 1 || space.At(space.Points[last])["a"] != "6" {
		t.Errorf("%d runs: %v, the last is %v", len(order), counts, space.At(space.Points[last]))
	}
}

// tilesOutcomes reads the outcomes of the whole grid of tiles of a matrix product on three GPUs: testdata/tiles.jsonl has the points,
// objectives and advice of the journal that gpa sweep wrote of cmd/gpa/testdata/sweep/tiles.yaml.
func tilesOutcomes(t *testing.T) (*Spec, *Space, map[int]*Outcome) {
	t.Helper()
	data, err := os.ReadFile("../../../cmd/gpa/testdata/sweep/tiles.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse("tiles.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	space, err := NewSpace(s.Axes, s.Where)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile("testdata/tiles.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	byPoint := make(map[string]*Outcome)
	d := json.NewDecoder(bytes.NewReader(lines))
	for d.More() {
		var line struct {
			Point   map[string]Value
			Outcome *Outcome
		}
		if err := d.Decode(&line); err != nil {
			t.Fatal(err)
		}
		byPoint[fmt.Sprint(line.Point)] = line.Outcome
	}
	outcomes := make(map[int]*Outcome)
	for i, p := range space.Points {
		if outcomes[i] = byPoint[fmt.Sprint(space.At(p))]; outcomes[i] == nil {
			t.Fatalf("no outcome of %v", space.At(p))
		}
	}
	return s, space, outcomes
}

// TestRunsNeeded counts the runs after which each search has found the best of the whole grid, for each GPU and over ten seeds: in the median
// TPE and advice need at most a quarter of the grid. go test ./advisor/tune/search -run RunsNeeded -v prints the table.
func TestRunsNeeded(t *testing.T) {
	s, space, outcomes := tilesOutcomes(t)
	groups, err := space.Groups(s.Per)
	if err != nil {
		t.Fatal(err)
	}
	const seeds = 10
	for _, method := range []string{"random", "tpe", "advice"} {
		var shares []float64
		for g, group := range groups {
			best := math.Inf(1)
			for _, i := range group {
				if outcomes[i].Status == OK {
					best = min(best, outcomes[i].Objective)
				}
			}
			var needed []int
			for seed := range seeds {
				s.Search = Search{Method: method, Budget: len(group), Seed: uint64(seed), Eta: 3}
				order := searched(t, s, space, group, func(i int) *Outcome { return outcomes[i] }, 2)
				n := 1 + slices.IndexFunc(order, func(i int) bool { return outcomes[i].Status == OK && outcomes[i].Objective == best })
				needed = append(needed, n)
				shares = append(shares, float64(n)/float64(len(group)))
			}
			slices.Sort(needed)
			t.Logf("%-8s %-8s %3d variants, best %g: %3d runs in the median, %v", method, space.At(space.Points[groups[g][0]])["arch"], len(group), best, needed[seeds/2], needed)
		}
		slices.Sort(shares)
		median := shares[len(shares)/2]
		t.Logf("%-8s %.1f%% of the grid in the median", method, 100*median)
		if method != "random" && median > 0.25 {
			t.Errorf("%s needs %.1f%% of the grid in the median", method, 100*median)
		}
	}
}
