package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"gpa/emu"
	"gpa/emu/convergence"
	"gpa/reports"
)

// reconvergeFlags are the flags of gpa reconverge.
type reconvergeFlags struct {
	target          target
	json            bool
	models          []string
	timing          string
	maxInstructions int64
}

func reconvergeCommand() command {
	return command{
		name: "reconverge", args: "KERNEL", short: "run a kernel under every re-convergence model and compare",
		long: kernelHelp + `

Every launch runs under all models, on the same machine code (the table adds up the launches of a kernel):
  volta     the hardware's: convergence barriers, groups of threads that progress independently
  pdom      a stack, re-convergence at immediate post-dominators
  tf-stack  thread frontiers on a sorted stack
  tf-sandy  thread frontiers with a program counter a thread and conservative branches
  struct    pdom on code made structured as Wu et al. do (gpa rewrite --restructure)
  bound     no schedule of the same threads issues fewer instructions

Columns: warp instructions, and those that do not manage convergence barriers, which a machine without them would not
have; thread instructions, counted where threads are active whatever their guards; the activity factor, the share of
active lanes, of warps of 32 and of warps as wide as a block; the inverse of the mean number of 128-byte lines that a
warp's access to global memory touches; the most groups of lanes that a warp kept track of; cycles; and whether the
buffers hold what they hold under volta (within the tolerances of the launch file's expectations). A model under which
a launch does not end has a row that says why.

Below are the static figures: sizes of thread frontiers, re-convergence checks, join points; and where the control flow
is unstructured, the transformations that make it structured and the growth of the code.`,
		setup: func(flags *pflag.FlagSet) action {
			var f reconvergeFlags
			flags.BoolVar(&f.json, "json", false, "print JSON")
			flags.StringSliceVar(&f.models, "models", nil, "only the rows `NAME,...` (volta always is one)")
			flags.StringVar(&f.timing, "timing", "full", "`LEVEL` of the timing model for cycles: full, fast, or none")
			flags.Int64Var(&f.maxInstructions, "max-instructions", 0, "stop a launch after `N` warp instructions (default: no limit)")
			f.target.register(flags)
			return f.run
		},
	}
}

func (f *reconvergeFlags) run(ctx context.Context, e *env, args []string) error {
	name, err := oneArgument(args, "the kernel")
	if err != nil {
		return err
	}
	o := convergence.Options{Models: f.models, Stdout: e.stderr, MaxInstructions: f.maxInstructions}
	if err := f.options(&o); err != nil {
		return err
	}
	r, err := f.target.resolve(name)
	if err != nil {
		return err
	}
	list, err := convergence.Compare(ctx, r.file, r.module, r.model, o)
	if err != nil {
		return fmt.Errorf("%s: %w", r.file.Name, err)
	}
	if f.json {
		err = reports.WriteJSON(e.stdout, reconvergeObjects(list))
	} else {
		err = reconvergeText(e, r, convergence.Sum(list))
	}
	if err != nil {
		return err
	}
	return reconvergeFailed(list)
}

// options checks the flags.
func (f *reconvergeFlags) options(o *convergence.Options) error {
	for _, name := range f.models {
		if !slices.Contains(convergence.Names(), name) {
			return usagef("--models: there is no %q (%s)", name, strings.Join(convergence.Names(), ", "))
		}
	}
	if f.maxInstructions < 0 {
		return usagef("--max-instructions: %d is negative", f.maxInstructions)
	}
	if f.maxInstructions == 0 {
		o.MaxInstructions = math.MaxInt64
	}
	for _, level := range []emu.TimingLevel{emu.TimingFull, emu.TimingFast, emu.TimingNone} {
		if f.timing == level.String() {
			o.Timing = level
			return nil
		}
	}
	return usagef("--timing: %q is neither full, fast nor none", f.timing)
}

// reconvergeFailed is the error of a kernel that fails under the hardware's own model.
func reconvergeFailed(list []convergence.Launch) error {
	for i := range list {
		if r := list[i].Runs[0]; r.Status != convergence.OK {
			return failure{fmt.Errorf("kernel %s: %s", list[i].Kernel.Demangled, r.Status)}
		}
	}
	return nil
}
