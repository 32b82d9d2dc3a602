package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/advisor"
	"gpa/emu/launch"
	"gpa/reports"
	"gpa/reports/files"
)

// compareFlags are the flags of gpa compare.
type compareFlags struct {
	gpu        string
	json       bool
	markdown   bool
	junit      string
	html       string
	optimizer  string
	minSpeedup float64
	rtol, atol float64
	source     string
	machine    machineFlags
	store      storeFlags

	tolerance *launch.Tolerance // nil for the launch files'
}

func compareCommand() command {
	return command{
		runs: true, name: "compare", args: "BEFORE AFTER", short: "tell what a change has brought, and fail where it made things worse",
		setup: func(flags *pflag.FlagSet) action {
			var f compareFlags
			flags.StringVar(&f.gpu, "arch", "", "`GPU` to run kernels on: a model as in v100, or sm_NN (default: by the cubin)")
			flags.BoolVar(&f.json, "json", false, "print JSON")
			flags.BoolVar(&f.markdown, "markdown", false, "print a table for a pull request")
			flags.StringVar(&f.junit, "junit", "", "write JUnit's XML to `FILE`")
			flags.StringVar(&f.html, "html", "", "write the comparison as one web page to `FILE`: both sides' facts, stalls and source lines")
			registerSource(flags, &f.source)
			flags.StringVar(&f.optimizer, "optimizer", "", "`NAME` of the advice that was followed (default: the best of which most stalls have gone)")
			flags.Float64Var(&f.minSpeedup, "min-speedup", 0, "fail where a kernel's speedup is below `X`, as in 0.98")
			flags.Float64Var(&f.rtol, "rtol", 0, "relative tolerance `R` of the outputs")
			flags.Float64Var(&f.atol, "atol", 0, "absolute tolerance `A` of the outputs")
			f.machine.register(flags)
			f.store.register(flags)
			return func(ctx context.Context, e *env, args []string) error {
				if flags.Changed("rtol") || flags.Changed("atol") {
					f.tolerance = &launch.Tolerance{Rtol: f.rtol, Atol: f.atol}
				}
				return f.run(ctx, e, args)
			}
		},
	}
}

func (f *compareFlags) run(ctx context.Context, e *env, args []string) error {
	if len(args) != 2 {
		return usagef("two results are compared, not %d", len(args))
	}
	if err := f.check(); err != nil {
		return err
	}
	before, err := f.side(ctx, e, args[0])
	if err != nil {
		return err
	}
	after, err := f.side(ctx, e, args[1])
	if err != nil {
		return err
	}
	for _, side := range []*gpa.Result{before, after} {
		side.Sources = side.Sources.Before(f.source)
		defer side.Sources.Missed(e.stderr)
	}
	c, err := gpa.Compare(before, after, gpa.CompareOptions{Optimizer: f.optimizer, Tolerance: f.tolerance})
	if err != nil {
		return err
	}
	o := reports.CompareOptions{Optimizer: f.optimizer, BeforeSource: before.Sources.Read, AfterSource: after.Sources.Read}
	page := func(w io.Writer) error {
		return reports.CompareHTML(w, c.Comparison, &before.Result, &after.Result, o, version)
	}
	if err := files.Save(f.html, page); err != nil {
		return err
	}
	if err := f.print(e, c.Comparison, o); err != nil {
		return err
	}
	return failed(c.Failure(after, f.minSpeedup))
}

// check refuses flags that make no sense.
func (f *compareFlags) check() error {
	if f.json && f.markdown {
		return usagef("--json and --markdown exclude each other")
	}
	var names []string
	for _, o := range advisor.Optimizers() {
		names = append(names, o.Name())
	}
	if f.optimizer != "" && !slices.Contains(names, f.optimizer) {
		near := reports.Suggestion(f.optimizer, names)
		if near == "" {
			near = "; there are " + strings.Join(names, ", ")
		}
		return usagef("--optimizer: there is no %q%s", f.optimizer, near)
	}
	return nil
}

// side profiles a kernel or loads a saved result, and advises on it.
func (f *compareFlags) side(ctx context.Context, e *env, name string) (*gpa.Result, error) {
	o, err := f.options(e)
	if err != nil {
		return nil, err
	}
	o.Keep.Memory = true
	return gpa.ResultOf(ctx, name, gpa.LoadOptions{GPU: f.gpu}, o, gpa.Analysis{})
}

// options are those of runs whose results may be kept.
func (f *compareFlags) options(e *env) (gpa.Options, error) {
	o, err := f.machine.options(e)
	if err == nil {
		o.Keep, err = f.store.keeping()
	}
	return o, err
}

func (f *compareFlags) print(e *env, c *reports.Comparison, o reports.CompareOptions) error {
	wrong := func(p *reports.Pair) string { return p.Wrong(f.minSpeedup) }
	if err := files.Save(f.junit, func(w io.Writer) error { return reports.CompareJUnit(w, c, wrong) }); err != nil {
		return err
	}
	switch {
	case f.json:
		return reports.WriteJSON(e.stdout, c)
	case f.markdown:
		return reports.CompareMarkdown(e.stdout, c)
	}
	o.Style = e.style()
	return reports.CompareText(e.stdout, c, o)
}
