package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/cubin/compile"
	"gpa/reports"
)

// A watch profiles again and again. It has the flags of gpa profile.
type watch struct {
	profileFlags
	before *gpa.Result // the last that ran to its end
}

func watchCommand() command {
	return command{
		runs: true, name: "watch", args: "KERNEL [-- ARG …]", short: "profile a CUDA source or launch file on every save, and say what moved",
		setup: func(flags *pflag.FlagSet) action {
			var w watch
			act := w.declare(flags)
			w.tell = w.compare
			return func(ctx context.Context, e *env, args []string) error { return w.run(ctx, e, args, act) }
		},
	}
}

// run profiles, and waits for a change, until it is interrupted.
func (w *watch) run(ctx context.Context, e *env, args []string, profile action) error {
	if len(args) == 0 || w.program.flags.ArgsLenAtDash() == 0 {
		return usagef("what is watched is a CUDA source or a launch file")
	}
	if w.proves || w.advice.json {
		return usagef("--prove and --json go with gpa profile")
	}
	out := *e
	out.stdout = e.live()
	for {
		now := compile.Stamp(w.watched(args[0]))
		var usage usageError
		switch err := profile(ctx, &out, args); {
		case ctx.Err() != nil:
			return nil // how a watch ends
		case errors.As(err, &usage):
			return err
		case err != nil:
			fmt.Fprintf(e.stderr, "gpa watch: %s\n", reports.OneLine(explained(err).Error()))
		}
		fmt.Fprintf(e.stderr, "gpa watch: waiting for a change of %s\n", filepath.Base(args[0]))
		if err := compile.Changed(ctx, now, w.watched(args[0])); err != nil {
			return nil
		}
		fmt.Fprintln(out.stdout)
	}
}

// watched lists the files that what KERNEL stands for was made of the last time.
func (w *watch) watched(name string) []string {
	list := append([]string{name}, w.builds.Sources...)
	if compile.IsSource(name) {
		list = append(list, gpa.BesideSource(name))
	}
	if w.before != nil && w.before.Target != nil {
		file := w.before.Target.File
		for _, f := range append(file.Files(), file.Module) {
			list = append(list, filepath.Join(filepath.Dir(name), f))
		}
	}
	return list
}

// compare reports a result in full the first time, then what has moved since the one before.
func (w *watch) compare(e *env, r *gpa.Result) error {
	before := w.before
	if r.Failure() == nil {
		if w.before = r; before != nil {
			// Where there are other kernels now, there is nothing to compare.
			if c, err := gpa.Compare(before, r, gpa.CompareOptions{}); err == nil {
				o := reports.CompareOptions{BeforeSource: before.Sources.Read, AfterSource: r.Sources.Read, Style: e.style()}
				if err := reports.CompareText(e.stdout, c.Comparison, o); err != nil {
					return err
				}
				fmt.Fprintln(e.stdout)
			}
		}
	}
	return w.advice.report(e, &r.Result, r.Sources)
}
