package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/emu"
	"gpa/emu/check"
	"gpa/reports"
	"gpa/reports/files"
)

// checkFlags are the flags of gpa check.
type checkFlags struct {
	launchFlags
	program programFlags
	json    bool
	only    []string
	tool    string
	sarif   string
	strict  bool
	unused  bool
	padding int64
	source  string
}

func checkCommand() command {
	return command{
		runs: true, name: "check", args: "KERNEL | -- CMD …", short: "find memory, initialisation, race and barrier errors of a kernel",
		setup: func(flags *pflag.FlagSet) action {
			var f checkFlags
			flags.BoolVar(&f.json, "json", false, "print JSON")
			flags.StringVar(&f.sarif, "sarif", "", "write the findings to `FILE` too, as SARIF 2.1.0")
			flags.StringSliceVar(&f.only, "only", nil, "report only these `FAMILIES`: "+strings.Join(check.Families(), ", "))
			registerSource(flags, &f.source)
			flags.StringVar(&f.tool, "tool", "", "report only what the `TOOL` of compute-sanitizer looks for: "+strings.Join(check.Tools(), ", "))
			flags.BoolVar(&f.strict, "strict", false, "exit with status 1 after warnings too")
			flags.BoolVar(&f.unused, "track-unused-memory", false, "warn of buffers with bytes that no kernel reads or writes")
			flags.Int64Var(&f.padding, "padding", 0, "keep `BYTES` free behind each buffer at least, to catch accesses far out of bounds (65536 in any case), and the module's variables apart from each other; 1 GiB at most, and less behind what malloc returns where addresses run out")
			f.launchFlags.register(flags)
			f.program.register(flags)
			return f.run
		},
	}
}

func (f *checkFlags) run(ctx context.Context, e *env, args []string) error {
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
	if err := f.families(); err != nil {
		return err
	}
	r, o, err := f.load(ctx, e, name)
	if err != nil {
		return err
	}
	o.Padding = f.padding
	all, err := r.Check(ctx, o, gpa.CheckOptions{Unused: f.unused})
	if err != nil && ctx.Err() == nil {
		return err
	}
	early := endedEarly(ctx)
	nothing := r.File.Name + ": nothing found"
	if early != nil {
		nothing += " so far"
	}
	found := f.chosen(gpa.Reported(r.Module, all))
	if err := f.print(e, found, r.Sources, nothing); err != nil {
		return err
	}
	if early != nil {
		return early
	}
	return failed(reports.Verdict(found, f.strict))
}

// runProgram checks the launches of a program and reports what was found after it has ended.
func (f *checkFlags) runProgram(ctx context.Context, e *env, args []string) error {
	if f.target.Kernel != "" || f.unused || f.padding != 0 {
		return usagef("--kernel, --track-unused-memory and --padding go with a kernel, not with a program")
	}
	if err := f.families(); err != nil {
		return err
	}
	o, err := f.program.options(e, &f.launchFlags)
	if err != nil {
		return err
	}
	o.Check = true
	p, ended, err := executeProgram(ctx, e, o, f.json, args)
	if err != nil {
		return err
	}
	list := p.Findings()
	nothing := ""
	if list != nil {
		nothing = "nothing found"
	}
	found := f.chosen(list)
	if err := f.print(e, found, p.Sources(), nothing); err != nil {
		return err
	}
	if wrong := reports.Verdict(found, f.strict); wrong != nil {
		return failure{wrong}
	}
	return ended
}

// families checks the flags that choose what is reported, and puts the family of --tool into only.
func (f *checkFlags) families() error {
	for _, family := range f.only {
		if !slices.Contains(check.Families(), family) {
			return usagef("--only: %q is none of %s", family, strings.Join(check.Families(), ", "))
		}
	}
	if f.padding < 0 || f.padding > emu.MaxPadding {
		return usagef("--padding: %d is not between 0 and %d", f.padding, emu.MaxPadding)
	}
	if f.tool == "" {
		return nil
	}
	if f.only != nil {
		return usagef("--only and --tool exclude each other")
	}
	family := check.FamilyOf(f.tool)
	if family == "" {
		return usagef("--tool: %q is none of %s", f.tool, strings.Join(check.Tools(), ", "))
	}
	f.only = []string{family}
	return nil
}

// chosen leaves the findings that --only asks for.
func (f *checkFlags) chosen(list []reports.Finding) []reports.Finding {
	return slices.DeleteFunc(list, func(x reports.Finding) bool { return f.only != nil && !slices.Contains(f.only, x.Family) })
}

// print prints what was found; nothing is said where that is nothing.
func (f *checkFlags) print(e *env, found []reports.Finding, source gpa.Sources, nothing string) error {
	if err := files.Save(f.sarif, func(w io.Writer) error { return reports.WriteSARIF(w, version, found) }); err != nil {
		return err
	}
	switch {
	case f.json:
		return reports.WriteJSON(e.stdout, struct {
			Findings []reports.Finding `json:"findings"`
		}{append([]reports.Finding{}, found...)})
	case len(found) == 0 && nothing != "":
		_, err := fmt.Fprintln(e.stdout, nothing)
		return err
	}
	source = source.Before(f.source)
	defer source.Missed(e.stderr)
	return reports.WriteFindings(e.stdout, found, source.Read, e.style())
}
