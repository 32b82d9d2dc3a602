package gpa

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gpa/blamer"
	"gpa/emu"
	"gpa/emu/launch"
	"gpa/profiler"
	"gpa/profiler/store"
)

// Analysis says what is made of the launches of a target. The zero value is a profile with blame and advice that was not tried.
type Analysis struct {
	Untimed bool // no cycles and no samples: counts and warnings
	Blame   blamer.Options
	Advice  AdviceOptions
	Try     *TryOptions // nil for no what-if runs

	// Store is where results are kept from run to run, by all that they depend on and the program that computed them; nil for nowhere. Results of
	// launches that printed, faulted, were stopped or left other outputs than expected are not kept.
	Store *store.Folder
	Again bool        // what is in the store is computed again; a result that is not that in the store is a [*store.ConflictError]
	Tell  func(error) // is told what is wrong with the store where the result is not, nil for nobody
}

// Analyze runs the launches of a target, or takes what came of them from a store, then blames and advises. Launches that faulted or that were
// stopped are a result; [Result.Failure] tells of them. Beside a [*store.ConflictError] there is a result too.
func (t *Target) Analyze(ctx context.Context, o Options, a Analysis) (*Result, error) {
	if a.Store == nil {
		return t.analyze(ctx, o, &a)
	}
	k := kept{t, o, &a}
	key, err := k.key()
	if err != nil {
		return nil, err
	}
	if r := k.load(key); r != nil {
		if err := r.Blame(a.Blame); err != nil {
			return nil, err
		}
		return r, r.Advise(a.Advice)
	}
	prints := &countingWriter{w: o.Stdout}
	o.Stdout = prints
	r, err := t.analyze(ctx, o, &a)
	if err != nil || ctx.Err() != nil || prints.n > 0 { // what was printed would have to be printed again
		return r, err
	}
	err = k.save(key, r)
	var differ *store.ConflictError
	if err != nil && !errors.As(err, &differ) { // a store that cannot be written to is no reason to fail
		a.tell(fmt.Errorf("the result is not kept: %w", err))
		err = nil
	}
	return r, err
}

// analyze is Analyze without a store.
func (t *Target) analyze(ctx context.Context, o Options, a *Analysis) (*Result, error) {
	run := t.Profile
	if a.Untimed {
		run = t.Run
	}
	r, err := run(ctx, o)
	if r == nil {
		return nil, err
	}
	if err := r.Blame(a.Blame); err != nil {
		return nil, err
	}
	if a.Try == nil || a.Untimed || r.Stopped != nil {
		return r, r.Advise(a.Advice)
	}
	return r, r.Try(ctx, *a.Try)
}

func (a *Analysis) tell(err error) {
	if a.Tell != nil {
		a.Tell(err)
	}
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

// A kept is an analysis whose result is kept in a store.
type kept struct {
	target   *Target
	options  Options
	analysis *Analysis
}

// key encodes all that a profile depends on. What is tried is by blame, so that the blame counts.
func (k *kept) key() (key store.Key, err error) {
	build, err := store.Program()
	if err != nil {
		return key, err
	}
	text, err := launchText(k.target.File, k.target.Module.Raw)
	if err != nil {
		return key, err
	}
	level := k.options.Level()
	if k.analysis.Untimed {
		level = emu.TimingNone
	}
	o := &k.options
	e := store.NewEncoder("profile 2")
	e.Field("build", build)
	e.Field("launch", text)
	e.Field("module", k.target.Module.Name) // reports name it
	e.Field("gpu", k.target.GPU)
	e.Field("timing", level.String())
	e.Field("period", o.Period)
	e.Field("seed", o.Seed)
	e.Field("try", k.analysis.Try)
	e.Field("blame", k.analysis.Blame)
	e.Field("advice", k.analysis.Advice)
	e.Field("reconvergence", o.Reconvergence)
	e.Field("max-instructions", o.MaxInstructions)
	e.Field("whole-grid", o.WholeGrid)
	e.Field("portions", o.Portions)
	e.Field("dispensable", o.Dispensable)
	e.Field("padding", o.Padding)
	return e.Sum()
}

// launchText is a launch file with the contents of its files for their names.
func launchText(file *launch.File, module []byte) (string, error) {
	keys := make(map[string]string)
	for _, name := range file.Files() {
		data, err := file.Dir().ReadFile(name)
		if err != nil {
			return "", err
		}
		keys[name] = store.KeyOf(data).String()
	}
	named := *file
	named.Module = store.KeyOf(module).String()
	return string(named.Write(func(name string) string { return keys[name] })), nil
}

// checksFile is the name of the checked outputs in a stored profile.
const checksFile = "checks.json"

// load returns the stored result, nil where there is none. What is damaged is told and computed again.
func (k *kept) load(key store.Key) *Result {
	if k.analysis.Again {
		return nil
	}
	files, err := k.analysis.Store.Result(key)
	if err == nil {
		var r *Result
		if r, err = k.restored(files); err == nil {
			return r
		}
	}
	if err != store.ErrMissing {
		k.analysis.tell(fmt.Errorf("%w; the profile is taken again", err))
	}
	return nil
}

// restored makes a result of the files that save wrote.
func (k *kept) restored(files map[string][]byte) (*Result, error) {
	data := files[SavedFile]
	p, err := profiler.Load(SavedFile, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	r := FromProfile(p, k.target.Sources)
	r.Target = k.target
	if err := json.Unmarshal(files[checksFile], &r.Checks); err != nil {
		return nil, fmt.Errorf("%s: %w", checksFile, err)
	}
	return r, nil
}

// save stores a result that has come to its end.
func (k *kept) save(key store.Key, r *Result) error {
	if r.Stopped != nil {
		return nil
	}
	for i := range r.Checks {
		if !r.Checks[i].OK {
			return nil // its first difference is of any type, which JSON does not keep
		}
	}
	var samples bytes.Buffer
	if err := r.Save(&samples); err != nil {
		return err
	}
	checks, err := json.Marshal(r.Checks)
	if err != nil {
		return err
	}
	return k.analysis.Store.Record(key, map[string][]byte{SavedFile: samples.Bytes(), checksFile: checks})
}
