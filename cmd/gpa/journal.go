package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/cuda"
	"gpa/emu/record"
	"gpa/profiler"
	"gpa/profiler/sampler"
	"gpa/reports"
)

// A journal is what is known of the launches of a program.
type journal struct {
	launches int // in all
	selected int // by --kernel
	profile  profiler.Profile
	modules  map[*cubin.File]int
	kernels  map[*cubin.Kernel]*kernelEntry
}

// A kernelEntry sums up the launches of a kernel.
type kernelEntry struct {
	module       *cubin.File
	kernel       *cubin.Kernel
	number       int // in the order of first launches
	launches     int
	timed        int
	instructions int64
	seconds      float64 // on the emulated GPU, of those that were timed
	profiled     []int   // indices of launches in the profile
	kept         *replayed
	untried      error // why there is no capture of a launch
}

func newJournal() *journal {
	return &journal{modules: make(map[*cubin.File]int), kernels: make(map[*cubin.Kernel]*kernelEntry)}
}

// entry returns the entry of a kernel.
func (j *journal) entry(module *cubin.File, k *cubin.Kernel) *kernelEntry {
	e := j.kernels[k]
	if e == nil {
		e = &kernelEntry{module: module, kernel: k, number: len(j.kernels)}
		j.kernels[k] = e
	}
	return e
}

// add takes a launch to the profile.
func (j *journal) add(e *kernelEntry, l *profiler.Launch) {
	index, known := j.modules[e.module]
	if !known {
		index = len(j.profile.Modules)
		j.modules[e.module] = index
		j.profile.Modules = append(j.profile.Modules, e.module)
	}
	l.Module = index
	e.profiled = append(e.profiled, len(j.profile.Launches))
	j.profile.Launches = append(j.profile.Launches, l)
}

// sorted lists the kernels, those first that take most: of the time, or of the instructions where nothing was timed.
func (j *journal) sorted() []*kernelEntry {
	list := slices.Collect(maps.Values(j.kernels))
	slices.SortFunc(list, func(a, b *kernelEntry) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(b.instructions, a.instructions), cmp.Compare(a.number, b.number))
	})
	return list
}

// launch runs a launch of the program: profiled if it is selected, else for its effect.
func (p *program) launch(ctx context.Context, l *cuda.Launch) (*emu.Result, error) {
	j := p.journal
	e := j.entry(l.Machine.Module(), l.Launch.Kernel)
	j.launches++
	e.launches++
	selected := p.selects(e)
	var result *emu.Result
	var err error
	switch {
	case p.checked != nil:
		result, err = p.checked.launch(ctx, l)
	case selected && p.folder != nil:
		result, err = p.captured(ctx, e, l)
	case selected:
		result, err = p.profiled(ctx, e, l)
	default:
		l.Launch.Untimed = true
		result, err = l.Machine.Launch(ctx, l.Launch)
	}
	if result != nil {
		e.instructions += result.WarpInstructions
	}
	return result, err
}

// selects says whether the next launch of a kernel is profiled or captured, and counts it if --kernel selects it.
func (p *program) selects(e *kernelEntry) bool {
	if !p.timed && p.folder == nil || p.only != nil && !p.only.MatchString(reports.KernelName(e.module, e.kernel.Name)) && !p.only.MatchString(e.kernel.Name) {
		return false
	}
	p.journal.selected++
	n := p.journal.selected - p.flags.skip
	return n > 0 && (p.flags.count == 0 || n <= p.flags.count)
}

// profiled runs a launch, takes samples of it, and adds it to the profile.
func (p *program) profiled(ctx context.Context, e *kernelEntry, l *cuda.Launch) (*emu.Result, error) {
	result, err, done := p.replay(ctx, e, l)
	if !done {
		result, err = p.inPlace(ctx, e, l)
	}
	if n := len(e.profiled); n > e.timed {
		e.timed = n
		e.seconds += float64(result.Cycles) / result.Facts.Model.Clock.Value
	}
	return result, err
}

// inPlace runs a launch with timing on the memory of the program.
func (p *program) inPlace(ctx context.Context, e *kernelEntry, l *cuda.Launch) (*emu.Result, error) {
	var recorder record.Recorder
	l.Launch.Observer, l.Launch.Recorder = p.sampler, &recorder
	result, err := l.Machine.Launch(ctx, l.Launch)
	if result == nil {
		return nil, err
	}
	var fault *emu.Fault
	if err != nil && !errors.As(err, &fault) {
		return result, err
	}
	run := sampler.Emulated(result, fault)
	run.Record = recorder.Record()
	p.journal.add(e, p.sampler.Launch(run))
	return result, err
}

// newSampler makes the sampler of a program's launches.
func (p *program) newSampler(o sampler.Options) error {
	var err error
	if p.sampler, err = sampler.New(o); err != nil {
		return usagef("--period: %w", err)
	}
	return nil
}

// table prints the kernels of the program.
func (p *program) table(w io.Writer) error {
	if p.journal.launches == 0 {
		return nil
	}
	var seconds float64
	var instructions int64
	for _, e := range p.journal.kernels {
		seconds += e.seconds
		instructions += e.instructions
	}
	t := reports.Table{Columns: []reports.Column{{Title: "kernel"}, {Title: "launches", Right: true}, {Title: "warp instructions", Right: true}}}
	if p.timed {
		t.Columns = append(t.Columns, reports.Column{Title: "profiled", Right: true}, reports.Column{Title: "time, us", Right: true})
	}
	t.Columns = append(t.Columns, reports.Column{Title: "share", Right: true})
	list := p.journal.sorted()
	shown := list[:min(len(list), mostRows)]
	for _, e := range shown {
		row := []string{reports.KernelName(e.module, e.kernel.Name), strconv.Itoa(e.launches), strconv.FormatInt(e.instructions, 10)}
		share := float64(e.instructions) / float64(max(instructions, 1))
		if p.timed {
			row = append(row, strconv.Itoa(e.timed), strconv.FormatFloat(e.seconds*1e6, 'f', 1, 64))
			share = 0
			if seconds > 0 {
				share = e.seconds / seconds
			}
		}
		t.Add(append(row, fmt.Sprintf("%.1f %%", 100*share))...)
	}
	if _, err := fmt.Fprintf(w, "%d launches of %d kernels on %s\n\n", p.journal.launches, len(p.journal.kernels), p.model.Product); err != nil {
		return err
	}
	if err := p.env.table(w, &t); err != nil || len(shown) == len(list) {
		return err
	}
	_, err := fmt.Fprintf(w, "and %d kernels that take less\n", len(list)-len(shown))
	return err
}

// mostRows is how many kernels the table lists.
const mostRows = 30

// costliest is the profile of the kernels that take most of the time.
func (p *program) costliest() *profiler.Profile {
	out := &profiler.Profile{Modules: p.journal.profile.Modules}
	for i, e := range p.journal.sorted() {
		if i == p.flags.kernels {
			break
		}
		for _, n := range e.profiled {
			out.Launches = append(out.Launches, p.journal.profile.Launches[n])
		}
	}
	return out
}

// sortedKeys lists the keys of a map in their order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
