package program

import (
	"context"
	"errors"

	"gpa"
	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/check"
	"gpa/emu/cuda"
	"gpa/reports"
)

// A checkedModule is a module with the errors of its launches: findings name places in a module, so that each has a checker of its own.
type checkedModule struct {
	module  *cubin.File
	checker *check.Checker
}

// checked runs a launch with the checker of its module watching.
func (p *Program) checked(ctx context.Context, l *cuda.Launch) (*emu.Result, error) {
	module := l.Machine.Module()
	var c *check.Checker
	for _, m := range p.modules {
		if m.module == module {
			c = m.checker
		}
	}
	if c == nil {
		c = new(check.Checker)
		p.modules = append(p.modules, checkedModule{module, c})
	}
	l.Launch.Tracer = c
	result, err := l.Machine.Launch(ctx, l.Launch)
	var fault *emu.Fault
	if errors.As(err, &fault) {
		c.End(fault)
	}
	return result, err
}

// Findings is what was found, module by module in the order of their first launches; nil where no launch was checked.
func (p *Program) Findings() (list []reports.Finding) {
	for _, m := range p.modules {
		if list == nil {
			list = []reports.Finding{}
		}
		list = append(list, gpa.Reported(m.module, m.checker.Findings())...)
	}
	return list
}
