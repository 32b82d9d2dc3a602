package main

import (
	"fmt"
	"io"
	"math"

	"github.com/spf13/pflag"

	"gpa/emu"
	"gpa/emu/launch"
)

// machineFlags are the flags that shape the emulated GPU.
type machineFlags struct {
	maxInstructions int64
}

func (m *machineFlags) register(flags *pflag.FlagSet) {
	flags.Int64Var(&m.maxInstructions, "max-instructions", 0, "stop a launch after `N` warp instructions (default: no limit)")
}

// session prepares the emulated GPU of a resolved target. Device-side printf goes to prints.
func (m *machineFlags) session(r *resolved, level emu.TimingLevel, prints io.Writer) (*launch.Session, error) {
	if m.maxInstructions < 0 {
		return nil, usagef("--max-instructions: %d is negative", m.maxInstructions)
	}
	limit := m.maxInstructions
	if limit == 0 {
		limit = math.MaxInt64
	}
	machine, err := emu.New(r.model, r.module, emu.Options{
		Timing: level, MaxInstructions: limit, Stdout: prints, Heap: r.file.Heap,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.module.Name, err)
	}
	return launch.NewSession(r.file, machine)
}
