package gpa

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"gpa/emu"
	"gpa/emu/launch"
	"gpa/profiler"
	"gpa/profiler/store"
	"gpa/reports"
)

// simulationVersion is a hash of the code on which samples depend: TestSimulationVersion keeps it that of the emulated GPU, the sampler and what reads their inputs,
// comments and tests aside, so that nobody has to remember to raise a number.
const simulationVersion = "cdaae2c6e19ff754"

// simulation names what computes samples here. Of a program that was built from sources which nobody has committed it is the program itself.
func simulation() (string, error) {
	if Committed() {
		return fmt.Sprint(simulationVersion, " ", runtime.Version(), " ", runtime.GOARCH), nil // floating-point operations may be fused on one and not on another
	}
	build, err := store.Program()
	return build.String(), err
}

// Committed reports whether this program was built from a version of the module, or from a commit without changes: samples that it keeps serve other such programs with the
// same emulated GPU.
func Committed() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.modified" {
			return s.Value == "false"
		}
	}
	return info.Main.Sum != ""
}

// samplesKey encodes all that the samples of launches depend on.
func (t *Target) samplesKey(o *Options, level emu.TimingLevel) (key store.Key, err error) {
	e, err := t.memoryEncoder("samples 1", o)
	if err != nil {
		return key, err
	}
	e.Field("timing", level.String())
	e.Field("period", o.Period)
	e.Field("seed", o.Seed)
	e.Field("whole-grid", o.WholeGrid)
	e.Field("portions", o.Portions)
	e.Field("dispensable", o.Dispensable)
	return e.Sum()
}

// memoryKey encodes all that what launches leave in memory depends on.
func (t *Target) memoryKey(o *Options) (key store.Key, err error) {
	e, err := t.memoryEncoder("memory 1", o)
	if err != nil {
		return key, err
	}
	return e.Sum()
}

// memoryEncoder begins a key with what all depends on that launches do.
func (t *Target) memoryEncoder(kind string, o *Options) (*store.Encoder, error) {
	version, err := simulation()
	if err != nil {
		return nil, err
	}
	text, err := launchText(t.File, t.Module.Raw)
	if err != nil {
		return nil, err
	}
	e := store.NewEncoder(kind)
	e.Field("simulation", version)
	e.Field("launch", text)
	e.Field("module", t.Module.Name) // reports name it
	e.Field("gpu", t.GPU)
	e.Field("reconvergence", o.Reconvergence)
	e.Field("max-instructions", o.MaxInstructions)
	e.Field("padding", o.Padding)
	return e, nil
}

// launchText is a launch file with the contents of its files for their names.
func launchText(file *launch.File, module []byte) (string, error) {
	var failed error
	named := *file
	named.Module = store.KeyOf(module).String()
	text := named.Write(func(name string) string {
		data, err := file.ReadData(name)
		if err != nil && failed == nil {
			failed = err
		}
		return store.KeyOf(data).String()
	})
	return string(text), failed
}

// stateFile is the name of what a stored profile has beside the samples.
const stateFile = "state.json"

// A storedState is that.
type storedState struct {
	Checks  []reports.Check `json:"checks"`
	Partial bool            `json:"partial"` // memory is not what the launches would have left, see [Options.Dispensable]
}

// sampled takes samples, or has those of a store.
func (t *Target) sampled(ctx context.Context, o Options) (*Result, error) {
	key, err := t.samplesKey(&o, o.Level())
	if err != nil {
		return nil, err
	}
	if r := t.restore(&o, key); r != nil {
		return r, nil
	}
	prints := countPrints(&o)
	r, err := t.profile(ctx, o)
	if err != nil || ctx.Err() != nil || prints.n > 0 {
		return r, err
	}
	err = t.store(&o, key, r)
	return r, errors.Join(err, r.keepMemory())
}

// restore returns the stored result, nil where there is none. What is damaged is told and computed again.
func (t *Target) restore(o *Options, key store.Key) *Result {
	if o.Keep.Again {
		return nil
	}
	files, err := o.Keep.Store.Result(key)
	if err == nil {
		var r *Result
		if r, err = t.restored(o, files); err == nil {
			return r
		}
	}
	if err != store.ErrMissing {
		o.tell(fmt.Errorf("%w; the profile is taken again", err))
	}
	return nil
}

