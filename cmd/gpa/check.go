package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/check"
	"gpa/emu/launch"
	"gpa/reports"
)

// checkFlags are the flags of gpa check.
type checkFlags struct {
	target  target
	machine machineFlags
	json    bool
	only    []string
	source  string
}

func checkCommand() command {
	return command{
		runs: true, name: "check", args: "KERNEL", short: "find memory, initialisation, race and barrier errors of a kernel",
		long: kernelHelp + `

The kernel runs without timing. What is reported happened in this run, with the first thread that did it and how often:
  memory   accesses out of bounds or misaligned, failed assertions, traps. A load that fails gives 0, a store
           is lost, and the kernel goes on, so that one run shows all of them
  init     reads of memory that nobody has written: shared and local memory, the heap, and the buffers for which the
           launch file gives no init (init: {zero: true} is a cudaMemset); shuffles from lanes that do not execute them
  race     accesses to shared memory by two threads, at least one of them a write of another value, that neither a barrier
           nor a fence and an atomic orders, nor, within a warp, instructions that its threads execute together;
           asynchronous copies (cp.async) that are used before the warp has waited for them
  barrier  __syncthreads that threads of a warp reach apart or leave out, threads of a block that wait for each other
           at different barriers, WARPSYNC masks without the thread itself, deadlocks and livelocks

Races, barriers and memory from malloc are reported with both places: the earlier access, where the other threads are,
the call that allocated the memory.

--json prints {"findings": [{"kind", "family", "kernel", "at": {location, "block", "thread"}, "other": {…}, "space",
"address", "bytes", "buffer", "detail", "count"}]}. The exit status is 1 where anything was found.`,
		setup: func(flags *pflag.FlagSet) action {
			var f checkFlags
			flags.BoolVar(&f.json, "json", false, "print JSON")
			flags.StringSliceVar(&f.only, "only", nil, "report only these `FAMILIES`: "+strings.Join(check.Families(), ", "))
			registerSource(flags, &f.source)
			f.machine.register(flags)
			f.target.register(flags)
			return f.run
		},
	}
}

func (f *checkFlags) run(ctx context.Context, e *env, args []string) error {
	name, err := oneArgument(args, "the kernel")
	if err != nil {
		return err
	}
	for _, family := range f.only {
		if !slices.Contains(check.Families(), family) {
			return usagef("--only: %q is none of %s", family, strings.Join(check.Families(), ", "))
		}
	}
	r, err := f.target.resolve(name)
	if err != nil {
		return err
	}
	s, err := f.machine.session(r, emu.TimingNone, e.prints)
	if err != nil {
		return err
	}
	found, err := checkAll(ctx, e, s)
	if err != nil {
		return err
	}
	early := endedEarly(ctx)
	if err := f.print(e, r, f.chosen(found), early != nil); err != nil {
		return err
	}
	return early
}

// checkAll runs the launches of a file, to the first that cannot go on, or as far as it comes until ctx ends.
func checkAll(ctx context.Context, e *env, s *launch.Session) ([]*check.Finding, error) {
	checker := new(check.Checker)
	for _, b := range s.Unwritten() {
		checker.Uninitialised(b.Name, b.Addr, uint64(b.Size))
	}
	for i := range s.File.Launches {
		for range s.File.Launches[i].Repeat {
			end := e.progress.stage("%s", s.File.Launches[i].Kernel)
			_, err := s.Trace(ctx, i, checker)
			end()
			var fault *emu.Fault
			if errors.As(err, &fault) {
				checker.End(fault)
				return checker.Findings(), nil
			}
			if err != nil && ctx.Err() == nil {
				return nil, err
			}
			if err != nil {
				return checker.Findings(), nil
			}
		}
	}
	return checker.Findings(), nil
}

// chosen leaves the findings that --only asks for.
func (f *checkFlags) chosen(list []*check.Finding) []*check.Finding {
	if f.only == nil {
		return list
	}
	return slices.DeleteFunc(list, func(x *check.Finding) bool { return !slices.Contains(f.only, x.Kind.Family()) })
}

// print prints what was found; early says that there may be more.
func (f *checkFlags) print(e *env, r *resolved, found []*check.Finding, early bool) error {
	out := struct {
		Findings []reports.Finding `json:"findings"`
	}{make([]reports.Finding, 0, len(found))}
	for _, x := range found {
		out.Findings = append(out.Findings, reportedFinding(r.module, x))
	}
	var err error
	switch {
	case f.json:
		err = reports.WriteJSON(e.stdout, out)
	case len(found) == 0 && early:
		_, err = fmt.Fprintf(e.stdout, "%s: nothing found so far\n", r.file.Name)
	case len(found) == 0:
		_, err = fmt.Fprintf(e.stdout, "%s: nothing found\n", r.file.Name)
	default:
		source := r.source.before(f.source)
		defer source.tell(e.stderr)
		err = reports.WriteFindings(e.stdout, out.Findings, source.read, e.style())
	}
	switch {
	case err != nil || len(found) == 0 || early:
		return err
	case len(found) == 1:
		return failure{errors.New("1 error found")}
	}
	return failure{fmt.Errorf("%d errors found", len(found))}
}

func reportedFinding(module *cubin.File, x *check.Finding) reports.Finding {
	party := func(p *check.Place) reports.Party { return reports.Place(module, p.Code, p.PC, p.Block, p.Thread) }
	out := reports.Finding{
		Kind: string(x.Kind), Family: x.Kind.Family(), Kernel: x.Kernel, At: party(&x.At),
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
