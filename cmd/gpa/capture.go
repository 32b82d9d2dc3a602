package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"gpa/emu/capture"
)

// captureFlags are the flags of gpa capture.
type captureFlags struct {
	launchFlags
	program programFlags
	out     string
}

func captureCommand() command {
	return command{
		runs: true, name: "capture", args: "-- CMD …", short: "run a program and write its launches as launch files",
		setup: func(flags *pflag.FlagSet) action {
			var f captureFlags
			flags.StringVar(&f.out, "out", "", "write the captures to `DIR`, which is new or empty")
			f.launchFlags.register(flags)
			f.program.registerSelection(flags, "capture")
			return f.run
		},
	}
}

func (f *captureFlags) run(ctx context.Context, e *env, args []string) error {
	command, err := f.program.command(ctx, &f.launchFlags, args)
	switch {
	case err != nil:
		return err
	case command == nil:
		return usagef("gpa capture takes a program: --out DIR -- CMD …")
	case f.out == "":
		return usagef("--out is missing: the folder for the captures")
	}
	if list, err := os.ReadDir(f.out); err == nil && len(list) > 0 {
		return usagef("--out: %s is not empty", f.out)
	}
	o, err := f.program.options(e, &f.launchFlags)
	if err != nil {
		return err
	}
	w := capture.Writer{Folder: f.out}
	o.Capture = w.Write
	_, ended, err := executeProgram(ctx, e, o, false, command)
	switch {
	case err != nil:
		return err
	case w.Err != nil:
		return w.Err
	case w.Written > 0:
		fmt.Fprintf(e.stderr, "gpa: captures in %s: %d\n", f.out, w.Written)
	}
	return ended
}
