package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/launch"
	"gpa/emu/record"
	"gpa/profiler"
	"gpa/profiler/sampler"
	"gpa/reports"
)

// An execution is a launch file run from its first launch to its last, or to the first that faulted.
type execution struct {
	resolved *resolved
	profile  *profiler.Profile
	took     []time.Duration // host time of each launch
	clock    func() time.Duration
	checks   []launch.Check
	every    bool  // equal launches are run and kept each by itself
	index    []int // of the profile's launches, by run
	// partial says that an interrupt stopped the last launch; it is in the profile as far as it came.
	partial  bool
	early    error // why
	progress *progress
}

func newExecution(r *resolved) *execution {
	return &execution{resolved: r, clock: wallTime, profile: &profiler.Profile{Modules: []*cubin.File{r.module}}}
}

// sampled runs all launches of a kernel with the sampler's defaults.
func sampled(ctx context.Context, r *resolved, s *launch.Session, p *progress) (*execution, error) {
	o, err := sampler.New(sampler.Options{})
	if err != nil {
		return nil, err
	}
	x := newExecution(r)
	x.progress = p
	return x, x.all(ctx, s, o)
}

// wallTime is the time by the clock since some moment.
func wallTime() time.Duration { return time.Since(processStart) }

var processStart = time.Now()

// all runs every launch of the file and checks the outputs, unless a launch faulted. Without a sampler the launches
// have no samples.
func (x *execution) all(ctx context.Context, s *launch.Session, o *sampler.Sampler) error {
	defer x.progress.watch(newLaunchProgress(x.resolved, s.Machine.Progress()))()
	number := 0
	for i := range x.resolved.file.Launches {
		for range x.resolved.file.Launches[i].Repeat {
			number++
			end := x.progress.stage("launch %d of %d, %s", number, x.resolved.launches(), x.resolved.file.Launches[i].Kernel)
			faulted, err := x.one(ctx, s, i, o)
			end()
			if err != nil || faulted {
				return err
			}
		}
	}
	var err error
	x.checks, err = s.Check()
	return err
}

// one runs the i-th launch of the file once. A fault is part of the result, not an error. Where ctx ends, the error is
// ctx's, and the launch is in the profile as far as it came.
func (x *execution) one(ctx context.Context, s *launch.Session, i int, o *sampler.Sampler) (faulted bool, err error) {
	var observer emu.Observer
	if o != nil {
		observer = o
	}
	start := x.clock()
	if o != nil && !x.every {
		if run, ok := s.Again(i); ok && run < len(x.index) {
			again := *x.profile.Launches[x.index[run]]
			again.Facts.Repeats, again.Facts.Untimed = 0, 1
			x.append(&again, x.clock()-start)
			return false, nil
		}
	}
	var recorder record.Recorder
	s.Recorder = &recorder
	result, err := s.Run(ctx, i, observer)
	took := x.clock() - start
	var fault *emu.Fault
	if err != nil && !errors.As(err, &fault) {
		x.partial, x.early = ctx.Err() != nil && result != nil, ctx.Err()
		if !x.partial {
			return false, err
		}
	}
	run := profiledRun(result, fault)
	l := sampler.Unsampled(run)
	if o != nil {
		run.Record = recorder.Record()
		l = o.Launch(run)
	}
	if x.partial {
		l.Missing = append(l.Missing, "the rest of the launch, which was interrupted")
		x.append(l, took)
		return false, err
	}
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

// failed is the error of an execution that ended with a fault, with outputs other than expected, or with an interrupt.
func (x *execution) failed() error {
	if x.partial {
		n := 0
		for _, l := range x.profile.Launches {
			n += int(l.Facts.Count())
		}
		return failure{fmt.Errorf("%s in launch %d of %d; the result is of what ran until then", howEnded(x.early), n, x.resolved.launches())}
	}
	for _, l := range x.profile.Launches {
		if l.Fault != nil {
			return failure{fmt.Errorf("kernel %s: %s", l.Kernel, l.Fault.Kind)}
		}
	}
	wrong := 0
	for i := range x.checks {
		if !x.checks[i].OK() {
			wrong++
		}
	}
	if wrong > 0 {
		return failure{fmt.Errorf("%d of %d outputs are not as expected", wrong, len(x.checks))}
	}
	return nil
}

// result is what reports print. Host times make one run's bytes differ from the next, so files go without them.
func (x *execution) result(hostTimes bool) *reports.Result {
	r := &reports.Result{Profile: x.profile, Launches: make([]reports.LaunchResult, len(x.profile.Launches))}
	if hostTimes {
		for i, took := range x.took {
			r.Launches[i].Seconds = took.Seconds()
		}
	}
	for i := range x.checks {
		r.Checks = append(r.Checks, reportedCheck(&x.checks[i]))
	}
	return r
}

func reportedCheck(c *launch.Check) reports.Check {
	out := reports.Check{Buffer: c.Buffer, OK: c.OK(), Mismatches: c.Mismatches}
	if c.First != nil {
		first := reports.Mismatch(*c.First)
		out.First = &first
	}
	return out
}
