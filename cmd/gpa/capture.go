package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

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
	switch {
	case !f.program.given():
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
	written := 0
	var unwritten error // the first
	o.Capture = func(number int, kernel string, c *capture.Capture) {
		switch err := c.Write(filepath.Join(f.out, capture.Name(number, kernel))); {
		case err == nil:
			written++
		case unwritten == nil:
			unwritten = err
		}
	}
	_, ended, err := executeProgram(ctx, e, o, false, args)
	switch {
	case err != nil:
		return err
	case unwritten != nil:
		return unwritten
	case written == 1:
		fmt.Fprintf(e.stderr, "gpa: 1 capture in %s\n", f.out)
	case written > 1:
		fmt.Fprintf(e.stderr, "gpa: %d captures in %s\n", written, f.out)
	}
	return ended
}
