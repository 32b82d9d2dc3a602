// Package listing prints the machine code of cubins for people and programs: as nvdisasm does, as control-flow graphs in text, JSON and for
// Graphviz, and what rewriting changes in it.
package listing

import (
	"fmt"
	"slices"

	"gpa/cubin"
	"gpa/reports"
)

// A Choice is which functions of a module are printed.
type Choice map[*cubin.Function]bool

// A NoFunctionError is of a name that no function of a module has.
type NoFunctionError struct {
	Module *cubin.File
	Name   string
}

// Error is one line.
func (e *NoFunctionError) Error() string {
	return fmt.Sprintf("%s: no function %q", e.Module.Name, e.Name)
}

// Near is the end of a message that says what was probably meant; "" for nothing.
func (e *NoFunctionError) Near() string {
	var names []string
	for _, code := range e.Module.Codes {
		for i := range code.Functions {
			names = append(names, code.Functions[i].Demangled)
		}
	}
	return reports.Suggestion(e.Name, names)
}

// Choose finds the functions of these names, symbols or demangled ones; without names it chooses all. A name may stand
// for several functions: each kernel has its own copies of device functions.
func Choose(module *cubin.File, names []string) (Choice, error) {
	c := make(Choice)
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
		return nil, &NoFunctionError{module, names[k]}
	}
	return c, nil
}

// AnyIn reports whether functions of a section were chosen.
func (c Choice) AnyIn(code *cubin.Code) bool {
	for i := range code.Functions {
		if c[&code.Functions[i]] {
			return true
		}
	}
	return false
}
