package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/emu"
	"gpa/emu/launch"
	"gpa/profiler"
	"gpa/profiler/store"
	"gpa/reports"
)

// storeVariable names the folder of the store where no flag does.
const storeVariable = "GPA_STORE"

// storeFlags say where results are kept from run to run.
type storeFlags struct {
	dir string
	not bool
}

func (f *storeFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "store", "", "keep results in `DIR`, and take from it what was computed before (default: $"+storeVariable+", or else nothing is kept)")
	flags.BoolVar(&f.not, "no-cache", false, "compute again what is in the store; a result that is not that in the store is an error")
}

// open opens the store, nil for none.
func (f *storeFlags) open() (*store.Folder, error) {
	dir := f.dir
	if dir == "" {
		dir = os.Getenv(storeVariable)
	}
	if dir == "" {
		if f.not {
			return nil, usagef("--no-cache: there is no store, which --store names")
		}
		return nil, nil
	}
	return store.Open(dir)
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

// A keptProfile is the place of a profile in a store.
type keptProfile struct {
	folder *store.Folder
	key    store.Key
	fresh  bool // what is there is not to be used
}

// storedProfile takes a profile from the store, or runs the kernel and keeps what comes of it. What is proved has to run.
func (f *profileFlags) storedProfile(ctx context.Context, e *env, t *gpa.Target, level emu.TimingLevel, o gpa.Options) (*gpa.Result, error) {
	folder, err := f.store.open()
	if err != nil {
		return nil, err
	}
	if folder == nil || f.proves {
		return f.profile(ctx, t, level, o)
	}
	k := &keptProfile{folder: folder, fresh: f.store.not}
	if k.key, err = f.key(t, level); err != nil {
		return nil, err
	}
	if r := k.load(e, t); r != nil {
		if err := r.Blame(f.advice.blamed()); err != nil {
			return nil, err
		}
		return r, r.Advise(f.advice.listed())
	}
	prints := &countingWriter{w: o.Stdout}
	o.Stdout = prints
	r, err := f.profile(ctx, t, level, o)
	if err != nil || ctx.Err() != nil || prints.n > 0 { // what was printed would have to be printed again
		return r, err
	}
	err = k.save(r)
	var failed failure
	if err != nil && !errors.As(err, &failed) { // a store that cannot be written to is no reason to fail
		fmt.Fprintf(e.stderr, "gpa profile: the result is not kept: %s\n", reports.OneLine(err.Error()))
		err = nil
	}
	return r, err
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

// key encodes all that the profile of a launch file depends on.
func (f *profileFlags) key(r *gpa.Target, level emu.TimingLevel) (key store.Key, err error) {
	build, err := store.Program()
	if err != nil {
		return key, err
	}
	text, err := launchText(r.File, r.Module.Raw)
	if err != nil {
		return key, err
	}
	e := store.NewEncoder("profile 1")
	e.Field("build", build)
	e.Field("launch", text)
	e.Field("module", r.Module.Name) // reports name it
	e.Field("gpu", r.GPU)
	e.Field("timing", level.String())
	e.Field("period", f.period)
	e.Field("seed", f.seed)
	e.Field("try", f.try)
	e.Field("exact", f.advice.exact) // what is tried is by blame
	e.Field("all", f.advice.all)
	e.Field("reconvergence", f.machine.reconvergence)
	e.Field("max-instructions", f.machine.maxInstructions)
	e.Field("whole-grid", f.machine.wholeGrid)
	e.Field("portions", f.machine.portions)
	e.Field("padding", f.machine.padding)
	return e.Sum()
}

// checksFile is the name of the checked outputs in a stored profile.
const checksFile = "checks.json"

// load returns the stored result, nil where there is none. What is damaged is told and computed again.
func (k *keptProfile) load(e *env, t *gpa.Target) *gpa.Result {
	if k.fresh {
		return nil
	}
	files, err := k.folder.Result(k.key)
	if err == nil {
		var r *gpa.Result
		if r, err = restored(files, t); err == nil {
			return r
		}
	}
	if err != store.ErrMissing {
		fmt.Fprintf(e.stderr, "gpa profile: %s; the profile is taken again\n", reports.OneLine(err.Error()))
	}
	return nil
}

// restored makes a result of the files that save wrote.
func restored(files map[string][]byte, t *gpa.Target) (*gpa.Result, error) {
	data := files[reports.SamplesFile]
	p, err := profiler.Load(reports.SamplesFile, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	r := gpa.FromProfile(p, t.Sources)
	r.Target = t
	if err := json.Unmarshal(files[checksFile], &r.Checks); err != nil {
		return nil, fmt.Errorf("%s: %w", checksFile, err)
	}
	return r, nil
}

// save stores a result that has come to its end.
func (k *keptProfile) save(r *gpa.Result) error {
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
	err = k.folder.Record(k.key, map[string][]byte{reports.SamplesFile: samples.Bytes(), checksFile: checks})
	var differ *store.ConflictError
	if errors.As(err, &differ) {
		return failure{err}
	}
	return err
}
