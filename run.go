package gpa

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/launch"
	"gpa/emu/record"
	"gpa/profiler"
	"gpa/profiler/sampler"
	"gpa/reports"
)

// A Result is what is known of the launches of a target: their profile, and what was made of it. Package reports prints its Result.
type Result struct {
	reports.Result
	Target  *Target        // nil of samples that were read from a file
	Sources Sources        // of the kernels
	Outputs []launch.Check // what the launch file expects, and how it came out; none where a launch faulted
	// Stopped is the error of the context that ended during the last launch of the profile, which is there as far as it came; nil where none did.
	Stopped error

	options Options
	session *launch.Session // after all launches; nil of samples that were read from a file or a store
	partial bool            // of the session of samples from a store, see [launch.Session.Partial]
}

// Run runs the launches of a target without timing, up to the first that faults, and compares what they leave with what the launch file
// expects. See [Result.Failure] for how that came out. Where ctx ends during a launch, the result is of what ran until then, and the error
// is ctx's.
func (t *Target) Run(ctx context.Context, o Options) (*Result, error) {
	return t.execute(ctx, o, emu.TimingNone, nil)
}

// Profile runs the launches of a target as [Target.Run] does, with timing, and takes samples. Launches in a row that are equal in every figure
// are one of the profile; one that must do again what an earlier one did is not run (see [profiler.Facts]). Where o.Keep names a store that has the samples, they
// are taken from there.
func (t *Target) Profile(ctx context.Context, o Options) (*Result, error) {
	if o.Keep.Store != nil {
		return t.sampled(ctx, o)
	}
	return t.profile(ctx, o)
}

func (t *Target) profile(ctx context.Context, o Options) (*Result, error) {
	s, err := sampler.New(sampler.Options{Period: o.Period, Seed: o.Seed})
	if err != nil {
		return nil, err
	}
	return t.execute(ctx, o, o.Level(), s)
}

// execute runs the launches at a level of timing. Without a sampler they have no samples.
func (t *Target) execute(ctx context.Context, o Options, level emu.TimingLevel, samples *sampler.Sampler) (*Result, error) {
	session, err := t.Session(ctx, level, o)
	if err != nil {
		return nil, err
	}
	session.Dispensable = o.Dispensable
	x := newExecution(t, session, o)
	ctx, x.limit = limitCycles(ctx, o.MaxCycles)
	defer x.limit.end()
	if err := x.all(ctx, samples); err != nil {
		if x.stopped == nil {
			return nil, err
		}
		return x.result(), err
	}
	return x.result(), nil
}

// An execution is a launch file run from its first launch to its last, or to the first that faulted.
type execution struct {
	target  *Target
	session *launch.Session
	options Options
	profile *profiler.Profile
	took    []time.Duration // host time of each launch
	checks  []launch.Check
	every   bool        // equal launches are run and kept each by itself
	index   []int       // of the profile's launches, by run
	stopped error       // see Result
	limit   *cycleLimit // nil for none
	trail   record.Trail
	last    int // launch of the file that was run last, -1 for none
}

func newExecution(t *Target, s *launch.Session, o Options) *execution {
	return &execution{target: t, session: s, options: o, last: -1, profile: &profiler.Profile{Modules: []*cubin.File{t.Module}}}
}

// all runs every launch of the file and checks the outputs, unless a launch faulted.
func (x *execution) all(ctx context.Context, o *sampler.Sampler) error {
	if p := x.options.Progress; p != nil {
		defer p.Running(x.target, x.session.Machine.Progress())()
	}
	number := 0
	for i := range x.target.File.Launches {
		l := &x.target.File.Launches[i]
		for range l.Repeat {
			number++
			end := x.options.stage(fmt.Sprintf("launch %d of %d, %s", number, x.target.Launches(), l.Kernel))
			faulted, err := x.one(ctx, i, o)
			end()
			if err != nil || faulted {
				return err
			}
		}
	}
	var err error
	x.checks, err = x.session.Check()
	x.profile.Precise = slices.ContainsFunc(x.checks, func(c launch.Check) bool { return c.Precise })
	return err
}