// restored makes a result of the files that store wrote.
func (t *Target) restored(o *Options, files map[string][]byte) (*Result, error) {
	data := files[SavedFile]
	p, err := profiler.Load(SavedFile, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var state storedState
	if err := json.Unmarshal(files[stateFile], &state); err != nil {
		return nil, fmt.Errorf("%s: %w", stateFile, err)
	}
	r := FromProfile(p, t.Sources)
	r.Target, r.options, r.partial, r.Checks = t, *o, state.Partial, state.Checks
	return r, nil
}

// store stores a result that has come to its end and is right. Its error is a *store.ConflictError: a store that cannot be written to is no reason to fail.
func (t *Target) store(o *Options, key store.Key, r *Result) error {
	if r.Stopped != nil || r.Failure() != nil { // the first difference of a wrong output is of any type, which JSON does not keep
		return nil
	}
	var samples bytes.Buffer
	if err := r.Save(&samples); err != nil {
		return err
	}
	state, err := json.Marshal(storedState{r.Checks, r.partial || r.session != nil && r.session.Partial})
	if err != nil {
		return err
	}
	return o.record(key, map[string][]byte{SavedFile: samples.Bytes(), stateFile: state})
}

// record records a result.
func (o *Options) record(key store.Key, files map[string][]byte) error {
	err := o.Keep.Store.Record(key, files)
	var differ *store.ConflictError
	if err != nil && !errors.As(err, &differ) {
		o.tell(fmt.Errorf("the result is not kept: %w", err))
		return nil
	}
	return err
}

// mostMemory is how many bytes of buffers are kept: to write more takes longer than to run most kernels without timing.
const mostMemory = 256 << 20

// keepMemory stores what the launches have left, where that is wanted.
func (r *Result) keepMemory() error {
	keep := &r.options.Keep
	if keep.Store == nil || !keep.Memory || r.session.Partial || r.Stopped != nil || r.Failure() != nil || r.session.Bytes() > mostMemory {
		return nil
	}
	key, err := r.Target.memoryKey(&r.options)
	if err != nil {
		return err
	}
	files := make(map[string][]byte)
	for _, name := range r.session.Names() {
		if files[name], err = r.session.Save(name); err != nil {
			return err
		}
	}
	return r.options.record(key, files)
}

// Recall brings back what the launches of a result left in memory, where they did not run here as their samples came from a store: from there too, or by running
// them without timing. [Compare], [Result.Output] and [Result.Session] need it then; [Result.Try] does it by itself.
func (r *Result) Recall(ctx context.Context) error {
	switch {
	case r.session != nil:
		return nil
	case r.Target == nil:
		return ErrNotRun
	}
	s, err := r.recalled(ctx)
	if err != nil {
		r.options.tell(fmt.Errorf("%w; the launches run again", err))
	}
	if s == nil {
		o := r.options
		o.Stdout = nil // what they printed was no result to keep
		ran, err := r.Target.Run(ctx, o)
		if err != nil {
			return err
		}
		s, ran.options = ran.session, r.options
		if err := ran.keepMemory(); err != nil {
			return err
		}
	}
	s.Partial = r.partial
	r.session = s
	return nil
}

// recalled is the memory that the store has, nil for none.
func (r *Result) recalled(ctx context.Context) (*launch.Session, error) {
	if r.options.Keep.Store == nil || r.partial {
		return nil, nil
	}
	key, err := r.Target.memoryKey(&r.options)
	if err != nil {
		return nil, err
	}
	files, err := r.options.Keep.Store.Result(key)
	if err == store.ErrMissing {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := r.Target.Session(ctx, emu.TimingNone, r.options)
	if err != nil {
		return nil, err
	}
	for name, data := range files {
		if err := s.Restore(name, data); err != nil {
			return nil, err
		}
	}
	return s, nil
}
