package gpa

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gpa/advisor"
	"gpa/cubin/compile"
	"gpa/emu/launch"
	"gpa/profiler"
)

// parameters tries advice on the parameters of the k-th launch's kernel in its turns, then the best with each of the others that were not worse, as long
// as more of them do more. It returns what was tried, in order.
func (t *trial) parameters(trials *trials, list []*advisor.Advice) (tried []*advisor.Advice, err error) {
	if err := t.compile(trials.ctx, trials.k, list); err != nil {
		return nil, err
	}
	l := t.result.Profile.Launches[trials.k]
	brought := make(map[advisor.Compiled]float64)
	var best *advisor.Advice
	known := func(c *advisor.Compiled) float64 {
		if c == nil {
			return 0
		}
		return brought[*c]
	}
	const more = 1.01 // that another parameter has to bring
	try := func(next []*advisor.Advice, least float64) error {
		a := next[0]
		c := a.Match.Change
		try := profiler.Try{Optimizer: a.Optimizer, Place: a.Place()}
		switch before := known(c.After); {
		case before > 0 && before < c.AfterLeast:
			try.Why = "what goes less far in its direction gains nothing"
		case t.budget > 0 && t.extra >= t.budget:
			try.Why = outOfTime
		default:
			ahead := slices.DeleteFunc(slices.Clone(next[1:]), func(b *advisor.Advice) bool { // what may not come to its turn
				c := b.Match.Change
				return c.After != nil && known(c.After) < c.AfterLeast
			})
			o := trials.of(append([]*advisor.Advice{a}, ahead...), "")
			if o.err != nil {
				return o.err
			}
			try, t.extra = o.try, t.extra+o.spent
		}
		if brought[*c.Compiled] = try.Speedup; try.Why == tooSlow {
			brought[*c.Compiled] = 1. / farSlower
		}
		if try.Speedup < least {
			return nil
		}
		l.Tries, tried = append(l.Tries, try), append(tried, a)
		if try.Speedup > 1 && (best == nil || try.Speedup > brought[*best.Match.Change.Compiled]) {
			best = a
		}
		return nil
	}
	slices.SortStableFunc(list, func(a, b *advisor.Advice) int { return cmp.Compare(a.Match.Change.Turn, b.Match.Change.Turn) })
	for i := range list {
		if err := try(list[i:], 0); err != nil {
			return tried, err
		}
	}
	const notWorse, atOnce = 0.97, 4 // of a parameter that is tried with the best; how many of them are
	slices.SortStableFunc(list, func(a, b *advisor.Advice) int {
		return cmp.Compare(brought[*b.Match.Change.Compiled], brought[*a.Match.Change.Compiled])
	})
	for base := (*advisor.Advice)(nil); base != best; {
		base = best
		var next []*advisor.Advice
		for _, a := range list {
			if brought[*a.Match.Change.Compiled] < notWorse || len(next) == atOnce {
				break
			}
			if both, ok := advisor.Combine(base, a); ok {
				if _, done := brought[*both.Match.Change.Compiled]; !done {
					next = append(next, &both)
				}
			}
		}
		for i := range next {
			if err := try(next[i:], more*brought[*base.Match.Change.Compiled]); err != nil {
				return tried, err
			}
		}
	}
	return tried, nil
}

// compile compiles the kernel of the k-th launch with all parameters that there is advice about, where that is one task. Where it cannot be, each of them
// says why.
func (t *trial) compile(ctx context.Context, k int, list []*advisor.Advice) error {
	t.builds = nil
	if len(list) == 0 || t.triton == nil {
		return nil
	}
	l := t.result.Profile.Launches[k]
	if slices.ContainsFunc(t.target.File.Launches, func(x launch.Launch) bool { return x.Kernel != l.Kernel }) {
		return nil // what is compiled again is one kernel
	}
	t.builds = make(map[advisor.Compiled]compile.TritonBuild)
	if t.kept(l) != nil {
		return nil // they are compiled as they are tried
	}
	var all []advisor.Compiled
	for _, a := range list {
		all = append(all, *a.Match.Change.Compiled)
	}
	return t.build(ctx, l, all)
}

