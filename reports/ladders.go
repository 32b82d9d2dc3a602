package reports

import (
	"cmp"
	"math"
	"slices"

	"gpa/advisor"
)

// A LadderEvaluation holds advice against ladders: kernels that experts made faster step by step.
type LadderEvaluation struct {
	Ladders []EvaluatedLadder `json:"ladders"`
	Summary LadderSummary     `json:"summary"`
}

// An EvaluatedLadder is a kernel in all its versions.
type EvaluatedLadder struct {
	Ladder   string          `json:"ladder"` // the folder
	About    string          `json:"about"`
	GPU      string          `json:"gpu"`
	Versions []LadderVersion `json:"versions"` // in the order of the ladder
	Steps    []LadderStep    `json:"steps"`    // one fewer
	Ordered  bool            `json:"ordered"`  // no version takes longer than the one before it
}

// A LadderVersion is one version of a ladder's kernel.
type LadderVersion struct {
	Version    string `json:"version"`
	Cycles     int64  `json:"cycles"` // of all its kernels, without what is beside them
	AsExpected bool   `json:"as_expected"`
	kernels    []kernelAdvice
}

// kernelAdvice is the advice on one of the kernels of a version.
type kernelAdvice struct {
	cycles int64
	advice []advisor.Advice
}

// A LadderStep is the change from a version to the next, held against the advice on the version before: on all of its kernels, by what it brings
// to the whole.
type LadderStep struct {
	From       string   `json:"from"`
	To         string   `json:"to"`
	Change     string   `json:"change"`
	Kind       string   `json:"kind,omitempty"` // what the change is called where no optimizer is quite it
	Optimizers []string `json:"optimizers"`     // those that stand for the change; none where no optimizer does
	Achieved   float64  `json:"achieved"`       // cycles before by cycles after
	// Rank is the place of the first of Optimizers among the optimizers advised, 0 for none of them; Optimizer is that one, with what
	// its best piece estimates and what a what-if run of it has brought, 0 where it was not tried.
	Rank      int     `json:"rank"`
	Optimizer string  `json:"optimizer,omitempty"`
	Estimated float64 `json:"estimated,omitempty"`
	Tried     float64 `json:"tried,omitempty"`
	// Error is |tried - achieved| / achieved.
	Error *float64 `json:"error,omitempty"`
	// First is the optimizer that is advised first, where it is another one.
	First string `json:"first,omitempty"`
}

// A LadderSummary adds up the steps of all ladders. First, Top3, Advised and the errors are of the steps that gain.
type LadderSummary struct {
	Ladders  int     `json:"ladders"`
	Versions int     `json:"versions"`
	Ordered  int     `json:"ordered"` // ladders
	Steps    int     `json:"steps"`
	Gaining  int     `json:"gaining"` // steps that gain at least 2 %
	First    float64 `json:"first"`   // share whose change is advised first
	Top3     float64 `json:"top3"`
	Advised  int     `json:"advised"` // at any rank
	// Tried is how many of those that are advised were tried, TriedError the mean of |tried/achieved - 1|, and Bias the median of
	// estimate/achieved of those that are advised.
	Tried      int     `json:"tried"`
	TriedError float64 `json:"tried_error"`
	Bias       float64 `json:"bias"`
}

// leastGain is what a step gains at least that counts: less is not worth advice.
const leastGain = 1.02

// EvaluateVersion sums up a version of a ladder. The kernel beside has no part in it.
func EvaluateVersion(version, beside string, r *Result) LadderVersion {
	v := LadderVersion{Version: version, AsExpected: !slices.ContainsFunc(r.Checks, func(c Check) bool { return !c.OK })}
	for _, k := range r.kernels() { // the costliest first
		v.AsExpected = v.AsExpected && !k.faulted
		if k.name == beside {
			continue
		}
		_, found, _ := r.launch(k.shown)
		v.Cycles += k.cycles
		v.kernels = append(v.kernels, kernelAdvice{k.cycles, found.Advice})
	}
	return v
}

