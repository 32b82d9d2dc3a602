package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gpa/advisor"
)

// An Evaluation holds advice against what changes have brought, as Table 3 of the GPA paper does.
type Evaluation struct {
	Pairs   []EvaluatedPair   `json:"pairs"`
	Summary EvaluationSummary `json:"summary"`
	// HeldOut sums up the pairs that were written after the estimators were finished, and so could not shape them.
	HeldOut *EvaluationSummary `json:"held_out,omitempty"`
}

// An EvaluatedPair is a kernel before and after the change that an optimizer should advise.
type EvaluatedPair struct {
	Pair      string `json:"pair"`
	Optimizer string `json:"optimizer"`
	// Rank is the place of the optimizer in the advice on the kernel before, 1 for the first, 0 where it is not advised.
	// Further scopes of an optimizer do not count.
	Rank       int      `json:"rank"`
	Estimated  float64  `json:"estimated,omitempty"`
	Tried      float64  `json:"tried,omitempty"` // by a what-if run
	Achieved   float64  `json:"achieved,omitempty"`
	HeldOut    bool     `json:"held_out,omitempty"`    // written after the estimators
	SameChange bool     `json:"same_change,omitempty"` // the what-if run makes the pair's change
	Error      *float64 `json:"error,omitempty"`
	Line       bool     `json:"line"` // a changed line is among the five hottest of the advice, or it is about the launch
	Left       float64  `json:"left"` // share of the advice's stalls, in cycles, that the kernel after still has
	// Then and RankThen are the estimate and the rank of the optimizer in the advice on the kernel after, 0 where it has gone.
	Then     float64 `json:"then,omitempty"`
	RankThen int     `json:"rank_then,omitempty"`
	// Row is the row of the GPA paper's Table 3 whose pattern the pair has, as in "rodinia/lud, Code Reorder".
	Row          string `json:"row,omitempty"`
	OutputsEqual bool   `json:"outputs_equal"`
	Silent       *bool  `json:"silent,omitempty"` // of kernels at which the optimizer must be silent: whether it is
}

// An EvaluationSummary adds pairs up. Shares and errors go from 0 on.
type EvaluationSummary struct {
	Pairs       int     `json:"pairs"` // silent ones aside
	First       float64 `json:"first"` // share whose optimizer is the first
	Top3        float64 `json:"top3"`
	Lines       float64 `json:"lines"`
	MeanError   float64 `json:"mean_error"` // of the pairs whose optimizer is advised
	MedianError float64 `json:"median_error"`
	MaxError    float64 `json:"max_error"`
	// Where a what-if run makes the same change as the pair: how many were tried, and their mean |tried - achieved| / achieved.
	Tried      int     `json:"tried,omitempty"`
	TriedError float64 `json:"tried_error,omitempty"`
}

// EvaluatePair holds the advice on the costliest kernel of the result before against the result after. Where the change has made several
// kernels of it, as a second one that adds up the parts, all of them count.
func EvaluatePair(name, optimizer string, changed []int, before, after *Result) *EvaluatedPair {
	p := &EvaluatedPair{Pair: name, Optimizer: optimizer}
	b, a := longest(before), longest(after)
	if cycles := instead(before, after, b); cycles > 0 {
		p.Achieved = float64(b.cycles) / float64(cycles)
	}
	_, was, module := before.launch(b.shown)
	var advice *advisor.Advice
	if p.Rank, advice = rankOf(was.Advice, optimizer); advice == nil {
		return p
	}
	p.Estimated, p.Tried = advice.Speedup, advice.Tried
	if p.Achieved > 0 {
		e := math.Abs(p.Estimated-p.Achieved) / p.Achieved
		p.Error = &e
	}
	p.then(after, a)
	p.Line = advice.Class == advisor.Parallel // of the launch, which has no lines
	for _, h := range advice.Match.Hotspots {
		for _, at := range []Location{locateNode(module, h.Def), locateNode(module, h.Use)} {
			p.Line = p.Line || slices.Contains(changed, at.Line)
			for _, f := range at.InlinedAt {
				p.Line = p.Line || slices.Contains(changed, f.Line)
			}
		}
	}
	if matched := before.matchedCycles(b, optimizer); matched > 0 && advice.Class != advisor.Parallel {
		p.Left = after.matchedCycles(a, optimizer) / matched
	}
	return p
}

// then enters what the optimizer says of the kernel after.
func (p *EvaluatedPair) then(after *Result, k *kernelSummary) {
	_, now, _ := after.launch(k.shown)
	if rank, advice := rankOf(now.Advice, p.Optimizer); advice != nil {
		p.RankThen, p.Then = rank, advice.Speedup
	}
}

// Settled reports whether the kernel after has less of what the advice was about: no such advice, or one that promises less.
func (p *EvaluatedPair) Settled() bool { return p.Rank == 0 || p.Left < 1 && p.Then < p.Estimated }

// EvaluateSilence says whether an optimizer gives no advice on any launch of a result.
func EvaluateSilence(name, optimizer string, r *Result) *EvaluatedPair {
	silent := true
	for i := range r.Profile.Launches {
		_, found, _ := r.launch(i)
		rank, _ := rankOf(found.Advice, optimizer)
		silent = silent && rank == 0
	}
	return &EvaluatedPair{Pair: name, Optimizer: optimizer, Silent: &silent, OutputsEqual: true}
}

// instead adds up the cycles of the kernels after that do a kernel's work: all but those that were beside it before, by their names.
func instead(before, after *Result, k *kernelSummary) int64 {
	var cycles int64
	others := before.kernels()
	for _, x := range after.kernels() {
		if !slices.ContainsFunc(others, func(o *kernelSummary) bool { return o.name == x.name && o.name != k.name }) {
			cycles += x.cycles
		}
	}
	return cycles
}

