// Package tune follows advice mechanically: it changes copies of a kernel's source as package patch knows, compiles and runs them with the same memory, and
// keeps what is faster, leaves the same outputs and has no error that the unchanged kernel had not.
package tune

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"gpa"
	"gpa/advisor/patch"
	"gpa/cubin/compile"
	"gpa/emu/launch"
	"gpa/kernels"
	"gpa/reports"
	"gpa/reports/files"
)

// Options say how patches are made and judged. Compiler is needed; the rest may be zero.
type Options struct {
	Compiler  *compile.Compiler
	Source    string            // the kernel's source file, or a folder that is looked into before that of the kernel
	Patches   int               // at most so many are compiled and run for a version, those of the best advice; 0 for 16
	Rounds    int               // at most so many are applied by [Tune]; 0 for 8
	Tolerance *launch.Tolerance // of all outputs, nil for the launch file's and, where that expects nothing of floats and a patch changes rounding, 1e-4
	Run       gpa.Options       // of all runs
}

func (o *Options) patches() int {
	if o.Patches == 0 {
		return 16
	}
	return o.Patches
}

func (o *Options) rounds() int {
	if o.Rounds == 0 {
		return 8
	}
	return o.Rounds
}

// Prove compiles and runs the patches for the advice that a result has on its costliest kernel whose source is at hand. Speedups are against the unchanged
// source as the compiler makes it. Where ctx ends or a run fails, the proof is of what was run until then, beside the error; it is nil where
// nothing can be proved.
func Prove(ctx context.Context, result *gpa.Result, o Options) (*reports.Proof, error) {
	p, err := newProving(result, o)
	if err != nil {
		return nil, err
	}
	defer p.close()
	base, err := p.base(ctx)
	if err != nil {
		return nil, err
	}
	proof := p.proof(base)
	_, _, err = p.round(ctx, base, &result.Result, proof)
	sortPatches(proof.Patches)
	return proof, err
}

// Tuned is a kernel whose source was changed until nothing gained.
type Tuned struct {
	*reports.Tuning
	Name   string      // of the source file
	Text   []byte      // of it
	Target *gpa.Target // the last version
}

// Tune proves the patches for the advice on a result's costliest kernel whose source is at hand, applies the best, advises anew, and so on, until no patch
// gains. Where ctx ends, what was applied until then is the result.
func Tune(ctx context.Context, result *gpa.Result, o Options) (*Tuned, error) {
	p, err := newProving(result, o)
	if err != nil {
		return nil, err
	}
	defer p.close()
	base, err := p.base(ctx)
	if err != nil {
		return nil, err
	}
	tuned := &reports.Tuning{Proof: *p.proof(base), Steps: []*reports.Patch{}}
	best, err := p.climb(ctx, base, tuned)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	p.finish(tuned, base, best)
	return &Tuned{Tuning: tuned, Name: p.source.name, Text: best.text, Target: best.target}, nil
}

// climb applies the best patch again and again and returns the last version.
func (p *proving) climb(ctx context.Context, on *variant, tuned *reports.Tuning) (*variant, error) {
	for range p.options.rounds() {
		if err := on.ran.Try(ctx, gpa.TryOptions{}); err != nil {
			return on, err
		}
		tuned.Patches, tuned.Skipped = []*reports.Patch{}, 0
		best, by, err := p.round(ctx, on, &on.ran.Result, &tuned.Proof)
		if best != nil {
			tuned.Steps = append(tuned.Steps, by)
			on = best
		}
		if err != nil || best == nil {
			return on, err
		}
	}
	return on, nil
}

// finish enters what has become of the kernel in all.
func (p *proving) finish(t *reports.Tuning, base, best *variant) {
	t.Versions, t.Runs = p.compiled, p.ran
	t.Speedup, t.Cycles, t.Flags = float64(base.cycles)/float64(best.cycles), best.cycles, best.flags
	t.Diff = patch.Diff(p.source.name, p.source.name, base.text, best.text)
	if best.grid != [3]int{} {
		t.Grid, t.Block = best.grid[:], best.block[:]
	}
	t.Patches = slices.DeleteFunc(t.Patches, func(x *reports.Patch) bool { return x.Outcome == reports.Proved })
}

// Files are the tuned kernel as a folder that [gpa.Load] takes: source, cubin, diff, launch file and its data.
func (t *Tuned) Files() ([]files.File, error) {
	file := *t.Target.File
	stem := strings.TrimSuffix(t.Name, path.Ext(t.Name))
	file.Module = fmt.Sprintf("%s.sm_%d.cubin", stem, t.Target.Module.Arch)
	names := make(map[string]string)
	list := []files.File{{Name: t.Name, Data: t.Text}, {Name: file.Module, Data: t.Target.Module.Raw}, {Name: stem + ".patch", Data: []byte(t.Diff)}}
	for i, name := range file.Files() {
		data, err := file.ReadData(name)
		if err != nil {
			return nil, err
		}
		names[name] = fmt.Sprintf("%d.%s", i, path.Base(strings.ReplaceAll(name, `\`, "/")))
		list = append(list, files.File{Name: names[name], Data: data})
	}
	yaml := file.Write(func(name string) string { return names[name] })
	if _, err := launch.Parse(kernels.LaunchFile, yaml, file.Dir()); err != nil {
		return nil, fmt.Errorf("the launch file cannot be written: %w", err)
	}
	return append(list, files.File{Name: kernels.LaunchFile, Data: yaml}), nil
}
