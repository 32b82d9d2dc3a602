package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/advisor/tune"
	"gpa/cubin/compile"
	"gpa/emu"
	"gpa/kernels"
	"gpa/profiler/sampler"
	"gpa/profiler/store"
	"gpa/reports"
	"gpa/reports/reconvergence"
)

// profileFlags are the flags of gpa profile.
type profileFlags struct {
	launchFlags
	advice  adviceFlags
	program programFlags
	period  int
	seed    uint64
	timing  string
	store   storeFlags
	try     int
	most    int64 // cycles of all launches, 0 for no limit
	proves  bool
	prove   proveFlags
	tell    func(*env, *gpa.Result) error // nil for the report
}

func profileCommand() command {
	return command{
		runs: true, name: "profile", args: "KERNEL | -- CMD …", short: "run a kernel or a program on the emulated GPU, sample it, and say what to change",
		setup: func(flags *pflag.FlagSet) action {
			var f profileFlags
			return f.declare(flags)
		},
	}
}

// declare declares the flags and returns the action.
func (f *profileFlags) declare(flags *pflag.FlagSet) action {
	f.advice.register(flags)
	flags.IntVar(&f.period, "period", 0, "`CYCLES` between two samples of an SM, a power of two from 32 (default: chosen so that a launch gives a few thousand samples)")
	flags.Uint64Var(&f.seed, "seed", 0, "`NUMBER` that selects the sequence of warps sampled")
	flags.StringVar(&f.timing, "timing", "full", "`LEVEL` of the timing model: full, fast (perfect instruction cache, fixed L2 latency), or none (no cycles and no samples: counts, warnings)")
	flags.IntVar(&f.try, "try", byBudget, "try the first `N` pieces of advice on each kernel, 0 for none (default: as many as take six times the launches' instructions)")
	flags.Int64Var(&f.most, "max-cycles", 0, "stop when the launches have taken more than `N` cycles together, as an interrupt would (default: no limit)")
	flags.BoolVar(&f.proves, "prove", false, "change a copy of the source as the advice says, compile and run it, and print the diffs that made the kernel faster with the same outputs (gpa tune --help says more)")
	f.prove.register(flags)
	f.launchFlags.register(flags)
	f.store.register(flags)
	f.program.registerSelection(flags, "profile")
	f.program.registerKernels(flags)
	return func(ctx context.Context, e *env, args []string) error {
		if err := f.prove.check(flags); err != nil {
			return err
		}
		f.builds.Find = f.prove.find
		return f.run(ctx, e, args)
	}
}

// run profiles and reports.
func (f *profileFlags) run(ctx context.Context, e *env, args []string) error {
	switch command, err := f.program.command(ctx, &f.launchFlags, args); {
	case err != nil:
		return err
	case command != nil:
		return f.profileProgram(ctx, e, command)
	}
	if len(args) == 0 {
		return kernels.List(e.stdout)
	}
	name, err := oneArgument(args, "the kernel")
	if err != nil {
		return err
	}
	level, err := f.level()
	if err != nil {
		return err
	}
	var c *compile.Compiler
	if f.proves {
		if level != emu.TimingFull {
			return usagef("--prove: a speedup needs --timing full")
		}
		if c, err = f.prove.find(); err != nil {
			return err
		}
	}
	r, o, err := f.load(ctx, e, name)
	if err != nil {
		return err
	}
	o.Fast, o.Period, o.Seed, o.MaxCycles, o.Dispensable = level == emu.TimingFast, f.period, f.seed, f.most, !f.proves && f.tell == nil
	a := f.analysis("")
	a.Untimed = level == emu.TimingNone
	if o.Keep, err = f.store.keeping(); err != nil {
		return err
	}
	o.Keep.Memory = f.tell != nil
	if f.proves { // what is proved has to run
		o.Keep.Store = nil
	}
	result, err := r.Analyze(ctx, o, a)
	var differ *store.ConflictError
	switch {
	case errors.As(err, &differ):
		return failure{err}
	case err != nil:
		return err
	}
	if f.advice.html != "" && result.Failure() == nil {
		f.advice.tables = modelTables(ctx, e, result)
	}
	if c != nil && result.Failure() == nil {
		return f.reportProved(ctx, e, c, o, result)
	}
	if err := f.report(ctx, e, result); err != nil {
		return err
	}
	if err := failureOf(result); err != nil {
		return err
	}
	return endedEarly(ctx)
}