// longest returns the kernel that takes most cycles.
func longest(r *Result) *kernelSummary {
	list := r.kernels()
	return slices.MaxFunc(list, func(x, y *kernelSummary) int { return int(min(1, max(-1, x.cycles-y.cycles))) })
}

// rankOf returns the rank of an optimizer among the optimizers advised and its best advice. What is the same change as a piece above stands there.
func rankOf(list []advisor.Advice, optimizer string) (int, *advisor.Advice) {
	var met []string
	for i := range list {
		if !slices.Contains(met, list[i].Optimizer) {
			met = append(met, list[i].Optimizer)
		}
		if list[i].Optimizer != optimizer {
			continue
		}
		if same := slices.Index(met, list[i].Same); same >= 0 {
			return same + 1, &list[i]
		}
		return len(met), &list[i]
	}
	return 0, nil
}

// matchedCycles adds up what an optimizer matches in the launch that stands for a kernel.
func (r *Result) matchedCycles(k *kernelSummary, optimizer string) float64 {
	l, found, _ := r.launch(k.shown)
	sum := 0.0
	for i := range found.Advice {
		if found.Advice[i].Optimizer == optimizer {
			sum += found.Advice[i].Match.Samples * float64(l.Period)
		}
	}
	return sum
}

// Sum adds the pairs up.
func (x *Evaluation) Sum() {
	x.Summary = summarize(x.Pairs, func(*EvaluatedPair) bool { return true })
	if held := summarize(x.Pairs, func(p *EvaluatedPair) bool { return p.HeldOut }); held.Pairs > 0 {
		x.HeldOut = &held
	}
}

// summarize adds up the pairs of a kind.
func summarize(pairs []EvaluatedPair, kind func(*EvaluatedPair) bool) EvaluationSummary {
	s := EvaluationSummary{}
	var errs []float64
	for i := range pairs {
		p := &pairs[i]
		if p.Silent != nil || !kind(p) {
			continue
		}
		s.Pairs++
		s.First += indicator(p.Rank == 1)
		s.Top3 += indicator(p.Rank >= 1 && p.Rank <= 3)
		s.Lines += indicator(p.Line)
		if p.Error != nil {
			errs = append(errs, *p.Error)
		}
		if p.SameChange && p.Tried > 0 {
			s.Tried++
			s.TriedError += math.Abs(p.Tried-p.Achieved) / p.Achieved
		}
	}
	if n := float64(s.Pairs); n > 0 {
		s.First, s.Top3, s.Lines = s.First/n, s.Top3/n, s.Lines/n
	}
	if s.Tried > 0 {
		s.TriedError /= float64(s.Tried)
	}
	s.errors(errs)
	return s
}

// errors enters the mean, the median and the maximum.
func (s *EvaluationSummary) errors(errs []float64) {
	if len(errs) == 0 {
		return
	}
	s.MedianError = median(errs)
	for _, e := range errs {
		s.MeanError += e / float64(len(errs))
	}
	s.MaxError = errs[len(errs)-1]
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// EvaluationText writes an evaluation as a table.
func EvaluationText(w io.Writer, x *Evaluation, style Style) error {
	table := Table{Style: style, Columns: []Column{
		{Title: "pair", Width: 30}, {Title: "optimizer", Width: 28}, {Title: "rank", Right: true}, {Title: "estimated", Right: true}, {Title: "tried", Right: true},
		{Title: "achieved", Right: true}, {Title: "error", Right: true}, {Title: "line"}, {Title: "left", Right: true}, {Title: "then", Right: true}, {Title: "outputs"},
	}}
	for _, p := range x.Pairs {
		table.Add(p.row()...)
	}
	var out strings.Builder
	if err := table.Render(&out); err != nil {
		return err
	}
	x.Summary.text(&out, "pairs")
	if x.HeldOut != nil {
		x.HeldOut.text(&out, "of them written after the estimators")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// text tells a summary in two or three lines.
func (s *EvaluationSummary) text(w io.Writer, of string) {
	if s.Pairs == 0 {
		return
	}
	fmt.Fprintf(w, "\n%d %s: the optimizer is first in %s and among the first three in %s, a changed line is hot in %s;\nerror of the estimate: mean %s, median %s, at most %s\n",
		s.Pairs, of, percent(s.First), percent(s.Top3), percent(s.Lines), percent(s.MeanError), percent(s.MedianError), percent(s.MaxError))
	if s.Tried > 0 {
		fmt.Fprintf(w, "%d were tried by the same change: error mean %s\n", s.Tried, percent(s.TriedError))
	}
}

// row is the pair as a line of the table.
func (p *EvaluatedPair) row() []string {
	if p.Silent != nil {
		return []string{p.Pair, p.Optimizer, map[bool]string{true: "silent", false: "NOT SILENT"}[*p.Silent]}
	}
	row := []string{p.Pair, p.Optimizer, "-", "-", "-", times(p.Achieved), "-", "", "", "", map[bool]string{true: "equal", false: "DIFFER"}[p.OutputsEqual]}
	if p.Rank > 0 {
		row[2], row[3] = fmt.Sprint(p.Rank), times(p.Estimated)
		row[7], row[8] = map[bool]string{true: "yes", false: "no"}[p.Line], percent(p.Left)
		row[9] = "-"
	}
	if p.Then > 0 {
		row[9] = times(p.Then)
	}
	if p.Tried > 0 {
		row[4] = times(p.Tried)
	}
	if p.Error != nil {
		row[6] = percent(*p.Error)
	}
	return row
}

func times(x float64) string { return fmt.Sprintf("%.2fx", x) }
