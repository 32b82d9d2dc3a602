package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/pflag"

	"gpa/emu"
	"gpa/emu/launch"
	"gpa/emu/reconv"
)

// machineFlags are the flags that shape the emulated GPU.
type machineFlags struct {
	maxInstructions int64
	reconvergence   string
	workers         int
	wholeGrid       bool
	portions        bool
	padding         int64 // bytes between buffers, at least
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

// options is how a machine behaves. Device-side printf goes to prints.
func (m *machineFlags) options(level emu.TimingLevel, prints io.Writer, heap int64) (o emu.Options, err error) {
	if m.maxInstructions < 0 {
		return o, usagef("--max-instructions: %d is negative", m.maxInstructions)
	}
	if m.workers < 0 {
		return o, usagef("--workers: %d is negative", m.workers)
	}
	limit := m.maxInstructions
	if limit == 0 {
		limit = math.MaxInt64
	}
	model, err := reconv.ByName(m.reconvergence)
	if err != nil {
		return o, usagef("--reconvergence: %w", err)
	}
	return emu.Options{
		Timing: level, MaxInstructions: limit, Stdout: prints, Heap: heap, Reconvergence: model, Workers: m.workers, HostMemory: emu.FreeMemory,
		Padding:       m.padding,
		Extrapolation: emu.Extrapolation{Off: m.wholeGrid, Portions: m.portions && !m.wholeGrid},
	}, nil
}

// session prepares the emulated GPU of a resolved target. Device-side printf goes to prints.
func (m *machineFlags) session(r *resolved, level emu.TimingLevel, prints io.Writer) (*launch.Session, error) {
	o, err := m.options(level, prints, r.file.Heap)
	if err != nil {
		return nil, err
	}
	machine, err := emu.New(r.model, r.module, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.module.Name, err)
	}
	return launch.NewSession(r.file, machine)
}
