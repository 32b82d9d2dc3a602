package main

import (
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/emu"
	"gpa/emu/reconv"
)

// launchFlags say what runs, and how.
type launchFlags struct {
	target  target
	machine machineFlags
}

func (f *launchFlags) register(flags *pflag.FlagSet) {
	f.machine.register(flags)
	f.target.register(flags)
}

// load loads what KERNEL names.
func (f *launchFlags) load(e *env, name string) (*gpa.Target, gpa.Options, error) {
	o, err := f.machine.options(e)
	if err != nil {
		return nil, o, err
	}
	t, err := f.target.resolve(name)
	return t, o, err
}

// machineFlags are the flags that shape the emulated GPU.
type machineFlags struct {
	maxInstructions int64
	reconvergence   string
	workers         int
	wholeGrid       bool
	portions        bool
}

func (m *machineFlags) register(flags *pflag.FlagSet) {
	registerLimit(flags, &m.maxInstructions)
	flags.IntVar(&m.workers, "workers", 0, "run `N` SMs at a time; no result depends on it (default: as many as there are processors)")
	flags.BoolVar(&m.wholeGrid, "whole-grid", false, "time every block, also of a large grid whose blocks have long taken the same time (by default the rest of such a grid only takes effect, and the cycles are extrapolated)")
	flags.BoolVar(&m.portions, "portions", false, "time portions of the GPU with that share of the blocks of a large launch, until two come to the same cycles; the others only take effect")
	var names []string
	for _, model := range reconv.Models() {
		names = append(names, model.Name())
	}
	flags.StringVar(&m.reconvergence, "reconvergence", names[0], "how threads of a warp come together again: `MODEL` is "+strings.Join(names, ", "))
}

// registerLimit declares --max-instructions.
func registerLimit(flags *pflag.FlagSet, limit *int64) {
	flags.Int64Var(limit, "max-instructions", emu.DefaultMaxInstructions, "stop a launch after `N` warp instructions, 0 for no limit")
}

// timingLevel reads --timing.
func timingLevel(name string) (emu.TimingLevel, error) {
	for _, level := range []emu.TimingLevel{emu.TimingFull, emu.TimingFast, emu.TimingNone} {
		if name == level.String() {
			return level, nil
		}
	}
	return 0, usagef("--timing: %q is none of full, fast and none", name)
}

// options is how a target runs. What kernels print goes to prints.
func (m *machineFlags) options(e *env) (o gpa.Options, err error) {
	if m.maxInstructions < 0 {
		return o, usagef("--max-instructions: %d is negative", m.maxInstructions)
	}
	if m.workers < 0 {
		return o, usagef("--workers: %d is negative", m.workers)
	}
	if _, err := reconv.ByName(m.reconvergence); err != nil {
		return o, usagef("--reconvergence: %w", err)
	}
	o = gpa.Options{
		MaxInstructions: m.maxInstructions, Workers: m.workers, Reconvergence: m.reconvergence, Stdout: e.prints,
		WholeGrid: m.wholeGrid, Portions: m.portions, Progress: e.progress,
	}
	return o, nil
}
