package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"gpa/cubin"
	"gpa/kernels"
)

// moduleFlags choose one of the cubins that a file may hold.
type moduleFlags struct{ arch string }

func (m *moduleFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&m.arch, "arch", "", "the cubin for this architecture, `sm_NN`, of a file that holds several")
}

// open reads the cubin that an argument names: a file, or the one of a launch file or built-in kernel.
func (m *moduleFlags) open(name string) (*cubin.File, error) {
	isLaunch := slices.Contains(kernels.Names(), name) || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		isLaunch = true
	}
	if !isLaunch {
		return cubin.Open(name)
	}
	file, err := new(target).launchFile(name)
	if err != nil {
		return nil, err
	}
	return file.LoadModule(0)
}

// openModule reads the cubin that an argument names, of a file that holds no other.
func openModule(name string) (*cubin.File, error) { return new(moduleFlags).open(name) }

// A chooser says which functions of a module were asked for.
type chooser map[*cubin.Function]bool

// newChooser finds the functions of these names, symbols or demangled ones; without names it chooses all. A name may stand
// for several functions: each kernel has its own copies of device functions.
func newChooser(module *cubin.File, names []string) (chooser, error) {
	c := make(chooser)
	found := make([]bool, len(names))
	for _, code := range module.Codes {
		for i := range code.Functions {
			f := &code.Functions[i]
			for k, name := range names {
				if f.Name == name || f.Demangled == name {
					c[f], found[k] = true, true
				}
			}
			if len(names) == 0 {
				c[f] = true
			}
		}
	}
	if k := slices.Index(found, false); k >= 0 {
		return nil, fmt.Errorf("%s: no function %q; gpa cfg lists them", module.Name, names[k])
	}
	return c, nil
}

func (c chooser) has(f *cubin.Function) bool { return c[f] }

// anyIn reports whether functions of a section were chosen.
func (c chooser) anyIn(code *cubin.Code) bool {
	for i := range code.Functions {
		if c[&code.Functions[i]] {
			return true
		}
	}
	return false
}
