package reconvergence

import (
	"fmt"
	"io"
	"strconv"

	"gpa/cubin"
	"gpa/emu/convergence"
	"gpa/reports"
)

// Text prints a comparison of the launches of a module, a table for each kernel. Of branches and scopes the top that lose most lanes are
// listed, all with 0.
func Text(w io.Writer, module *cubin.File, list []convergence.Launch, top int, style reports.Style) error {
	for i := range list {
		l := &list[i]
		times := ""
		if l.Times > 1 {
			times = fmt.Sprintf(", %d launches", l.Times)
		}
		fmt.Fprintf(w, "\n%s%s\n", l.Kernel.Demangled, times)
		t := ModelTable(l)
		t.Style = style
		if err := t.Render(w); err != nil {
			return err
		}
		for k := range l.Runs {
			if run := &l.Runs[k]; run.Fault != "" {
				fmt.Fprintf(w, "  %s: %s\n", run.Model, run.Fault)
			}
		}
		staticText(w, l)
		if err := activityText(w, module, l.Activity, top); err != nil {
			return err
		}
	}
	return nil
}

// ModelTable lists the models.
func ModelTable(l *convergence.Launch) *reports.Table {
	t := &reports.Table{Indent: "  ", Columns: []reports.Column{{Title: "model"}}}
	for _, title := range []string{"warp inst.", "no barriers", "thread inst.", "activity", "of block", "mem. eff.", "stack", "cycles", "outputs"} {
		t.Columns = append(t.Columns, reports.Column{Title: title, Right: true})
	}
	for i := range l.Runs {
		t.Add(modelCells(&l.Runs[i])...)
	}
	return t
}

// modelCells are the cells of a model; what is not known is empty.
func modelCells(r *convergence.Run) []string {
	if r.Status != convergence.OK {
		return []string{r.Model, string(r.Status)}
	}
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	cells := []string{r.Model, whole(r.WarpInstructions), whole(r.WarpInstructions - r.BarrierWarpInstructions),
		whole(r.ThreadInstructions), fraction(r.Factor())}
	if r.Bound {
		return cells
	}
	memory, cycles, outputs := "", "", "differ"
	if r.MemoryInstructions > 0 {
		memory = fraction(r.MemoryEfficiency())
	}
	if r.Cycles > 0 {
		cycles = whole(r.Cycles)
	}
	if r.OutputsEqual {
		outputs = "equal"
	}
	return append(cells, fraction(r.BlockFactor()), memory, strconv.Itoa(r.MaxStack), cycles, outputs)
}

// fraction prints a share with three digits.
func fraction(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// staticText prints what is known without running.
func staticText(w io.Writer, l *convergence.Launch) {
	f, s := &l.Frontier, &l.Structure
	fmt.Fprintf(w, "  thread frontiers of %d blocks: %d to %d blocks, mean %.2f; %d re-convergence checks; joins: %d, at post-dominators %d\n",
		f.Blocks, f.Min, f.Max, f.Mean, f.Checks, f.TFJoins, f.PDOMJoins)
	switch {
	case !s.Unstructured:
		fmt.Fprintln(w, "  control flow is structured")
	case s.Err != "":
		fmt.Fprintf(w, "  control flow is unstructured and cannot be changed: %s\n", s.Err)
	default:
		fmt.Fprintf(w, "  control flow is unstructured: %d forward copies, %d backward copies, %d cuts of %d edges make it structured;\n"+
			"    %d blocks copied, %d → %d instructions (%+.1f%%)\n",
			s.ForwardCopies, s.BackwardCopies, s.Cuts, s.CutEdges, s.CopiedBlocks, s.Before, s.After, 100*s.StaticExpansion())
	}
	if share, ok := l.DynamicExpansion(); ok {
		fmt.Fprintf(w, "  dynamic code expansion: %.1f%% of the warp instructions of pdom", 100*share)
		if limit, ok := l.ExpansionLimit(); ok && s.Unstructured {
			fmt.Fprintf(w, "; upper limit: %.1f%%", 100*limit)
		}
		fmt.Fprintln(w)
	}
}
