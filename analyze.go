package gpa

import (
	"context"
	"errors"
	"io"

	"gpa/blamer"
	"gpa/emu"
	"gpa/profiler/store"
)

// Analysis says what is made of the launches of a target. The zero value is a profile with blame and advice that was not tried.
type Analysis struct {
	Untimed bool // no cycles and no samples: counts and warnings
	Blame   blamer.Options
	Advice  AdviceOptions
	Try     *TryOptions // nil for no what-if runs
}

// Analyze runs the launches of a target, blames and advises, or takes what came of that from a store, which o.Keep may name. Launches that faulted or that were
// stopped are a result. Beside a [*store.ConflictError] there is a result too.
func (t *Target) Analyze(ctx context.Context, o Options, a Analysis) (*Result, error) {
	return (&analysis{Analysis: a, target: t, options: o, program: store.Program}).result(ctx)
}

// An analysis is the analysis of a target.
type analysis struct {
	Analysis
	target  *Target
	options Options
	program func() (store.Key, error) // on which what is made of samples depends
}

// result analyzes, or takes the result from the store.
func (a *analysis) result(ctx context.Context) (*Result, error) {
	if a.options.Keep.Store == nil {
		return a.run(ctx)
	}
	key, err := a.key()
	if err != nil {
		return nil, err
	}
	if r := a.target.restore(&a.options, key); r != nil {
		if err := r.Blame(a.Blame); err != nil {
			return nil, err
		}
		return r, r.Advise(a.Advice)
	}
	prints := countPrints(&a.options)
	r, err := a.run(ctx)
	if err != nil || ctx.Err() != nil || prints.n > 0 { // what was printed would have to be printed again
		return r, err
	}
	return r, a.target.store(&a.options, key, r)
}

// run analyzes.
func (a *analysis) run(ctx context.Context) (r *Result, err error) {
	if a.Untimed {
		r, err = a.target.Run(ctx, a.options)
	} else {
		r, err = a.target.Profile(ctx, a.options)
	}
	if r == nil {
		return nil, err
	}
	var differ *store.ConflictError
	if !errors.As(err, &differ) {
		err = nil // the result says that it was stopped
	}
	if bad := r.Blame(a.Blame); bad != nil {
		return nil, bad
	}
	if a.Try == nil || a.Untimed || r.Stopped != nil {
		return r, errors.Join(err, r.Advise(a.Advice))
	}
	return r, errors.Join(err, r.Try(ctx, *a.Try))
}

// key encodes all that a profile with advice depends on. What is tried is by blame, so that the blame counts.
func (a *analysis) key() (key store.Key, err error) {
	program, err := a.program()
	if err != nil {
		return key, err
	}
	level := a.options.Level()
	if a.Untimed {
		level = emu.TimingNone
	}
	samples, err := a.target.samplesKey(&a.options, level)
	if err != nil {
		return key, err
	}
	e := store.NewEncoder("profile 3")
	e.Field("program", program)
	e.Field("samples", samples)
	e.Field("try", a.Try)
	e.Field("blame", a.Blame)
	e.Field("advice", a.Advice)
	return e.Sum()
}

// countPrints counts what kernels print from now on.
func countPrints(o *Options) *countingWriter {
	prints := &countingWriter{w: o.Stdout}
	o.Stdout = prints
	return prints
}

// A countingWriter counts what passes, which SMs may print at a time.
type countingWriter struct {
	w io.Writer
	n int
}

func (c *countingWriter) Write(p []byte) (int, error) {
	c.n += len(p)
	if c.w == nil {
		return len(p), nil
	}
	return c.w.Write(p)
}