// ofAll is the advice on all kernels with what each piece makes of the whole version, the best first: what was tried, and then the rest, as each
// kernel has them.
func (v *LadderVersion) ofAll() (list []advisor.Advice) {
	for _, k := range v.kernels {
		for _, a := range k.advice {
			share := float64(k.cycles) / float64(v.Cycles)
			if a.Match != nil && a.Match.Launches > 1 { // of those of other kernels, too
				share = min(1, float64(a.Match.Cycles)/float64(v.Cycles))
			}
			whole := func(x float64) float64 { return 1 / (1 - share + share/x) }
			if a.Speedup = whole(a.Speedup); a.Tried > 0 {
				a.Tried = whole(a.Tried)
			}
			list = append(list, a)
		}
	}
	if len(v.kernels) > 1 {
		slices.SortStableFunc(list, func(x, y advisor.Advice) int {
			return cmp.Or(cmp.Compare(indicator(y.Tried > 0), indicator(x.Tried > 0)), cmp.Compare(y.Expected(), x.Expected()))
		})
	}
	return list
}

// Add adds a version, and the step to it from the one before it, of which s says what it is and which optimizers stand for it.
func (x *EvaluatedLadder) Add(v LadderVersion, s LadderStep) {
	x.Versions = append(x.Versions, v)
	if len(x.Versions) == 1 {
		x.Ordered = true
		return
	}
	before := &x.Versions[len(x.Versions)-2]
	s.From, s.To = before.Version, v.Version
	if v.Cycles > 0 {
		s.Achieved = float64(before.Cycles) / float64(v.Cycles)
	}
	x.Ordered = x.Ordered && s.Achieved >= 1
	s.advice(before.ofAll())
	x.Steps = append(x.Steps, s)
}

// advice enters what the advice says of the step's change.
func (s *LadderStep) advice(list []advisor.Advice) {
	if len(list) > 0 {
		s.First = list[0].Optimizer
	}
	var best *advisor.Advice
	for _, o := range s.Optimizers {
		if rank, a := rankOf(list, o); a != nil && (best == nil || rank < s.Rank) {
			s.Rank, best = rank, a
		}
	}
	if best == nil {
		return
	}
	if s.Rank == 1 {
		s.First = ""
	}
	s.Optimizer, s.Estimated, s.Tried = best.Optimizer, best.Speedup, best.Tried
	if s.Tried > 0 && s.Achieved > 0 {
		e := math.Abs(s.Tried/s.Achieved - 1)
		s.Error = &e
	}
}

// Gains reports whether the step gains enough to count.
func (s *LadderStep) Gains() bool { return s.Achieved >= leastGain }

// missed reports whether a step that gains is not among the first three.
func (s *LadderStep) missed() bool { return s.Gains() && (s.Rank == 0 || s.Rank > 3) }

// Sum adds the ladders up.
func (x *LadderEvaluation) Sum() {
	s := LadderSummary{Ladders: len(x.Ladders)}
	var ratios []float64
	for i := range x.Ladders {
		l := &x.Ladders[i]
		s.Versions += len(l.Versions)
		s.Steps += len(l.Steps)
		if l.Ordered {
			s.Ordered++
		}
		for j := range l.Steps {
			if l.Steps[j].Gains() {
				s.add(&l.Steps[j])
			}
			if l.Steps[j].Gains() && l.Steps[j].Rank > 0 {
				ratios = append(ratios, l.Steps[j].Estimated/l.Steps[j].Achieved)
			}
		}
	}
	if n := float64(s.Gaining); n > 0 {
		s.First, s.Top3 = s.First/n, s.Top3/n
	}
	if s.Tried > 0 {
		s.TriedError /= float64(s.Tried)
	}
	s.Bias = median(ratios)
	x.Summary = s
}

// add counts a step that gains.
func (s *LadderSummary) add(step *LadderStep) {
	s.Gaining++
	s.First += indicator(step.Rank == 1)
	s.Top3 += indicator(step.Rank >= 1 && step.Rank <= 3)
	if step.Rank > 0 {
		s.Advised++
	}
	if step.Error != nil {
		s.Tried++
		s.TriedError += *step.Error
	}
}

// median sorts a list and returns its median, 0 of none.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}
