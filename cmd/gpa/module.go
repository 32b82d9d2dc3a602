package main

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/cubin"
	"gpa/cubin/sass"
)

// moduleFlags choose one of the cubins that a file may hold.
type moduleFlags struct {
	arch  string
	entry int // counted from 1; 0 for none chosen
}

func (m *moduleFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&m.arch, "arch", "", "the cubin for this architecture, `sm_NN`, of a fatbin, executable, library or archive")
	flags.IntVar(&m.entry, "entry", 0, "the entry of this `NUMBER` in such a file, as gpa disasm --list counts them")
}

// open reads the cubin that an argument names: a file, one of those that a file holds, or the one of a launch file or
// built-in kernel.
func (m *moduleFlags) open(name string) (*cubin.File, error) {
	sm, err := parseArch(m.arch)
	if err != nil {
		return nil, err
	}
	return gpa.LoadModule(name, gpa.ModuleOptions{Arch: sm, Entry: m.entry})
}

// parseArch reads an --arch that names an architecture, 0 for none.
func parseArch(text string) (sass.Arch, error) {
	if text == "" {
		return 0, nil
	}
	sm, err := strconv.Atoi(strings.TrimPrefix(text, "sm_"))
	if err != nil || sm <= 0 {
		return 0, usagef("--arch %s: want sm_NN", text)
	}
	return sass.Arch(sm), nil
}

// openModule reads the cubin that an argument names, of a file that holds no other.
func openModule(name string) (*cubin.File, error) { return new(moduleFlags).open(name) }
