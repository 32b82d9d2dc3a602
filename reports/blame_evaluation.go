package reports

import (
	"io"
	"strings"

	"gpa/blamer"
)

// A BlameEvaluation holds the blame against the producers that the emulated GPU knows: Agreement of the rules in use beside that
// of the GPA paper's, and the single dependency coverage of the paper's section 6.3.
type BlameEvaluation struct {
	Kernels    []BlamedKernel `json:"kernels"`
	ByProducer []BlamedPart   `json:"by_class"` // by the class of the true producer
	ByRule     []BlamedPart   `json:"by_rule"`  // by the rule that decided
	Summary    BlameSummary   `json:"summary"`

	byProducer [blamer.NumDetailedReasons]blamer.Agreement
	byRule     [blamer.NumRules]blamer.Agreement
}

// A BlamedPart is a part of the dependency-stall samples with a known producer, and the shares of them that are blamed on it.
type BlamedPart struct {
	Name           string  `json:"name"`
	Samples        float64 `json:"samples"`
	Agreement      float64 `json:"agreement"`
	AgreementPlain float64 `json:"agreement_plain"` // by the paper's rules
	Overlap        float64 `json:"overlap"`         // of the samples of each instruction together
	Best           float64 `json:"best"`            // by any blame that looks at the samples of an instruction together
}

// A BlamedKernel is the blame of all launches of a launch file. Coverage is the mean over its launches, before and after pruning.
type BlamedKernel struct {
	BlamedPart
	SingleDependencyBefore float64 `json:"single_dependency_before"`
	SingleDependencyAfter  float64 `json:"single_dependency_after"`
}

// A BlameSummary adds kernels up. Agreement is of all samples together, coverage the mean over the kernels.
type BlameSummary struct {
	BlamedPart
	Lowest                 float64 `json:"lowest_agreement"` // of a kernel
	SingleDependencyBefore float64 `json:"single_dependency_before"`
	SingleDependencyAfter  float64 `json:"single_dependency_after"`
}

// Add enters a kernel with the blame of its launches. Where no sample has a known producer the kernel has no row.
func (x *BlameEvaluation) Add(name string, launches []*blamer.Result) {
	var sum blamer.Agreement
	k := BlamedKernel{}
	for _, r := range launches {
		for i, a := range r.ByProducer {
			x.byProducer[i].Merge(a)
		}
		for i, a := range r.ByRule {
			x.byRule[i].Merge(a)
			sum.Merge(a)
		}
		k.SingleDependencyBefore += r.SingleDependencyBefore / float64(len(launches))
		k.SingleDependencyAfter += r.SingleDependencyAfter / float64(len(launches))
	}
	if sum.Known == 0 {
		return
	}
	k.BlamedPart = blamedPart(name, sum)
	x.Kernels = append(x.Kernels, k)
}

func blamedPart(name string, a blamer.Agreement) BlamedPart {
	return BlamedPart{name, a.Known, a.Agreed / a.Known, a.Plain / a.Known, a.Overlap / a.Known, a.Best / a.Known}
}

// Sum computes what is left when all kernels are added.
func (x *BlameEvaluation) Sum() {
	var all blamer.Agreement
	for i, a := range x.byProducer {
		if a.Known > 0 {
			x.ByProducer = append(x.ByProducer, blamedPart(blamer.DetailedReason(i).String(), a))
			all.Merge(a)
		}
	}
	for i, a := range x.byRule {
		if a.Known > 0 {
			x.ByRule = append(x.ByRule, blamedPart(blamer.Rule(i).String(), a))
		}
	}
	if all.Known == 0 {
		return
	}
	s := BlameSummary{BlamedPart: blamedPart("all", all), Lowest: 1}
	for _, k := range x.Kernels {
		s.Lowest = min(s.Lowest, k.Agreement)
		s.SingleDependencyBefore += k.SingleDependencyBefore / float64(len(x.Kernels))
		s.SingleDependencyAfter += k.SingleDependencyAfter / float64(len(x.Kernels))
	}
	x.Summary = s
}

// BlameEvaluationText writes an evaluation as tables.
func BlameEvaluationText(w io.Writer, x *BlameEvaluation) error {
	var out strings.Builder
	table := blameTable("kernel")
	table.Columns = append(table.Columns, Column{Title: "single before", Right: true}, Column{Title: "after", Right: true})
	for _, k := range x.Kernels {
		table.Add(append(k.row(), percent(k.SingleDependencyBefore), percent(k.SingleDependencyAfter))...)
	}
	s := &x.Summary
	if s.Samples > 0 {
		table.Add(append(s.row(), percent(s.SingleDependencyBefore), percent(s.SingleDependencyAfter))...)
	}
	if err := table.Render(&out); err != nil {
		return err
	}
	for _, part := range []struct {
		title string
		rows  []BlamedPart
	}{{"class of the producer", x.ByProducer}, {"rule that decided", x.ByRule}} {
		table := blameTable(part.title)
		for _, p := range part.rows {
			table.Add(p.row()...)
		}
		out.WriteByte('\n')
		if err := table.Render(&out); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func blameTable(title string) Table {
	return Table{Columns: []Column{
		{Title: title, Width: 34}, {Title: "samples", Right: true}, {Title: "paper's rules", Right: true}, {Title: "agreement", Right: true},
		{Title: "best", Right: true}, {Title: "overlap", Right: true},
	}}
}

func (p *BlamedPart) row() []string {
	return []string{p.Name, thousands(int64(p.Samples)), percent(p.AgreementPlain), percent(p.Agreement), percent(p.Best), percent(p.Overlap)}
}
