package program

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

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
	selected int // by all but Skip and Most
	taken    int // profiled or captured
	profile  profiler.Profile
	modules  map[*cubin.File]int
	kernels  map[*cubin.Kernel]*Kernel
	series   map[string]*series
}

// A Kernel sums up the launches of a kernel.
type Kernel struct {
	Module       *cubin.File
	Kernel       *cubin.Kernel
	Launches     int
	Timed        int     // of them
	Instructions int64   // warp instructions
	Seconds      float64 // on the emulated GPU, of those that were timed or count as one that was

	number   int   // in the order of first launches
	profiled []int // indices of launches in the profile
	kept     *replayed
	untried  error // why there is no capture of a launch
}

// Name is the kernel's name for people.
func (k *Kernel) Name() string { return reports.KernelName(k.Module, k.Kernel.Name) }

func newJournal() *journal {
	return &journal{modules: make(map[*cubin.File]int), kernels: make(map[*cubin.Kernel]*Kernel), series: make(map[string]*series)}
}

// entry returns the entry of a kernel.
func (j *journal) entry(module *cubin.File, k *cubin.Kernel) *Kernel {
	e := j.kernels[k]
	if e == nil {
		e = &Kernel{Module: module, Kernel: k, number: len(j.kernels)}
		j.kernels[k] = e
	}
	return e
}

// add takes a launch to the profile.
func (j *journal) add(e *Kernel, l *profiler.Launch) {
	index, known := j.modules[e.Module]
	if !known {
		index = len(j.profile.Modules)
		j.modules[e.Module] = index
		j.profile.Modules = append(j.profile.Modules, e.Module)
	}
	l.Module = index
	e.profiled = append(e.profiled, len(j.profile.Launches))
	j.profile.Launches = append(j.profile.Launches, l)
}

// alike is how many launches count as earlier ones.
func (j *journal) alike() (n int) {
	for _, l := range j.profile.Launches {
		n += l.Facts.Alike
	}
	return n
}

// sorted lists the kernels, those first that take most: of the time, or of the instructions where nothing was timed.
func (j *journal) sorted() []*Kernel {
	list := slices.Collect(maps.Values(j.kernels))
	slices.SortFunc(list, func(a, b *Kernel) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(b.Instructions, a.Instructions), cmp.Compare(a.number, b.number))
	})
	return list
}

// launch runs a launch of the program: profiled if it is selected, else for its effect.
func (p *Program) launch(ctx context.Context, l *cuda.Launch) (*emu.Result, error) {
	j := p.journal
	e := j.entry(l.Machine.Module(), l.Launch.Kernel)
	j.launches++
	e.Launches++
	selected := p.selects(e, l)
	var result *emu.Result
	var err error
	switch {
	case p.options.Check:
		result, err = p.checked(ctx, l)
	case selected && p.options.Capture != nil:
		result, err = p.captured(ctx, e, l)
	case selected:
		result, err = p.profiled(ctx, e, l)
	default:
		l.Launch.Untimed = true
		result, err = l.Machine.Launch(ctx, l.Launch)
	}
	if result != nil {
		e.Instructions += result.WarpInstructions
	}
	if p.options.Kill && p.options.Most > 0 && j.taken == p.options.Most && !p.killed {
		p.killed = true
		close(p.enough)
		<-ctx.Done() // the program gets no answer: it does nothing more
	}
	return result, err
}

// selects says whether the next launch of a kernel is profiled or captured. Skip and Most count launches that all else selects.
func (p *Program) selects(e *Kernel, l *cuda.Launch) bool {
	o := &p.options
	if !o.Timed && o.Capture == nil || l.Left || o.Ranges != nil && !slices.ContainsFunc(o.Ranges, l.Within) {
		return false
	}
	if o.Only != nil && !o.Only.MatchString(e.Name()) && !o.Only.MatchString(e.Kernel.Name) {
		return false
	}
	p.journal.selected++
	n := p.journal.selected - o.Skip
	if n <= 0 || o.Most > 0 && n > o.Most {
		return false
	}
	p.journal.taken++
	return true
}

// profiled runs a launch, takes samples of it, and adds it to the profile.
func (p *Program) profiled(ctx context.Context, e *Kernel, l *cuda.Launch) (*emu.Result, error) {
	s := p.seriesOf(e, l)
	if s.launches++; s.untimed() && !p.options.Each {
		return p.again(ctx, e, l, s)
	}
	result, err, done := p.replay(ctx, e, l)
	if !done {
		result, err = p.inPlace(ctx, e, l)
	}
	if n := len(e.profiled); n > e.Timed {
		e.Timed = n
		e.Seconds += float64(result.Cycles) / result.Facts.Model.Clock.Value
		s.timed(result, len(p.journal.profile.Launches)-1)
	}
	return result, err
}

// inPlace runs a launch with timing on the memory of the program.
func (p *Program) inPlace(ctx context.Context, e *Kernel, l *cuda.Launch) (*emu.Result, error) {
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

// Launches is the number of launches of the program.
func (p *Program) Launches() int { return p.journal.launches }

// Kernels lists the kernels, those first that take most: of the time, or of the instructions where nothing was timed.
func (p *Program) Kernels() []*Kernel { return p.journal.sorted() }

// Profile is the profile of the launches of the n kernels that take most of the time.
func (p *Program) Profile(n int) *profiler.Profile {
	out := &profiler.Profile{Modules: p.journal.profile.Modules}
	for i, e := range p.journal.sorted() {
		if i == n {
			break
		}
		for _, k := range e.profiled {
			out.Launches = append(out.Launches, p.journal.profile.Launches[k])
		}
	}
	return out
}
