package convergence

import (
	"fmt"
	"slices"
	"strings"

	"gpa/cubin/branch"
	"gpa/emu/activity"
)

// CheckModels refuses names of rows that there are none of.
func (o *Options) CheckModels() error {
	known := append(Names(), Placed)
	for _, name := range o.Models {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no %q (%s)", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// CheckActivity refuses a model under which branches cannot be watched, or that is no row.
func (o *Options) CheckActivity() error {
	watched := []string{Names()[0]}
	for _, name := range Names() {
		if name != Struct && name != Bound && (len(o.Models) == 0 || slices.Contains(o.Models, name)) {
			watched = append(watched, name)
		}
	}
	if o.Activity != "" && !slices.Contains(watched, o.Activity) {
		return fmt.Errorf("%q is none of %s", o.Activity, strings.Join(slices.Compact(watched), ", "))
	}
	return nil
}

// Unused are the rules that have decided the type of no branch.
func Unused(rules []branch.Rule, list []Launch) []branch.Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(rule branch.Rule) bool {
		return slices.ContainsFunc(list, func(l Launch) bool {
			return l.Activity != nil && slices.ContainsFunc(l.Activity.Branches, func(u activity.BranchUse) bool {
				return u.Branch.Rule != nil && *u.Branch.Rule == rule
			})
		})
	})
}

// Failure is the error of a kernel that fails under the hardware's own model, nil where none does.
func Failure(list []Launch) error {
	for i := range list {
		if r := list[i].Runs[0]; r.Status != OK {
			return fmt.Errorf("kernel %s: %s", list[i].Kernel.Demangled, r.Status)
		}
	}
	return nil
}
