package main

import (
	"context"
	"fmt"

	"gpa"
	"gpa/emu"
	"gpa/emu/convergence"
	"gpa/reports"
)

// The most warp instructions of a kernel that the web page runs under every re-convergence model, with timing and without: that
// takes some six times as long as the profile.
const (
	timedModels   = 1_000_000
	countedModels = 20_000_000
)

// modelTables runs a kernel that was profiled under every re-convergence model, for the web page. A kernel that takes too long, or
// that cannot be compared, has no table.
func modelTables(ctx context.Context, e *env, ran *gpa.Result) ([]reports.HTMLTable, error) {
	var instructions int64
	for _, l := range ran.Profile.Launches {
		instructions += l.Facts.WarpInstructions
	}
	o := convergence.Options{Timing: emu.TimingFull, HostMemory: emu.FreeMemory}
	switch {
	case ran.Failure() != nil || instructions > countedModels:
		return nil, nil
	case instructions > timedModels:
		o.Timing = emu.TimingNone
	}
	defer e.progress.stage("re-convergence models")()
	r := ran.Target
	list, err := convergence.Compare(ctx, r.File, r.Module, r.GPU, o)
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		fmt.Fprintf(e.stderr, "gpa profile: the page has no table of re-convergence models: %s\n", reports.OneLine(err.Error()))
		return nil, nil
	}
	var tables []reports.HTMLTable
	for _, l := range convergence.Sum(list) {
		if !diverges(&l) {
			continue
		}
		tables = append(tables, reports.HTMLTable{
			Kernel: reports.KernelName(r.Module, l.Kernel.Name), Title: "Re-convergence models", Note: modelNote(&l), Table: modelTable(&l),
		})
	}
	return tables, nil
}

// diverges reports whether a model issues more instructions for a launch than another one: else its warps hardly part.
func diverges(l *convergence.Launch) bool {
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
