package main

import (
	"context"
	"fmt"

	"gpa"
	"gpa/emu"
	"gpa/emu/convergence"
	"gpa/reports"
	"gpa/reports/reconvergence"
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
	defer e.progress.Stage("re-convergence models")()
	r := ran.Target
	list, err := convergence.Compare(ctx, r.File, r.Module, r.GPU, o)
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		fmt.Fprintf(e.stderr, "gpa profile: the page has no table of re-convergence models: %s\n", reports.OneLine(err.Error()))
		return nil, nil
	}
	return reconvergence.PageTables(r.Module, convergence.Sum(list)), nil
}
