package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gpa"
	"gpa/emu"
	"gpa/emu/capture"
	"gpa/emu/cuda"
	"gpa/emu/record"
	"gpa/profiler"
	"gpa/profiler/sampler"
	"gpa/reports"
)

// Launches of programs are profiled as captures of them are: the launch takes effect without timing, and what it found in memory is run
// with timing from a launch file, as gpa profile would one that gpa capture has written. So the two agree to the cycle, and advice
// can be tried after the program has gone on. Launches of which there is no capture are timed where they are.

// A replayed launch is the costliest of a kernel.
type replayed struct {
	capture *capture.Capture
	launch  *profiler.Launch
}

const (
	// mostAllocated is how much memory a program may have for its launches to be captured, bytes: a kernel may touch all of it, which is
	// there three times then.
	mostAllocated = 4 << 30
	// mostKept is how much captures may take that are kept until the program has ended.
	mostKept = 1 << 30
)

// replay runs a launch for its effect and its capture with timing. done is false where that cannot be; memory is then as before.
func (p *Program) replay(ctx context.Context, e *Kernel, l *cuda.Launch) (result *emu.Result, err error, done bool) {
	if n := l.Allocated(); n > mostAllocated || n > emu.FreeMemory()/4 {
		return nil, p.estimated(e, fmt.Errorf("the program has %d MiB of memory", n>>20)), false
	}
	t := p.taking(l)
	if err := t.Begin(); err != nil {
		return nil, p.estimated(e, err), false
	}
	l.Launch.Untimed = true
	result, err = l.Machine.Launch(ctx, l.Launch)
	l.Launch.Untimed, l.Launch.Snapshot = false, nil
	var fault *emu.Fault
	switch {
	case errors.As(err, &fault):
		t.Restore()
		return nil, nil, false
	case err != nil:
		return result, err, true
	}
	var timed *emu.Result
	var recorder record.Recorder
	c, err := t.Replay(nil, func(c *capture.Capture) (ok bool, err error) {
		timed, ok, err = p.time(ctx, c, &recorder)
		return ok, err
	})
	switch {
	case ctx.Err() != nil:
		return result, ctx.Err(), true
	case err != nil:
		t.Restore()
		return nil, p.estimated(e, err), false
	}
	run := sampler.Emulated(timed, nil)
	run.Record = recorder.Record()
	p.journal.add(e, p.sampler.Launch(run))
	p.keep(e, c)
	return timed, nil, true
}

// estimated notes that advice on a kernel is not tried.
func (p *Program) estimated(e *Kernel, why error) error {
	if e.untried == nil {
		e.untried = why
	}
	return nil
}

// time runs a capture with timing and takes samples. ok says whether it leaves the memory that the launch did: with timing, or, as atomic
// operations then come in another order, without.
func (p *Program) time(ctx context.Context, c *capture.Capture, recorder *record.Recorder) (result *emu.Result, ok bool, err error) {
	s, err := targetOf(c).Session(ctx, p.machine.Timing, p.options.Run)
	if err != nil {
		return nil, false, err
	}
	*recorder = record.Recorder{}
	s.Recorder = recorder
	result, err = s.Run(ctx, 0, p.sampler)
	if ok, err = capture.Same(s, err, nil); ok || err != nil {
		return result, ok, err
	}
	ok, err = capture.Check(ctx, p.machine, nil)(c)
	return result, ok, err
}

// targetOf is what a capture runs.
func targetOf(c *capture.Capture) *gpa.Target {
	return &gpa.Target{File: c.File, Module: c.Module, GPU: c.Model}
}

// keep keeps the capture of a kernel's costliest launch. Where there is too much to keep, the kernel that takes least loses its own.
func (p *Program) keep(e *Kernel, c *capture.Capture) {
	l := p.journal.profile.Launches[len(p.journal.profile.Launches)-1]
	if e.kept != nil && e.kept.launch.Facts.Cycles >= l.Facts.Cycles || !p.options.Keep {
		return
	}
	e.kept = &replayed{c, l}
	var sum int64
	list := slices.DeleteFunc(slices.Collect(maps.Values(p.journal.kernels)), func(e *Kernel) bool { return e.kept == nil })
	slices.SortFunc(list, func(a, b *Kernel) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.number, b.number))
	})
	for _, x := range list {
		if sum += x.kept.capture.Bytes(); sum > mostKept {
			x.kept = nil
			p.estimated(x, errors.New("the memory of its costliest launch was not kept"))
		}
	}
}

// tryKernel tries advice on a launch. What goes wrong costs what was to be tried on it, and not the report on the program: a panic, which is a
// mistake in gpa, is an error here.
func (p *Program) tryKernel(ctx context.Context, o gpa.TryOptions, result *reports.Result, r *replayed) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("a mistake in gpa: %v", cause)
		}
	}()
	k := slices.Index(result.Profile.Launches, r.launch)
	if k < 0 {
		return nil
	}
	one := &reports.Result{Profile: &profiler.Profile{Modules: result.Profile.Modules, Launches: []*profiler.Launch{r.launch}},
		Launches: result.Launches[k : k+1]}
	attached, err := gpa.Attach(ctx, targetOf(r.capture), one, p.options.Run)
	if err != nil {
		return err
	}
	return attached.Try(ctx, o)
}

// Analyze blames and advises on the launches of the n kernels that take most of the time, and tries the advice where a says so. That of some kernels
// cannot be tried, of which the options' Run.Tell is told why. Without a launch that was profiled the result has none.
func (p *Program) Analyze(ctx context.Context, n int, a gpa.Analysis) (*gpa.Result, error) {
	defer p.forget()
	r := gpa.FromProfile(p.Profile(n), p.Sources())
	if len(r.Profile.Launches) == 0 {
		return r, nil
	}
	if err := r.Blame(a.Blame); err != nil {
		return nil, err
	}
	if a.Try == nil {
		return r, r.Advise(a.Advice)
	}
	try := *a.Try
	if p.triton != nil {
		try.Triton = try.Triton.With(p.triton)
	}
	for i, e := range p.journal.sorted() {
		if i == n || len(e.profiled) == 0 {
			break
		}
		if e.kept != nil {
			e.untried = nil
			if err := p.tryKernel(ctx, try, &r.Result, e.kept); err != nil && ctx.Err() == nil {
				e.untried = err
			}
		}
		if tell := p.options.Run.Tell; e.untried != nil && tell != nil {
			tell(fmt.Errorf("advice on %s is estimated, not tried: %w", e.Name(), e.untried))
		}
	}
	return r, r.Advise(gpa.AdviceOptions{All: a.Try.All})
}