// one runs the i-th launch of the file once. A fault is part of the result, not an error. Where ctx ends, the error is
// ctx's, and the launch is in the profile as far as it came.
func (x *execution) one(ctx context.Context, i int, o *sampler.Sampler) (faulted bool, err error) {
	var observer emu.Observer
	if o != nil {
		observer = x.limit.observe(o)
	}
	again := i == x.last || x.last >= 0 && x.session.Same(i, x.last) // launches are repeated to be timed, not as steps that could be one
	if x.last = i; again {
		x.trail.Cut()
	}
	start := time.Now()
	if o != nil && !x.every {
		if run, ok := x.session.Again(i); ok && run < len(x.index) {
			again := *x.profile.Launches[x.index[run]]
			again.Facts.Repeats, again.Facts.Untimed = 0, 1
			x.append(&again, time.Since(start))
			return false, nil
		}
	}
	var recorder record.Recorder
	if !again && len(x.target.File.Launches) > 1 {
		recorder.Trail = &x.trail
	}
	x.session.Recorder = &recorder
	result, err := x.session.Run(ctx, i, observer)
	took := time.Since(start)
	var fault *emu.Fault
	if err != nil && !errors.As(err, &fault) {
		if ctx.Err() == nil || result == nil {
			return false, err
		}
		x.stopped = ctx.Err()
	}
	run := sampler.Emulated(result, fault)
	l := sampler.Unsampled(run)
	if o != nil {
		run.Record = recorder.Record()
		l = o.Launch(run)
		l.Inherits = recorder.Inherits()
	}
	if x.stopped != nil {
		l.Missing = append(l.Missing, "the rest of the launch, which was interrupted")
		x.append(l, took)
		return false, err
	}
	x.limit.passed(l.Facts.Cycles)
	x.append(l, took)
	x.index = append(x.index, len(x.profile.Launches)-1)
	return fault != nil, nil
}

// append adds a launch to the profile, or counts it with the one before where that is equal.
func (x *execution) append(l *profiler.Launch, took time.Duration) {
	if last := len(x.profile.Launches) - 1; last >= 0 && !x.every && len(l.Samples) > 0 {
		before := x.profile.Launches[last]
		same := *before
		same.Facts.Repeats, same.Facts.Untimed = 0, l.Facts.Untimed
		if reflect.DeepEqual(&same, l) {
			before.Facts.Repeats++
			before.Facts.Untimed += l.Facts.Untimed
			x.took[last] += took
			return
		}
	}
	x.profile.Launches, x.took = append(x.profile.Launches, l), append(x.took, took)
}

// result is what is known so far.
func (x *execution) result() *Result {
	r := &Result{Target: x.target, Sources: x.target.Sources, Stopped: x.stopped, options: x.options, session: x.session, Outputs: x.checks}
	r.Profile, r.Launches = x.profile, make([]reports.LaunchResult, len(x.profile.Launches))
	for i, took := range x.took {
		r.Launches[i].Seconds = took.Seconds()
	}
	for i := range x.checks {
		c := &x.checks[i]
		out := reports.Check{Buffer: c.Buffer, OK: c.OK(), Mismatches: c.Mismatches}
		if c.First != nil {
			first := reports.Mismatch(*c.First)
			out.First = &first
		}
		r.Checks = append(r.Checks, out)
	}
	return r
}

// A StoppedError is of launches that a context stopped.
type StoppedError struct {
	Launch, Launches int   // which one was stopped, counted from 1, of how many
	Cause            error // the context's
}

// Error says in which launch.
func (e *StoppedError) Error() string {
	return fmt.Sprintf("launch %d of %d: %v; the result is of what ran until then", e.Launch, e.Launches, e.Cause)
}

// Unwrap returns the context's error.
func (e *StoppedError) Unwrap() error { return e.Cause }

// A FailureError is of a kernel that faulted, or that left something else than the launch file expects.
type FailureError struct{ text string }

// Error says which kernel or how many outputs.
func (e *FailureError) Error() string { return e.text }

// Failure is nil where all launches ran to their end and left what the launch file expects. Else it is a [*StoppedError] or a [*FailureError]; the
// launches and Outputs have the details.
func (r *Result) Failure() error {
	if r.Stopped != nil {
		n := 0
		for _, l := range r.Profile.Launches {
			n += int(l.Facts.Count())
		}
		return &StoppedError{n, r.Target.Launches(), r.Stopped}
	}
	for _, l := range r.Profile.Launches {
		if l.Fault != nil {
			return &FailureError{fmt.Sprintf("kernel %s: %s", l.Kernel, l.Fault.Kind)}
		}
	}
	wrong := 0
	for i := range r.Checks {
		if !r.Checks[i].OK {
			wrong++
		}
	}
	if wrong > 0 {
		return &FailureError{fmt.Sprintf("%d of %d outputs are not as expected", wrong, len(r.Checks))}
	}
	return nil
}

// Session is the emulated GPU with the buffers as the launches have left them, nil of samples that were read from a file.
func (r *Result) Session() *launch.Session { return r.session }

// Output returns what a buffer or a module variable holds after the launches, as an .npy file.
func (r *Result) Output(name string) ([]byte, error) {
	if r.session == nil {
		return nil, ErrNotRun
	}
	return r.session.Save(name)
}

// ErrNotRun is the error of what needs the memory of a target that was run here, asked of samples that were read from a file.
var ErrNotRun = errors.New("the result is of samples that were read from a file: its target did not run")
