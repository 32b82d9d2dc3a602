package reconvergence

import (
	"fmt"

	"gpa/cubin"
	"gpa/emu/convergence"
	"gpa/reports"
)

// PageTables are the tables for the web page of a profile, of the kernels whose warps diverge.
func PageTables(module *cubin.File, list []convergence.Launch) []reports.HTMLTable {
	var tables []reports.HTMLTable
	for i := range list {
		l := &list[i]
		if !Diverges(l) {
			continue
		}
		tables = append(tables, reports.HTMLTable{
			Kernel: reports.KernelName(module, l.Kernel.Name), Title: "Re-convergence models", Note: modelNote(l), Table: ModelTable(l),
		})
	}
	return tables
}

// Diverges reports whether a model issues more instructions for a launch than another one: else its warps hardly part.
func Diverges(l *convergence.Launch) bool {
	for i := range l.Runs {
		run := &l.Runs[i]
		if run.Status != convergence.OK || run.WarpInstructions != l.Runs[0].WarpInstructions {
			return true
		}
	}
	return false
}

// modelNote says what the table's rows are, and why some have no figures.
func modelNote(l *convergence.Launch) string {
	note := "The same code under other ways to bring the threads of a warp together again (gpa reconverge says more). Activity: share of active lanes."
	for i := range l.Runs {
		if run := &l.Runs[i]; run.Fault != "" {
			note += fmt.Sprintf(" %s: %s.", run.Model, run.Fault)
		}
	}
	return note
}
