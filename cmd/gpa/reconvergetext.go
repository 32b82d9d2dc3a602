package main

import (
	"fmt"
	"strconv"

	"gpa"
	"gpa/emu/convergence"
	"gpa/reports"
)

// reconvergeText prints the comparison, a table for each kernel. The host time of the transformation goes to standard error.
func reconvergeText(e *env, r *gpa.Target, list []convergence.Launch, top int) error {
	fmt.Fprintf(e.stdout, "%s on %s (sm_%d)\n", r.File.Name, r.GPU.Name, r.Module.Arch)
	for i := range list {
		l := &list[i]
		times := ""
		if l.Times > 1 {
			times = fmt.Sprintf(", %d launches", l.Times)
		}
		fmt.Fprintf(e.stdout, "\n%s%s\n", l.Kernel.Demangled, times)
		if err := e.table(e.stdout, modelTable(l)); err != nil {
			return err
		}
		for k := range l.Runs {
			if run := &l.Runs[k]; run.Fault != "" {
				fmt.Fprintf(e.stdout, "  %s: %s\n", run.Model, run.Fault)
			}
		}
		staticText(e, l)
		if err := activityText(e, r.Module, l.Activity, top); err != nil {
			return err
		}
	}
	if len(list) > 0 && list[0].Took > 0 {
		fmt.Fprintf(e.stderr, "restructured in %.1f ms\n", float64(list[0].Took.Microseconds())/1000)
	}
	return nil
}

// modelTable lists the models.
func modelTable(l *convergence.Launch) *reports.Table {
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
func staticText(e *env, l *convergence.Launch) {
	f, s := &l.Frontier, &l.Structure
	fmt.Fprintf(e.stdout, "  thread frontiers of %d blocks: %d to %d blocks, mean %.2f; %d re-convergence checks; joins: %d, at post-dominators %d\n",
		f.Blocks, f.Min, f.Max, f.Mean, f.Checks, f.TFJoins, f.PDOMJoins)
	switch {
	case !s.Unstructured:
		fmt.Fprintln(e.stdout, "  control flow is structured")
	case s.Err != "":
		fmt.Fprintf(e.stdout, "  control flow is unstructured and cannot be changed: %s\n", s.Err)
	default:
		fmt.Fprintf(e.stdout, "  control flow is unstructured: %d forward copies, %d backward copies, %d cuts of %d edges make it structured;\n"+
			"    %d blocks copied, %d → %d instructions (%+.1f%%)\n",
			s.ForwardCopies, s.BackwardCopies, s.Cuts, s.CutEdges, s.CopiedBlocks, s.Before, s.After, 100*s.StaticExpansion())
	}
	if share, ok := l.DynamicExpansion(); ok {
		fmt.Fprintf(e.stdout, "  dynamic code expansion: %.1f%% of the warp instructions of pdom", 100*share)
		if limit, ok := l.ExpansionLimit(); ok && s.Unstructured {
			fmt.Fprintf(e.stdout, "; upper limit: %.1f%%", 100*limit)
		}
		fmt.Fprintln(e.stdout)
	}
}
