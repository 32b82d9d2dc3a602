package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/advisor/tune"
	"gpa/emu"
	"gpa/kernels"
	"gpa/profiler/program"
	"gpa/profiler/sampler"
	"gpa/profiler/store"
	"gpa/reports"
)

// profileFlags are the flags of gpa profile.
type profileFlags struct {
	target  target
	machine machineFlags
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
}

func profileCommand() command {
	return command{
		runs: true, name: "profile", args: "KERNEL | -- CMD …", short: "run a kernel or a program on the emulated GPU, sample it, and say what to change",
		long: kernelHelp + ` Without a KERNEL the built-in
ones are listed.

Every SM takes a sample of one of its warp schedulers each period: the instruction that a warp was about to issue and
why it did not. Stalls are blamed on the instructions that cause them, and the changes worth making are ranked by the
speedup that each should bring. --html FILE writes the report as one web page: stalls, bandwidth, a roofline, the advice, the
re-convergence models side by side (of kernels up to 20 million warp instructions), source beside machine code.

Advice is tried before it ranks: the costliest launch of each kernel runs again for one piece of advice after the other, with its change
supposed in time only: instructions gone or cheap, accesses coalesced or free of bank conflicts, loads of several rounds under way together, warps
full, as many blocks on an SM as there would be place for, the code scheduled anew, its barriers placed anew or another
re-convergence model in their stead, its control flow structured, another shape of the launch. A new shape or code counts only where
the outputs stay equal. A barrier that is gone lets warps run ahead of each other. Advice that was tried ranks by what came out, before
advice that was only estimated; what gains less than 2 % is told with --all only. By default a large launch is tried on a portion: the
blocks of each wave that an eighth, a quarter or half of the GPU holds, on that part of it, with the change and without; if that takes as
long without as the whole launch, within a tenth. --try N tries the first N pieces, by their estimates, on whole launches, however long
that takes.

Warnings, before the advice, name synchronisation that may hang, from the code alone: barriers that not all threads of a block come
to, a WARPSYNC before such a barrier, and loops that wait for a thread of the same warp (--json: "warnings": [{"kind":
"barrier-under-divergent-control|warpsync-before-barrier|spin-loop", "at", "branch": locations, "text"}]).

Of a large grid only the first blocks are timed, until wave after wave of them has taken the same time for an instruction. The
others take effect without timing, their cycles are extrapolated, and the report says from how many blocks and within which
error. --whole-grid times them all. With --portions, a launch of more than 8 million warp instructions and sectors is timed on a sixteenth
of the GPU, with a sixteenth of its blocks from all over the grid, then on an eighth, and so on until two in a row take the same time; all
blocks take effect. Samples come from the last portion. Of the errors that were measured not all lie within the bound that it names.

What depended on what through memory in some of the blocks is recorded and saved with the samples; advice to divide loops, drop barriers
or mark loads restrict or constant rests on it. Where nothing tells, as of samples from hardware, the advice says what it assumes (--json:
"assumed").

Launches in a row that are equal in every figure are told once, with their number (--json: "count"). One that has the arguments of
an earlier one, and begins with the same device memory and with cold caches, is that launch again and is not run ("not_run").

--out DIR writes profile.pb.gz and blame.pb.gz (for go tool pprof and gpa pprof), samples.gpa (for gpa advise, with the cubin inside), advice.txt and
advice.json. The same launch gives the same bytes. Device-side printf goes to standard error. An interrupt (Ctrl-C)
stops the launch: the result is of what was sampled until then and says so, and the exit status is 1. A second one ends
gpa at once.` + programHelp + `

Of a program every launch is profiled that --kernel (a regular expression), --launch-skip and --launch-count select, the others run without timing,
at full speed. The report begins with a table of all kernels; blame and advice follow for the --kernels N that take most of the time. Each is timed as gpa capture
would write it, with buffers where a launch file has them, so that advice is tried as that on a KERNEL.`,
		setup: func(flags *pflag.FlagSet) action {
			var f profileFlags
			f.advice.register(flags)
			flags.IntVar(&f.period, "period", 0, "`CYCLES` between two samples of an SM, a power of two from 32 (default: chosen so that a launch gives a few thousand samples)")
			flags.Uint64Var(&f.seed, "seed", 0, "`NUMBER` that selects the sequence of warps sampled")
			flags.StringVar(&f.timing, "timing", "full", "`LEVEL` of the timing model: full, fast (perfect instruction cache, fixed L2 latency), or none (no cycles and no samples: counts, warnings)")
			flags.IntVar(&f.try, "try", byBudget, "try the first `N` pieces of advice on each kernel, 0 for none (default: as many as take three times the launches' instructions)")
			flags.Int64Var(&f.most, "max-cycles", 0, "stop when the launches have taken more than `N` cycles together, as an interrupt would (default: no limit)")
			flags.BoolVar(&f.proves, "prove", false, "change a copy of the source as the advice says, compile and run it, and print the diffs that made the kernel faster with the same outputs (gpa tune --help says more)")
			f.prove.register(flags)
			f.machine.register(flags)
			f.target.register(flags)
			f.store.register(flags)
			f.program.registerSelection(flags, "profile")
			f.program.registerKernels(flags)
			return func(ctx context.Context, e *env, args []string) error {
				if err := f.prove.check(flags); err != nil {
					return err
				}
				return f.run(ctx, e, args)
			}
		},
	}
}