// report tells a result.
func (f *profileFlags) report(ctx context.Context, e *env, r *gpa.Result) error {
	if f.tell == nil {
		return f.advice.report(e, &r.Result, r.Sources)
	}
	if r.Target != nil {
		if err := r.Recall(ctx); err != nil {
			return err
		}
	}
	return f.tell(e, r)
}

// modelTables are tables of the re-convergence models for the web page. A kernel that cannot be compared has none.
func modelTables(ctx context.Context, e *env, ran *gpa.Result) []reports.HTMLTable {
	var instructions int64
	for _, l := range ran.Profile.Launches {
		instructions += l.Facts.WarpInstructions
	}
	defer e.progress.Stage("re-convergence models")()
	t := ran.Target
	tables, err := reconvergence.PageTables(ctx, t.File, t.Module, t.GPU, instructions)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(e.stderr, "gpa profile: the page has no table of re-convergence models: %s\n", reports.OneLine(err.Error()))
	}
	return tables
}

// analysis says what is made of a profile, of a program's launches where that is not "".
func (f *profileFlags) analysis(program string) gpa.Analysis {
	a := gpa.Analysis{Blame: f.advice.blamed(), Advice: f.advice.listed()}
	if f.try == 0 {
		return a
	}
	a.Try = &gpa.TryOptions{All: f.advice.all, First: f.try, Triton: compile.FindTriton(program, os.Getenv)}
	if f.try == byBudget {
		a.Try.First = 0
	} else if f.try < 0 {
		a.Try.First = math.MaxInt
	}
	return a
}

// byBudget is the number of pieces of advice to try where the budget decides.
const byBudget = -1

// reportProved reports, and proves what can be of the advice. Where nothing can be proved, the report is as without.
func (f *profileFlags) reportProved(ctx context.Context, e *env, c *compile.Compiler, o gpa.Options, result *gpa.Result) error {
	proof, proved := tune.Prove(ctx, result, f.prove.options(c, f.advice.source, o))
	f.advice.proof = proof
	if err := f.advice.report(e, &result.Result, result.Sources); err != nil {
		return err
	}
	if early := endedEarly(ctx); early != nil || proved == nil {
		return early
	}
	return fmt.Errorf("--prove: %w", proved)
}

// level reads --timing, and checks what goes with it.
func (f *profileFlags) level() (emu.TimingLevel, error) {
	level, err := emu.ParseTimingLevel(f.timing)
	switch _, sampling := sampler.New(sampler.Options{Period: f.period, Seed: f.seed}); {
	case err != nil:
		return 0, usagef("--timing: %w", err)
	case level == emu.TimingNone && f.try > 0:
		return 0, usagef("--try: without timing there is no advice to try")
	case sampling != nil:
		return 0, usagef("--period: %w", sampling)
	}
	return level, nil
}

// profileProgram runs a program and reports on the kernels that take most of the time.
func (f *profileFlags) profileProgram(ctx context.Context, e *env, args []string) error {
	level, err := f.level()
	switch {
	case err != nil:
		return err
	case f.proves:
		return usagef("--prove: patches are of kernels with a launch file")
	case level == emu.TimingNone:
		return usagef("--timing none: gpa run -- CMD runs a program without timing")
	}
	o, err := f.program.options(e, &f.launchFlags)
	if err != nil {
		return err
	}
	o.Timed, o.Keep = true, f.try != 0
	o.Run.Fast, o.Run.Period, o.Run.Seed = level == emu.TimingFast, f.period, f.seed
	p, ended, err := executeProgram(ctx, e, o, f.advice.json, args)
	if err != nil {
		return err
	}
	if !f.advice.json {
		if err := p.Table(e.stdout, e.style()); err != nil {
			return err
		}
	}
	f.advice.kernels = f.program.kernels
	r, err := p.Analyze(ctx, f.program.kernels, f.analysis(args[0]))
	switch {
	case err != nil:
		return err
	case len(r.Profile.Launches) == 0:
		return ended
	case !f.advice.json:
		fmt.Fprintln(e.stdout)
	}
	if err := f.report(ctx, e, r); err != nil {
		return err
	}
	return ended
}
