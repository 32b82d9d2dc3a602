package main

import (
	"context"
	"errors"
	"os"

	"gpa/reports/pprof"
)

func pprofCommand() command {
	return command{
		name: "pprof", args: "[PPROF FLAG ...] SOURCE ...", short: "look at profiles with pprof, machine code included",
		raw: runPprof,
	}
}

func runPprof(ctx context.Context, e *env, args []string) error {
	s := pprof.NewSources(ctx)
	s.Version, s.Options.Stdout = version, e.prints
	if e.progress != nil {
		s.Options.Progress = e.progress
		s.Running = func() func() {
			e.progress.Start("gpa pprof")
			return e.progress.Finish
		}
	}
	defer s.Close()
	// pprof's web server and its prompt end with the process only.
	defer context.AfterFunc(ctx, func() {
		s.Close()
		os.Exit(exitFailed)
	})()
	err := s.Show(args, e.stderr)
	var usage *pprof.UsageError
	if errors.As(err, &usage) {
		return usageError{err}
	}
	return err
}
