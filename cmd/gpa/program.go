package main

import (
	"context"
	"errors"
	"os"
	"regexp"

	"github.com/spf13/pflag"

	"gpa/profiler/program"
)

// programFlags are the flags that have a meaning with a program only.
type programFlags struct {
	flags       *pflag.FlagSet
	skip, count int
	each, kill  bool
	kernels     int
	ranges      []string
	fromStart   string
	sources     string // folder of the program's source, "" for that of its command
}

func (f *programFlags) register(flags *pflag.FlagSet) { f.flags = flags }

// registerSelection declares which launches of a program something is done with.
func (f *programFlags) registerSelection(flags *pflag.FlagSet, verb string) {
	f.register(flags)
	flags.IntVar(&f.skip, "launch-skip", 0, "of a program, "+verb+" none of the first `N` launches that --kernel and --nvtx select")
	flags.BoolVar(&f.each, "each-launch", false, "of a program, time each launch, also those that do again what some of the same shape with the same arguments did")
	flags.IntVar(&f.count, "launch-count", 0, "of a program, "+verb+" at most `N` launches (default: all)")
	flags.BoolVar(&f.kill, "kill", false, "of a program, end it when --launch-count launches have been "+verb+"d")
	flags.StringArrayVar(&f.ranges, "nvtx", nil, "of a program, "+verb+" only launches in the NVTX range `RANGE`, or DOMAIN@RANGE; may be repeated")
	flags.StringVar(&f.fromStart, "profile-from-start", "on", "of a program, `off`: "+verb+" nothing before it calls cuProfilerStart")
}

// registerKernels declares for how many kernels there is advice.
func (f *programFlags) registerKernels(flags *pflag.FlagSet) {
	flags.IntVar(&f.kernels, "kernels", 3, "of a program, give advice on the `N` kernels that take most of the time")
}

// options are those of a program of these flags. They are complete but for what is done with its launches.
func (f *programFlags) options(e *env, l *launchFlags) (o program.Options, err error) {
	if l.target.Grid[0] != 0 || l.target.Block[0] != 0 || l.target.Shared != 0 || len(l.target.Args) > 0 {
		return o, usagef("--grid, --block, --shared and --arg go with a cubin, not with a program")
	}
	if f.skip < 0 || f.count < 0 || f.kernels < 0 {
		return o, usagef("--launch-skip, --launch-count and --kernels: a number is negative")
	}
	if f.fromStart != "" && f.fromStart != "on" && f.fromStart != "off" {
		return o, usagef("--profile-from-start is on or off")
	}
	o = program.Options{Skip: f.skip, Most: f.count, Ranges: f.ranges, AfterStart: f.fromStart == "off", Each: f.each, Kill: f.kill, Sources: f.sources}
	if o.GPU, err = l.target.model(); err != nil {
		return o, err
	}
	if l.target.Kernel != "" {
		if o.Only, err = regexp.Compile(l.target.Kernel); err != nil {
			return o, usagef("--kernel: %w", err)
		}
	}
	o.Run, err = l.machine.options(e)
	o.Run.Stdout = nil
	return o, err
}

// executeProgram runs a program to its end; quiet sends its standard output to standard error. ended is its exit status where that is not 0.
func executeProgram(ctx context.Context, e *env, o program.Options, quiet bool, args []string) (p *program.Program, ended, err error) {
	if len(args) == 0 {
		return nil, nil, usagef("there is no program behind --")
	}
	if p, err = program.New(o); err != nil {
		return nil, nil, err
	}
	stdout := os.Stdout
	if quiet {
		stdout = os.Stderr
	}
	status, err := p.Run(ctx, stdout, args...)
	if err != nil {
		return nil, nil, err
	}
	p.WriteNotes(e.stderr)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		ended = endedEarly(ctx)
	case status != 0:
		ended = programStatus(status)
	}
	return p, ended, nil
}
