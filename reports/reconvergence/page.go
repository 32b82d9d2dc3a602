package reconvergence

import (
	"context"

	"fmt"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/convergence"
	"gpa/emu/launch"
	"gpa/reports"
)

// The most warp instructions of a kernel that the web page runs under every re-convergence model, with timing and without: that
// takes some six times as long as the profile.
const (
	timedModels   = 1_000_000
	countedModels = 20_000_000
)

// PageTables runs launches that have executed so many warp instructions under every re-convergence model, and returns tables for the web page of a
// profile, of the kernels whose warps diverge; none where that takes too long.
func PageTables(ctx context.Context, file *launch.File, module *cubin.File, gpu *arch.Model, instructions int64) ([]reports.HTMLTable, error) {
	o := convergence.Options{Timing: emu.TimingFull, HostMemory: emu.FreeMemory}
	switch {
	case instructions > countedModels:
		return nil, nil
	case instructions > timedModels:
		o.Timing = emu.TimingNone
	}
	list, err := convergence.Compare(ctx, file, module, gpu, o)
	if err != nil {
		return nil, err
	}
	var tables []reports.HTMLTable
	list = convergence.Sum(list)
	for i := range list {
		l := &list[i]
		if !Diverges(l) {
			continue
		}
		tables = append(tables, reports.HTMLTable{
			Kernel: reports.KernelName(module, l.Kernel.Name), Title: "Re-convergence models", Note: modelNote(l), Table: ModelTable(l),
		})
	}
	return tables, nil
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
