package main

import (
	"fmt"
	"io"
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

// listEntries prints the device code that a file holds, and why an entry, or what follows the last one, cannot be read. That is no
// list where there is no entry.
func listEntries(w io.Writer, name string) error {
	data, err := cubin.ReadFile(name)
	if err != nil {
		return err
	}
	list, err := cubin.Entries(data)
	for i := range list {
		e := &list[i]
		note := e.Compression
		if _, problem := e.Read(); problem != nil {
			note = "cannot be read: " + problem.Error()
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%5d  %-6s sm_%-4d %9d bytes  %s %s %s", i+1, e.Kind, e.SM, e.Size, e.Where, e.Name, note), " "))
	}
	if err == nil {
		return nil
	}
	if err = fmt.Errorf("%s: %w", name, err); len(list) > 0 {
		return failure{fmt.Errorf("%w (the list ends before that)", err)}
	}
	return err
}

// openModule reads the cubin that an argument names, of a file that holds no other.
func openModule(name string) (*cubin.File, error) { return new(moduleFlags).open(name) }
