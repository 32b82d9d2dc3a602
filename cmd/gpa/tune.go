package main

import (
	"context"

	"github.com/spf13/pflag"

	"gpa/advisor/tune"
	"gpa/reports"
	"gpa/reports/files"
)

// tuneFlags are the flags of gpa tune.
type tuneFlags struct {
	launchFlags
	prove  proveFlags
	json   bool
	out    string
	source string
	rounds int
}

func tuneCommand() command {
	return command{
		runs: true, name: "tune", args: "KERNEL", short: "change a kernel's source as advised, compile and run it, until nothing gains",
		setup: func(flags *pflag.FlagSet) action {
			var f tuneFlags
			f.prove.register(flags)
			flags.IntVar(&f.rounds, "rounds", 8, "apply at most `N` patches")
			flags.StringVar(&f.out, "out", "", "write the tuned source, cubin, launch file and diff to `DIR`")
			flags.BoolVar(&f.json, "json", false, "print JSON")
			registerSource(flags, &f.source)
			f.launchFlags.register(flags)
			return func(ctx context.Context, e *env, args []string) error {
				if err := f.prove.check(flags); err != nil {
					return err
				}
				f.builds.Find = f.prove.find
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
	compiler, err := f.prove.find()
	if err != nil {
		return err
	}
	r, o, err := f.load(ctx, e, name)
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
	if f.json {
		err = reports.WriteJSON(e.stdout, tuned.Tuning)
	} else {
		err = reports.TuningText(e.stdout, tuned.Tuning, e.style())
	}
	if err != nil {
		return err
	}
	if f.out != "" {
		list, err := tuned.Files()
		if err != nil {
			return err
		}
		if err := files.Write(f.out, list); err != nil {
			return err
		}
	}
	return endedEarly(ctx)
}
