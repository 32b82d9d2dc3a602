package main

import (
	"bytes"
	"context"
	"slices"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/reports"
	"gpa/reports/files"
)

// runFlags are the flags of gpa run.
type runFlags struct {
	launchFlags
	program programFlags
	json    bool
	out     string
	save    []string
}

func runCommand() command {
	return command{
		runs: true, name: "run", args: "KERNEL | -- CMD …", short: "run a kernel or a program on the emulated GPU and check its outputs",
		setup: func(flags *pflag.FlagSet) action {
			var f runFlags
			flags.BoolVar(&f.json, "json", false, "print JSON")
			flags.StringVar(&f.out, "out", "", "write the buffers named by --save, and run.json, to `DIR`")
			flags.StringArrayVar(&f.save, "save", nil, "save the buffer `NAME` as NAME.npy in --out (may be repeated)")
			f.launchFlags.register(flags)
			f.program.register(flags)
			return f.run
		},
	}
}

func (f *runFlags) run(ctx context.Context, e *env, args []string) error {
	switch command, err := f.program.command(ctx, &f.launchFlags, args); {
	case err != nil:
		return err
	case command != nil:
		return f.runProgram(ctx, e, command)
	}
	name, err := oneArgument(args, "the kernel")
	if err != nil {
		return err
	}
	if len(f.save) > 0 && f.out == "" {
		return usagef("--save needs --out")
	}
	r, o, err := f.load(ctx, e, name)
	if err != nil {
		return err
	}
	ran, err := r.Run(ctx, o)
	if ran == nil {
		return err
	}
	if err := f.write(ran); err != nil {
		return err
	}
	if err := f.print(e, ran); err != nil {
		return err
	}
	return failureOf(ran)
}

// runProgram runs a program without timing and lists its kernels.
func (f *runFlags) runProgram(ctx context.Context, e *env, args []string) error {
	if f.json || f.out != "" || len(f.save) > 0 || f.target.Kernel != "" {
		return usagef("--json, --out, --save and --kernel go with a kernel, not with a program")
	}
	o, err := f.program.options(e, &f.launchFlags)
	if err != nil {
		return err
	}
	p, ended, err := executeProgram(ctx, e, o, false, args)
	if err != nil {
		return err
	}
	if err := p.Table(e.stderr, e.style()); err != nil {
		return err
	}
	return ended
}

// write puts the report and the saved buffers into the output folder.
func (f *runFlags) write(ran *gpa.Result) error {
	if f.out == "" {
		return nil
	}
	var report bytes.Buffer
	if err := reports.WriteJSON(&report, ran.WithoutHostTimes().Run()); err != nil {
		return err
	}
	list := []files.File{{Name: "run.json", Data: report.Bytes()}}
	slices.Sort(f.save)
	for _, name := range slices.Compact(f.save) {
		data, err := ran.Output(name)
		if err != nil {
			return usagef("--save %s: %w", name, err)
		}
		list = append(list, files.File{Name: name + ".npy", Data: data})
	}
	return files.Write(f.out, list)
}

func (f *runFlags) print(e *env, ran *gpa.Result) error {
	if f.json {
		return reports.WriteJSON(e.stdout, ran.Result.Run())
	}
	outputs := make([]string, len(ran.Outputs))
	for i := range ran.Outputs {
		outputs[i] = ran.Outputs[i].String()
	}
	return reports.RunText(e.stdout, &ran.Result, ran.Target.File.Name, outputs)
}
