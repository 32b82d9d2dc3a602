package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/cubin"
	"gpa/emu/check"
	"gpa/reports"
	"gpa/reports/files"
)

// checkFlags are the flags of gpa check.
type checkFlags struct {
	target  target
	machine machineFlags
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

// checkTools are the families that the tools of compute-sanitizer look for.
var checkTools = []struct{ name, family string }{
	{"memcheck", "memory"}, {"racecheck", "race"}, {"initcheck", "init"}, {"synccheck", "barrier"},
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
			flags.StringVar(&f.tool, "tool", "", "report only what the `TOOL` of compute-sanitizer looks for: "+toolNames())
			flags.BoolVar(&f.strict, "strict", false, "exit with status 1 after warnings too")
			flags.BoolVar(&f.unused, "track-unused-memory", false, "warn of buffers with bytes that no kernel reads or writes")
			flags.Int64Var(&f.padding, "padding", 0, "keep `BYTES` free behind each buffer at least, to catch accesses far out of bounds (65536 in any case), and the module's variables apart from each other")
			f.machine.register(flags)
			f.target.register(flags)
			f.program.register(flags)
			return f.run
		},
	}
}

func (f *checkFlags) run(ctx context.Context, e *env, args []string) error {
	if f.program.given() {
		return f.runProgram(ctx, e, args)
	}
	name, err := oneArgument(args, "the kernel")
	if err != nil {
		return err
	}
	if err := f.families(); err != nil {
		return err
	}
	r, err := f.target.resolve(name)
	if err != nil {
		return err
	}
	f.machine.padding = f.padding
	o, err := f.machine.options(e)
	if err != nil {
		return err
	}
	found, err := r.Check(ctx, o, gpa.CheckOptions{Unused: f.unused})
	if err != nil && ctx.Err() == nil {
		return err
	}
	found = f.chosen(found)
	early := endedEarly(ctx)
	if err := f.print(e, r, found, early != nil); err != nil {
		return err
	}
	if early != nil {
		return early
	}
	return f.verdict(found)
}

// families checks the flags that choose what is reported, and puts the family of --tool into only.
func (f *checkFlags) families() error {
	for _, family := range f.only {
		if !slices.Contains(check.Families(), family) {
			return usagef("--only: %q is none of %s", family, strings.Join(check.Families(), ", "))
		}
	}
	if most := int64(1 << 40); f.padding < 0 || f.padding > most {
		return usagef("--padding: %d is not between 0 and %d", f.padding, most)
	}
	if f.tool == "" {
		return nil
	}
	if f.only != nil {
		return usagef("--only and --tool exclude each other")
	}
	for _, t := range checkTools {
		if t.name == f.tool {
			f.only = []string{t.family}
			return nil
		}
	}
	return usagef("--tool: %q is none of %s", f.tool, toolNames())
}

// toolNames lists the tools of compute-sanitizer.
func toolNames() string {
	var names []string
	for _, t := range checkTools {
		names = append(names, t.name)
	}
	return strings.Join(names, ", ")
}

// chosen leaves the findings that --only asks for.
func (f *checkFlags) chosen(list []*check.Finding) []*check.Finding {
	if f.only == nil {
		return list
	}
	return slices.DeleteFunc(list, func(x *check.Finding) bool { return !slices.Contains(f.only, x.Kind.Family()) })
}

// print prints what was found; early says that there may be more.
func (f *checkFlags) print(e *env, r *gpa.Target, found []*check.Finding, early bool) error {
	out := struct {
		Findings []reports.Finding `json:"findings"`
	}{make([]reports.Finding, 0, len(found))}
	for _, x := range found {
		out.Findings = append(out.Findings, reportedFinding(r.Module, x))
	}
	if err := f.writeSARIF(out.Findings); err != nil {
		return err
	}
	switch {
	case f.json:
		return reports.WriteJSON(e.stdout, out)
	case len(found) == 0 && early:
		_, err := fmt.Fprintf(e.stdout, "%s: nothing found so far\n", r.File.Name)
		return err
	case len(found) == 0:
		_, err := fmt.Fprintf(e.stdout, "%s: nothing found\n", r.File.Name)
		return err
	}
	source := r.Sources.Before(f.source)
	defer missedSources(e.stderr, source)
	return reports.WriteFindings(e.stdout, out.Findings, source.Read, e.style())
}

func (f *checkFlags) writeSARIF(findings []reports.Finding) error {
	if f.sarif == "" {
		return nil
	}
	var data bytes.Buffer
	if err := reports.WriteSARIF(&data, version, findings); err != nil {
		return err
	}
	return files.WriteOne(f.sarif, data.Bytes())
}

// verdict is the error that stands for what was found, nil where the exit status is 0.
func (f *checkFlags) verdict(found []*check.Finding) error {
	warnings := 0
	for _, x := range found {
		if x.Kind.Level() == check.Warning {
			warnings++
		}
	}
	plural := func(n int, what string) string {
		if n == 1 {
			return "1 " + what
		}
		return fmt.Sprintf("%d %ss", n, what)
	}
	switch errs := len(found) - warnings; {
	case errs > 0 && warnings > 0:
		return failure{fmt.Errorf("%s and %s found", plural(errs, "error"), plural(warnings, "warning"))}
	case errs > 0:
		return failure{fmt.Errorf("%s found", plural(errs, "error"))}
	case warnings > 0 && f.strict:
		return failure{fmt.Errorf("%s found", plural(warnings, "warning"))}
	}
	return nil
}

func reportedFinding(module *cubin.File, x *check.Finding) reports.Finding {
	party := func(p *check.Place) reports.Party { return reports.Place(module, p.Code, p.PC, p.Block, p.Thread) }
	out := reports.Finding{
		Kind: string(x.Kind), Family: x.Kind.Family(), Level: string(x.Kind.Level()), Kernel: x.Kernel, At: party(&x.At),
		Space: x.Space, Bytes: x.Bytes, Buffer: x.Where, Detail: x.Detail, Count: x.Count,
	}
	if x.Other != nil {
		other := party(x.Other)
		out.Other = &other
	}
	if x.HasAddress {
		out.Addr = &x.Address
	}
	return out
}
