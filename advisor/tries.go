package advisor

import (
	"fmt"
	"slices"
	"strings"

	"gpa/profiler"
)

// worthListing is the least speedup that is worth anybody's time: less is lost in what the model does not know.
const worthListing = 1.02

// Expected is the speedup that a piece of advice should bring: what a what-if run has shown, or else the estimate.
func (a *Advice) Expected() float64 {
	if a.Tried > 0 {
		return a.Tried
	}
	return a.Speedup
}

// Worth reports whether a piece of advice gains enough to be listed. What could have been tried and was not, as time was used up or the launch
// does not fit it, does if it gains so much even where it gains little: of 12 such pieces that were followed 4 made kernels slower. Nothing is known of
// parameters that were not compiled.
func (a *Advice) Worth() bool {
	if a.Tried == 0 && a.Match.Change.Compiles() {
		return false
	}
	switch {
	case a.Tried > 0 || a.Untried == "":
	case a.Match.Only: // 1.82x by estimate, of blocks whose code relied on their size, was 0.62x
		return false
	case a.Match.Change == nil:
		return a.Speedup >= max(leastUntriable, a.Match.Least)
	case a.merges() && strings.HasPrefix(a.Untried, DoesNotFit):
		return false // threads that go different ways do so in one thread as well, one after the other (1.59x by estimate was 0.93x)
	default:
		return a.Interval[0] >= worthListing
	}
	return a.Expected() >= max(worthListing, a.Match.Least)
}

// leastUntriable is the least estimate of what no what-if run can try: 1.04x was 0.99x.
const leastUntriable = 1.05

// DoesNotFit is how what-if runs begin to say that the streams of a launch do not have what a change asks for.
const DoesNotFit = "what the threads execute does not fit it"

// leastRestructured is the least speedup of a change after which data are reached in another way: three such pieces on others' kernels for which 1.04x to
// 1.06x were tried made them slower (0.70x to 0.94x), by indices and tests that no run of the recorded instructions has, and items a thread with 1.07x
// were 1.02x. leastVector is that of wider accesses, of which 1.03x came about and 1.02x did not, leastConstant that of constant memory, of which 1.04x
// was 1.01x.
const (
	leastRestructured = 1.08
	leastVector       = 1.03
	leastConstant     = 1.05
)

// leastOf is the least speedup with which a change of an optimizer is worth listing.
func leastOf(o Optimizer) float64 {
	switch o.(type) {
	case sharedTiling, registerTiling, memoryCoalescing, threadCoarsening:
		return leastRestructured
	case vectorAccess:
		return leastVector
	case constantMemory:
		return leastConstant
	}
	return worthListing
}

// Place names the code that a piece of advice is about in one launch's profile, the same in every analysis of it.
func (a *Advice) Place() string {
	s := &a.Match.Scope
	at := string(s.Kind)
	switch {
	case s.Kind == LineScope:
		at += fmt.Sprintf(" %s:%d", s.Frame.File, s.Frame.Line)
	case s.Loop != nil:
		at += fmt.Sprintf(" block %d", s.Loop.Header)
	case s.Func != nil:
		at += fmt.Sprintf(" block %d", s.Func.Blocks[0])
	}
	if a.Match.Variant != "" {
		at += ", " + a.Match.Variant
	}
	return fmt.Sprintf("%s of section %d", at, s.Code)
}

// best keeps of the variants of one change the first.
func best(ranked []Advice) []Advice {
	met := make(map[string]bool)
	return slices.DeleteFunc(ranked, func(a Advice) bool {
		again := a.Match.Variant != "" && met[a.Optimizer]
		met[a.Optimizer] = true
		return again
	})
}

// withoutHopes leaves out the variants of a change that were not tried, as time was used up, where others were: a change that gains in one of
// them is listed with that one, and an estimate that has failed once is none.
func withoutHopes(advice []Advice) []Advice {
	tried := make(map[string]bool)
	for i := range advice {
		if a := &advice[i]; a.Match.Variant != "" && a.Tried > 0 {
			tried[a.Optimizer] = true
		}
	}
	return slices.DeleteFunc(advice, func(a Advice) bool { return a.Match.Variant != "" && a.Tried == 0 && tried[a.Optimizer] })
}

// recall enters what became of the what-if run for a piece of advice.
func (a *Advice) recall(tries []profiler.Try) {
	place := a.Place()
	for _, t := range tries {
		if t.Optimizer == a.Optimizer && t.Place == place {
			a.Tried, a.Untried = t.Speedup, t.Why
		}
	}
}
