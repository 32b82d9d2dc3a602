package gpa

import (
	"context"
	"errors"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/check"
	"gpa/emu/launch"
	"gpa/reports"
)

// CheckOptions say what is looked for besides errors.
type CheckOptions struct {
	Unused bool // buffers with bytes that no kernel reads or writes
}

// Check runs the launches of a target without timing and finds errors that hardware lets pass: accesses out of bounds, memory that nobody has
// written, races, misuse of barriers; [Reported] describes them. It ends at the first launch that cannot go on. Where ctx ends, the findings until then come with its error.
func (t *Target) Check(ctx context.Context, o Options, c CheckOptions) ([]*check.Finding, error) {
	s, err := t.Session(ctx, emu.TimingNone, o)
	if err != nil {
		return nil, err
	}
	checker := c.checker(s)
	for i := range s.File.Launches {
		for range s.File.Launches[i].Repeat {
			end := o.stage(s.File.Launches[i].Kernel)
			_, err := s.Trace(ctx, i, checker)
			end()
			var fault *emu.Fault
			switch {
			case errors.As(err, &fault):
				checker.End(fault)
				return checker.Findings(), nil
			case ctx.Err() != nil && err != nil:
				return checker.Findings(), ctx.Err()
			case err != nil:
				return nil, err
			}
		}
	}
	checker.Leaks()
	return append(checker.Findings(), checker.Unused()...), nil
}

// Reported describes findings in a module as package reports prints them.
func Reported(module *cubin.File, found []*check.Finding) []reports.Finding {
	party := func(p *check.Place) reports.Party { return reports.Place(module, p.Code, p.PC, p.Block, p.Thread) }
	list := make([]reports.Finding, 0, len(found))
	for _, x := range found {
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
		list = append(list, out)
	}
	return list
}

// checker makes a checker that knows the buffers of a session.
func (c *CheckOptions) checker(s *launch.Session) *check.Checker {
	checker := new(check.Checker)
	for _, b := range s.Unwritten() {
		checker.Uninitialised(b.Name, b.Addr, uint64(b.Size))
		for _, at := range b.Written {
			checker.Initialised(at, 8)
		}
	}
	if c.Unused {
		for _, b := range s.Extents() {
			checker.TrackUse(b.Name, b.Addr, uint64(b.Size))
		}
	}
	return checker
}
