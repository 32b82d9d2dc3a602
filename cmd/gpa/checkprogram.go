package main

import (
	"context"
	"fmt"

	"gpa"
	"gpa/cubin"
	"gpa/emu/check"
	"gpa/profiler/program"
	"gpa/reports"
)

// runProgram checks the launches of a program and reports what was found after it has ended.
func (f *checkFlags) runProgram(ctx context.Context, e *env, args []string) error {
	switch {
	case len(args) == 0:
		return usagef("there is no program behind --")
	case f.target.kernel != "" || f.unused || f.padding != 0:
		return usagef("--kernel, --track-unused-memory and --padding go with a kernel, not with a program")
	}
	if err := f.families(); err != nil {
		return err
	}
	o, err := f.program.options(e, &f.target, &f.machine)
	if err != nil {
		return err
	}
	o.Check = true
	p, ended, err := executeProgram(ctx, e, o, f.json, args)
	if err != nil {
		return err
	}
	found, err := f.printProgram(e, p)
	if err != nil {
		return err
	}
	if err := f.verdict(found); err != nil {
		return err
	}
	return ended
}

// printProgram prints what was found, module by module.
func (f *checkFlags) printProgram(e *env, p *program.Program) (all []*check.Finding, err error) {
	list := make([]reports.Finding, 0)
	modules := 0
	p.Findings(func(m *cubin.File, found []*check.Finding) {
		modules++
		for _, x := range f.chosen(found) {
			all = append(all, x)
			list = append(list, reportedFinding(m, x))
		}
	})
	if err := f.writeSARIF(list); err != nil {
		return nil, err
	}
	switch {
	case f.json:
		return all, reports.WriteJSON(e.stdout, struct {
			Findings []reports.Finding `json:"findings"`
		}{list})
	case len(list) == 0 && modules > 0:
		_, err = fmt.Fprintln(e.stdout, "nothing found")
		return nil, err
	}
	source := gpa.NewSources(".").Before(f.source)
	defer missedSources(e.stderr, source)
	return all, reports.WriteFindings(e.stdout, list, source.Read, e.style())
}