func (f *profileFlags) run(ctx context.Context, e *env, args []string) error {
	if f.program.given() {
		return f.profileProgram(ctx, e, args)
	}
	if len(args) == 0 {
		return listKernels(e.stdout)
	}
	name, err := oneArgument(args, "the kernel")
	if err != nil {
		return err
	}
	level, err := f.level()
	if err != nil {
		return err
	}
	if _, err := sampler.New(sampler.Options{Period: f.period, Seed: f.seed}); err != nil {
		return usagef("--period: %w", err)
	}
	var c *tune.Compiler
	if f.proves {
		if level != emu.TimingFull {
			return usagef("--prove: a speedup needs --timing full")
		}
		if c, err = f.prove.find(os.Getenv); err != nil {
			return err
		}
	}
	r, err := f.target.resolve(name)
	if err != nil {
		return err
	}
	o, err := f.machine.options(e)
	if err != nil {
		return err
	}
	o.Fast, o.Period, o.Seed, o.MaxCycles = level == emu.TimingFast, f.period, f.seed, f.most
	a := gpa.Analysis{
		Untimed: level == emu.TimingNone, Blame: f.advice.blamed(), Advice: f.advice.listed(), Try: f.tries(), Again: f.store.not,
		Tell: func(err error) { fmt.Fprintf(e.stderr, "gpa profile: %s\n", reports.OneLine(err.Error())) },
	}
	if a.Store, err = f.store.open(); err != nil {
		return err
	}
	if f.proves { // what is proved has to run
		a.Store = nil
	}
	result, err := r.Analyze(ctx, o, a)
	var differ *store.ConflictError
	switch {
	case errors.As(err, &differ):
		return failure{err}
	case err != nil:
		return err
	}
	if f.advice.html != "" {
		if f.advice.tables, err = modelTables(ctx, e, result); err != nil {
			return err
		}
	}
	if c != nil && result.Failure() == nil {
		return f.reportProved(ctx, e, c, o, result)
	}
	if err := f.advice.report(e, &result.Result, r.Sources); err != nil {
		return err
	}
	if err := failureOf(result); err != nil {
		return err
	}
	return endedEarly(ctx)
}

// tries says which advice is tried, nil for none.
func (f *profileFlags) tries() *gpa.TryOptions {
	o := &gpa.TryOptions{First: f.try, All: f.advice.all}
	switch {
	case f.try == 0:
		return nil
	case f.try == byBudget:
		o.First = 0
	case f.try < 0:
		o.First = math.MaxInt
	}
	return o
}

// byBudget is the number of pieces of advice to try where the budget decides.
const byBudget = -1

// reportProved reports, and proves what can be of the advice. Where nothing can be proved, the report is as without.
func (f *profileFlags) reportProved(ctx context.Context, e *env, c *tune.Compiler, o gpa.Options, result *gpa.Result) error {
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

// level reads --timing.
func (f *profileFlags) level() (emu.TimingLevel, error) {
	for _, level := range []emu.TimingLevel{emu.TimingFull, emu.TimingFast, emu.TimingNone} {
		if f.timing != level.String() {
			continue
		}
		if level == emu.TimingNone && f.try > 0 {
			return 0, usagef("--try: without timing there is no advice to try")
		}
		return level, nil
	}
	return 0, usagef("--timing: %q is none of full, fast and none", f.timing)
}

// profileProgram runs a program and reports on the kernels that take most of the time.
func (f *profileFlags) profileProgram(ctx context.Context, e *env, args []string) error {
	level, err := f.level()
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return usagef("there is no program behind --")
	case f.proves:
		return usagef("--prove: patches are of kernels with a launch file")
	case level == emu.TimingNone:
		return usagef("--timing none: gpa run -- CMD runs a program without timing")
	}
	o, err := f.program.options(e, &f.target, &f.machine)
	if err != nil {
		return err
	}
	if _, err := sampler.New(sampler.Options{Period: f.period, Seed: f.seed}); err != nil {
		return usagef("--period: %w", err)
	}
	o.Timed, o.Keep = true, f.try != 0
	o.Run.Fast, o.Run.Period, o.Run.Seed = level == emu.TimingFast, f.period, f.seed
	p, ended, err := executeProgram(ctx, e, o, f.advice.json, args)
	if err != nil {
		return err
	}
	if err := f.reportProgram(ctx, e, p); err != nil {
		return err
	}
	return ended
}

// reportProgram prints the table of kernels and what there is to say of the costliest.
func (f *profileFlags) reportProgram(ctx context.Context, e *env, p *program.Program) error {
	if !f.advice.json {
		if err := p.Table(e.stdout, e.style()); err != nil {
			return err
		}
	}
	result := gpa.FromProfile(p.Profile(f.program.kernels), gpa.NewSources("."))
	if len(result.Profile.Launches) == 0 {
		return nil
	}
	if err := result.Blame(f.advice.blamed()); err != nil {
		return err
	}
	if err := f.adviseProgram(ctx, e, p, result); err != nil {
		return err
	}
	if !f.advice.json {
		fmt.Fprintln(e.stdout)
	}
	return f.advice.report(e, &result.Result, result.Sources)
}

// adviseProgram ranks the advice on the costliest kernels of a program, by what-if runs where there are to be any.
func (f *profileFlags) adviseProgram(ctx context.Context, e *env, p *program.Program, result *gpa.Result) error {
	tries := f.tries()
	if tries == nil {
		return result.Advise(f.advice.listed())
	}
	for _, why := range p.Untried(f.program.kernels) {
		fmt.Fprintf(e.stderr, "gpa: %v\n", why)
	}
	return p.Try(ctx, result, f.program.kernels, *tries)
}

// listKernels is what gpa profile prints without a kernel.
func listKernels(w io.Writer) error {
	fmt.Fprintln(w, "Built-in kernels, as in gpa profile vecadd:")
	for _, name := range kernels.Names() {
		if _, err := fmt.Fprintf(w, "  %-16s %s\n", name, kernels.Describe(name)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "A launch file or a cubin of your own goes in the same place; gpa profile --help says how.")
	return err
}