// build compiles the kernel of a launch with parameters.
func (t *trial) build(ctx context.Context, l *profiler.Launch, list []advisor.Compiled) error {
	options := make([]compile.TritonOptions, len(list))
	for i, c := range list {
		options[i] = compile.TritonOptions(c)
	}
	defer t.options.stage("compiling " + l.Kernel + " again")()
	builds, err := t.triton.Again(ctx, t.target.Module, l.Kernel, l.Grid, options)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.building.Lock()
	defer t.building.Unlock()
	for i, c := range list {
		if err != nil {
			t.builds[c] = compile.TritonBuild{Err: err}
		} else {
			t.builds[c] = builds[i]
		}
	}
	return nil
}

// built is the kernel of a launch with parameters. ok is false where there is nothing to compile it.
func (t *trial) built(ctx context.Context, l *profiler.Launch, c advisor.Compiled) (b compile.TritonBuild, ok bool, err error) {
	if t.builds == nil {
		return b, false, nil
	}
	find := func() bool {
		t.building.Lock()
		defer t.building.Unlock()
		b, ok = t.builds[c]
		return ok
	}
	if !find() {
		if err := t.build(ctx, l, []advisor.Compiled{c}); err != nil {
			return b, false, err
		}
		find()
	}
	return b, ok, nil
}

// alternatives notes with what other constants the kernel of the k-th launch can be compiled.
func (t *trial) alternatives(k int) {
	l := t.result.Profile.Launches[k]
	known := t.kept(l)
	if known == nil {
		return
	}
	l.Alternatives = nil
	for _, a := range known.Alternatives {
		l.Alternatives = append(l.Alternatives, profiler.Alternative{Constants: constants(a.Constants), Was: constants(a.Was), Grid: a.Grid})
	}
}

// kept is what has stayed behind of the program for a launch, nil for nothing.
func (t *trial) kept(l *profiler.Launch) *compile.TritonLaunch {
	if t.triton == nil {
		return nil
	}
	return t.triton.Hook.Find(t.target.Module, l.Kernel, l.Grid)
}

// constants lists constants as [profiler.Alternative] has them.
func constants(values map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, fmt.Sprintf("%s=%d", name, values[name]))
	}
	return strings.Join(list, ", ")
}

// apart is how far numbers may lie apart, as a part of the largest of them, where blocks of other sizes add up in another order: some units of the last place.
var apart = map[launch.Elem]float64{launch.F16: 1. / (1 << 8), launch.BF16: 1. / (1 << 5), launch.F32: 1. / (1 << 10), launch.F64: 1. / (1 << 30)}

// tritonElems are the types of Triton's pointers of which arrays may differ by rounding.
var tritonElems = map[string]launch.Elem{"*fp16": launch.F16, "*bf16": launch.BF16, "*fp32": launch.F32, "*fp64": launch.F64}

// rounded reports whether a session's outputs are those of the k-th launch, but for the rounding of what its kernel's parameters say are floats.
func (t *trial) rounded(s *launch.Session, k int) bool {
	known := t.kept(t.result.Profile.Launches[k])
	for i := range s.File.Expect {
		x := &s.File.Expect[i]
		_, want, got, err := s.Expected(x)
		if err != nil {
			return false
		}
		if bytes.Equal(want, got) {
			continue
		}
		args := s.File.Launches[0].Args
		at := slices.IndexFunc(args, func(a launch.Arg) bool { return a.Buffer == x.Name && a.Map == nil })
		if known == nil || at < 0 || at >= len(known.Types) {
			return false
		}
		e, ok := tritonElems[known.Types[at]]
		if !ok || len(want)%e.Size() != 0 {
			return false
		}
		if difference, largest, ok := e.Apart(got, want); !ok || difference > apart[e]*largest {
			return false
		}
	}
	return true
}

// recompiled makes a target one with the kernel of the k-th launch compiled with other parameters, or says why there is none.
func (t *trial) recompiled(ctx context.Context, r *Target, k int, c advisor.Compiled) (why string, err error) {
	b, ok, err := t.built(ctx, t.result.Profile.Launches[k], c)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "there is nothing at hand to compile it again", nil
	case b.Err != nil:
		return "it was not compiled again: " + b.Err.Error(), nil
	case b.Same:
		return advisor.SameCode, nil
	}
	file := *r.File
	file.Launches = slices.Clone(file.Launches)
	for i := range file.Launches {
		file.Launches[i].Block, file.Launches[i].Shared = [3]int{b.Warps * t.target.GPU.Limits.WarpSize.Int(), 1, 1}, b.Shared
		if c.Constants != "" {
			file.Launches[i].Grid = c.Grid
		}
	}
	r.Module, r.File = b.Module, &file
	return "", nil
}
