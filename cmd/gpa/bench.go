package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"gpa/emu/speed"
	"gpa/kernels"
	"gpa/reports"
)

// benchFlags are the flags of gpa bench.
type benchFlags struct {
	repeat  int
	workers int
	json    bool
}

func benchCommand() command {
	return command{
		name: "bench", args: "[KERNEL ...]", short: "measure how fast the emulated GPU runs on this machine",
		setup: func(flags *pflag.FlagSet) action {
			var f benchFlags
			flags.IntVar(&f.repeat, "repeat", 3, "run everything `N` times and take the fastest")
			flags.IntVar(&f.workers, "workers", 0, "also run with `N` workers, and tell the speedup")
			flags.BoolVar(&f.json, "json", false, "print JSON")
			return f.run
		},
	}
}

func (f *benchFlags) run(ctx context.Context, e *env, args []string) error {
	if f.repeat < 1 {
		return usagef("--repeat: %d is less than 1", f.repeat)
	}
	if f.workers < 0 || f.workers == 1 {
		return usagef("--workers: %d workers are not to be compared with one", f.workers)
	}
	if len(args) == 0 {
		args = kernels.Benchmarks()
	}
	out, err := speed.Measure(ctx, args, speed.Options{
		Repeat: f.repeat, Workers: f.workers, Stage: e.progress.Stage,
	})
	var wrong *speed.Failure
	switch {
	case errors.As(err, &wrong):
		return failure{err}
	case err != nil:
		return err
	case f.json:
		return reports.WriteJSON(e.stdout, out)
	}
	return out.Text(e.stdout, e.style())
}
