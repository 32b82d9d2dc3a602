package main

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/advisor/evaluation"
	"gpa/cubin/branch"
	"gpa/cubin/compile"
	"gpa/emu"
	"gpa/emu/convergence"
	"gpa/kernels"
	"gpa/reports"
	"gpa/reports/reconvergence"
)

// reconvergeFlags are the flags of gpa reconverge.
type reconvergeFlags struct {
	target          target
	builds          compile.Builder
	json            bool
	models          []string
	timing          string
	maxInstructions int64
	activity        string
	types           []string
	top             int
	tables          bool
}

func reconvergeCommand() command {
	return command{
		runs: true, name: "reconverge", args: "KERNEL | --tables DIR", short: "run a kernel under every re-convergence model and compare",
		setup: func(flags *pflag.FlagSet) action {
			var f reconvergeFlags
			flags.BoolVar(&f.json, "json", false, "print JSON")
			flags.StringSliceVar(&f.models, "models", nil, "only the rows `NAME,...` (volta always is one)")
			flags.StringVar(&f.timing, "timing", "full", "`LEVEL` of the timing model for cycles: full, fast, or none")
			flags.StringVar(&f.activity, "activity", convergence.Names()[0], "`MODEL` under which branches are watched, not struct or bound")
			flags.StringArrayVar(&f.types, "branch-type", nil, "the branches of source lines have a type: `FILE:LINE=TYPE` or FILE:FIRST-LAST=TYPE")
			flags.IntVar(&f.top, "top", 10, "the `N` branches and scopes that lose most lanes (0: all)")
			registerLimit(flags, &f.maxInstructions)
			flags.BoolVar(&f.tables, "tables", false, "the argument is a folder; print the papers' tables for all its launch files")
			f.target.register(flags)
			return withArgument("the kernel (or a folder with --tables)", f.run)
		},
	}
}

func (f *reconvergeFlags) run(ctx context.Context, e *env, name string) error {
	if f.tables {
		return f.runTables(ctx, e, name)
	}
	o := convergence.Options{Stdout: e.prints, MaxInstructions: f.maxInstructions, HostMemory: emu.FreeMemory}
	if err := f.options(&o); err != nil {
		return err
	}
	r, err := f.target.resolve(ctx, name, &f.builds)
	if err != nil {
		return err
	}
	list, err := convergence.Compare(ctx, r.File, r.Module, r.GPU, o)
	early := endedEarly(ctx)
	if err != nil && (early == nil || len(list) == 0) {
		return fmt.Errorf("%s: %w", r.File.Name, err)
	}
	if f.json {
		err = reports.WriteJSON(e.stdout, reconvergence.NewReport(r.Module, list))
	} else {
		err = f.print(e, r, convergence.Sum(list))
	}
	if err != nil {
		return err
	}
	if early != nil {
		return early
	}
	for _, rule := range convergence.Unused(o.Rules, list) {
		fmt.Fprintf(e.stderr, "gpa: --branch-type %s: no branch of the kernel is on these lines, or a later rule decides\n", &rule)
	}
	return failed(convergence.Failure(list))
}

// print prints the comparison. The host time of the transformation goes to standard error.
func (f *reconvergeFlags) print(e *env, t *gpa.Target, list []convergence.Launch) error {
	fmt.Fprintf(e.stdout, "%s on %s (sm_%d)\n", t.File.Name, t.GPU.Name, t.Module.Arch)
	if err := reconvergence.Text(e.stdout, t.Module, list, f.top, e.style()); err != nil {
		return err
	}
	if len(list) > 0 && list[0].Took > 0 {
		fmt.Fprintf(e.stderr, "restructured in %.1f ms\n", float64(list[0].Took.Microseconds())/1000)
	}
	return nil
}

// options checks the flags.
func (f *reconvergeFlags) options(o *convergence.Options) (err error) {
	o.Models, o.Activity = f.models, f.activity
	if err := o.CheckModels(); err != nil {
		return usagef("--models: %w", err)
	}
	if err := o.CheckActivity(); err != nil {
		return usagef("--activity: %w", err)
	}
	for _, text := range f.types {
		rule, err := branch.ParseRule(text)
		if err != nil {
			return usagef("--branch-type: %v", err)
		}
		o.Rules = append(o.Rules, rule)
	}
	if f.top < 0 {
		return usagef("--top: %d is negative", f.top)
	}
	if f.maxInstructions < 0 {
		return usagef("--max-instructions: %d is negative", f.maxInstructions)
	}
	if f.maxInstructions == 0 {
		o.MaxInstructions = math.MaxInt64
	}
	if o.Timing, err = emu.ParseTimingLevel(f.timing); err != nil {
		return usagef("--timing: %w", err)
	}
	return nil
}

// runTables prints the papers' tables for the launch files of a folder. Those that cannot be compared are named on standard
// error.
func (f *reconvergeFlags) runTables(ctx context.Context, e *env, folder string) error {
	if len(f.models) > 0 || f.json {
		return usagef("--tables has all models, and no JSON")
	}
	files, err := evaluation.FilesNamed(folder, kernels.LaunchFile)
	if err != nil {
		return err
	}
	o := convergence.Options{HostMemory: emu.FreeMemory}
	if err := f.options(&o); err != nil {
		return err
	}
	o.Models, o.Timing = convergence.TableRows(), emu.TimingNone
	subjects, failed := convergence.SubjectsOf(ctx, files, func(folder string) ([]convergence.Launch, error) {
		r, err := f.target.resolve(ctx, folder, &f.builds)
		if err != nil {
			return nil, err
		}
		return convergence.Compare(ctx, r.File, r.Module, r.GPU, o)
	}, func(file string, err error) { fmt.Fprintf(e.stderr, "gpa: %s: %v\n", file, err) })
	if err := convergence.WriteTables(e.stdout, subjects); err != nil {
		return err
	}
	if err := endedEarly(ctx); err != nil {
		return err
	}
	if failed > 0 {
		return failure{fmt.Errorf("%d of %d launch files left out", failed, len(files))}
	}
	return nil
}
