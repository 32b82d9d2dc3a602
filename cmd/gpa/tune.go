package main

import (
	"context"
	"os"

	"github.com/spf13/pflag"

	"gpa/advisor/tune"
	"gpa/reports"
	"gpa/reports/files"
)

// tuneFlags are the flags of gpa tune.
type tuneFlags struct {
	target  target
	machine machineFlags
	prove   proveFlags
	json    bool
	out     string
	source  string
	rounds  int
}

func tuneCommand() command {
	return command{
		runs: true, name: "tune", args: "KERNEL", short: "change a kernel's source as advised, compile and run it, until nothing gains",
		long: kernelHelp + `

Advice that can be followed mechanically is: the source is copied, changed, compiled by --compiler, and run with the same memory. A patch is proved
where the kernel takes 2 % fewer cycles at least, all buffers hold what they held, and gpa check finds no error that was not there. The
best one is applied, the kernel is profiled anew, and so on, until no patch gains. The source of the kernel that takes most of the time is
looked for under the name that the line table has, or named by --source FILE; it is never written to.

Patches are: #pragma unroll before a loop, __restrict__ pointers (const where they are only read), __launch_bounds__, float constants,
approximate functions by name or -use_fast_math, __forceinline__, and another shape of the launch with as many threads.

Speedups are against the unchanged source as the compiler makes it. --out DIR writes the tuned source, its cubin, a launch file and the diff
as a folder that gpa profile takes. What was tried and did not help is listed with the reason.

--json prints {"kernel", "source", "compiler", "given_cycles", "base_cycles", "versions", "runs", "skipped", "patches": [{"change",
"optimizer", "estimated_speedup", "tried_speedup", "outcome": "proved|no-gain|slower|outputs-differ|finding|same-code|not-compiled|not-run|untrue",
"speedup", "cycles", "outputs", "why", "flags", "grid", "block", "diff"}], "steps": the patches applied, "speedup", "cycles", "flags",
"grid", "block", "diff"}.`,
		setup: func(flags *pflag.FlagSet) action {
			var f tuneFlags
			f.prove.register(flags)
			flags.IntVar(&f.rounds, "rounds", 8, "apply at most `N` patches")
			flags.StringVar(&f.out, "out", "", "write the tuned source, cubin, launch file and diff to `DIR`")
			flags.BoolVar(&f.json, "json", false, "print JSON")
			registerSource(flags, &f.source)
			f.machine.register(flags)
			f.target.register(flags)
			return func(ctx context.Context, e *env, args []string) error {
				if err := f.prove.check(flags); err != nil {
					return err
				}
				return f.run(ctx, e, args)
			}
		},
	}
}

func (f *tuneFlags) run(ctx context.Context, e *env, args []string) error {
	name, err := oneArgument(args, "the kernel")
	if err != nil {
		return err
	}
	if f.rounds < 1 {
		return usagef("--rounds: %d is not positive", f.rounds)
	}
	compiler, err := f.prove.find(os.Getenv)
	if err != nil {
		return err
	}
	r, err := f.target.resolve(name)
	if err != nil {
		return err
	}
	o, err := f.machine.options(e)
	if err != nil {
		return err
	}
	ran, err := r.Profile(ctx, o)
	if err != nil {
		return err
	}
	if err := failureOf(ran); err != nil {
		return err
	}
	how := f.prove.options(compiler, f.source, o)
	how.Rounds = f.rounds
	tuned, err := tune.Tune(ctx, ran, how)
	if err != nil {
		return err
	}
	if err := f.print(e, tuned.Tuning); err != nil {
		return err
	}
	if err := f.write(tuned); err != nil {
		return err
	}
	return endedEarly(ctx)
}

func (f *tuneFlags) print(e *env, t *reports.Tuning) error {
	if f.json {
		return reports.WriteJSON(e.stdout, t)
	}
	return reports.TuningText(e.stdout, t, e.style())
}

// write writes the tuned kernel as a folder that gpa profile takes.
func (f *tuneFlags) write(t *tune.Tuned) error {
	if f.out == "" {
		return nil
	}
	list, err := t.Files()
	if err != nil {
		return err
	}
	return files.Write(f.out, list)
}
