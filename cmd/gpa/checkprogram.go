package main

import (
	"context"
	"errors"
	"fmt"

	"gpa"
	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/check"
	"gpa/emu/cuda"
	"gpa/reports"
)

// A programCheck checks the launches of a program. Findings name places in a module, so that each module has a checker of its own.
type programCheck struct {
	modules  []*cubin.File // in the order of their first launches
	checkers map[*cubin.File]*check.Checker
}

// launch runs a launch with the checker of its module watching.
func (p *programCheck) launch(ctx context.Context, l *cuda.Launch) (*emu.Result, error) {
	module := l.Machine.Module()
	c := p.checkers[module]
	if c == nil {
		c = new(check.Checker)
		p.checkers[module] = c
		p.modules = append(p.modules, module)
	}
	l.Launch.Tracer = c
	result, err := l.Machine.Launch(ctx, l.Launch)
	var fault *emu.Fault
	if errors.As(err, &fault) {
		c.End(fault)
	}
	return result, err
}

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
	p, err := newProgram(e, f.program, &f.target, &f.machine, emu.TimingNone)
	if err != nil {
		return err
	}
	checks := programCheck{checkers: make(map[*cubin.File]*check.Checker)}
	p.checked, p.quiet = &checks, f.json
	ended := p.run(ctx, args)
	var status programStatus
	if ended != nil && !errors.As(ended, &status) {
		return ended
	}
	found, err := f.printProgram(e, &checks)
	if err != nil {
		return err
	}
	if err := f.verdict(found); err != nil {
		return err
	}
	return ended
}

// printProgram prints what was found, module by module.
func (f *checkFlags) printProgram(e *env, p *programCheck) (all []*check.Finding, err error) {
	list := make([]reports.Finding, 0)
	for _, m := range p.modules {
		for _, x := range f.chosen(p.checkers[m].Findings()) {
			all = append(all, x)
			list = append(list, reportedFinding(m, x))
		}
	}
	if err := f.writeSARIF(list); err != nil {
		return nil, err
	}
	switch {
	case f.json:
		return all, reports.WriteJSON(e.stdout, struct {
			Findings []reports.Finding `json:"findings"`
		}{list})
	case len(list) == 0 && len(p.modules) > 0:
		_, err = fmt.Fprintln(e.stdout, "nothing found")
		return nil, err
	}
	source := gpa.NewSources(".").Before(f.source)
	defer missedSources(e.stderr, source)
	return all, reports.WriteFindings(e.stdout, list, source.Read, e.style())
}
