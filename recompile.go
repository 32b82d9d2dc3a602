package gpa

import (
	"context"
	"slices"

	"gpa/advisor"
	"gpa/cubin/compile"
	"gpa/emu/launch"
)

// compile compiles the kernel of the k-th launch with all parameters that there is advice about. Where it cannot be, each of them says why.
func (t *trial) compile(ctx context.Context, k int) error {
	var list []advisor.Compiled
	var options []compile.TritonOptions
	for _, a := range t.result.Launches[k].Advice {
		if c := a.Match.Change; c.Compiles() {
			list = append(list, *c.Compiled)
			options = append(options, compile.TritonOptions(*c.Compiled))
		}
	}
	t.builds = nil
	if len(list) == 0 || t.triton == nil {
		return nil
	}
	kernel := t.result.Profile.Launches[k].Kernel
	if slices.ContainsFunc(t.target.File.Launches, func(l launch.Launch) bool { return l.Kernel != kernel }) {
		return nil // what is compiled again is one kernel
	}
	defer t.options.stage("compiling " + kernel + " again")()
	builds, err := t.triton.Again(ctx, t.target.Module, kernel, options)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.builds = make(map[advisor.Compiled]compile.TritonBuild)
	for i, c := range list {
		if err != nil {
			t.builds[c] = compile.TritonBuild{Err: err}
		} else {
			t.builds[c] = builds[i]
		}
	}
	return nil
}

// recompiled makes a target one with the kernel that was compiled with other parameters, or says why there is none.
func (t *trial) recompiled(r *Target, c advisor.Compiled) (why string) {
	b, ok := t.builds[c]
	switch {
	case !ok:
		return "there is nothing at hand to compile it again"
	case b.Err != nil:
		return "it was not compiled again: " + b.Err.Error()
	case b.Same:
		return advisor.SameCode
	}
	file := *r.File
	file.Launches = slices.Clone(file.Launches)
	for i := range file.Launches {
		file.Launches[i].Block, file.Launches[i].Shared = [3]int{b.Warps * t.target.GPU.Limits.WarpSize.Int(), 1, 1}, b.Shared
	}
	r.Module, r.File = b.Module, &file
	return ""
}
