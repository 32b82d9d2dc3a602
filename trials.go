package gpa

import (
	"context"
	"reflect"
	"runtime"
	"slices"

	"gpa/advisor"
	"gpa/emu"
	"gpa/profiler"
)

// An outcome is what a trial has brought, and how many warp instructions it took.
type outcome struct {
	try      profiler.Try
	spent    int64
	err      error
	panicked any // see [trials.of]
}

// A making is a trial that is under way, or over when done is closed.
type making struct {
	change *advisor.Change
	done   chan struct{}
	outcome
}

// trials run beside each other, begun in the order in which advice is to be tried. Which of them run ahead of their turn changes no outcome; one whose
// turn does not come is given up. Pieces of advice whose change is the same have one trial.
type trials struct {
	*trial
	ctx    context.Context
	cancel context.CancelFunc
	k      int                         // the launch
	atOnce int                         // how many
	begun  map[*advisor.Advice]*making // whose turn has not come
	made   []*making
}

// mostAtOnce is how many trials run at a time, at most, where each has trialMemory: a trial keeps what blocks execute, and what becomes of them.
const (
	mostAtOnce  = 4
	trialMemory = 4 << 30 // bytes; the largest that was seen took 4.6 GB
)

// begin prepares trials of the k-th launch.
func (t *trial) begin(ctx context.Context, k int) *trials {
	x := &trials{trial: t, k: k, begun: make(map[*advisor.Advice]*making)}
	x.ctx, x.cancel = context.WithCancel(ctx)
	processors := t.options.Workers
	if processors == 0 {
		processors = runtime.GOMAXPROCS(0)
	}
	x.atOnce = min(processors, mostAtOnce, 1+int(min(mostAtOnce, emu.FreeMemory()/trialMemory)))
	t.workers = processors / x.atOnce
	return x
}

// end gives up what is still under way, and waits for it.
func (x *trials) end() {
	x.cancel()
	for _, m := range x.made {
		<-m.done
	}
}

// of is the outcome of the first of these pieces of advice; the next ones are begun meanwhile. A trial that panics does so here.
func (x *trials) of(next []*advisor.Advice, how string) outcome {
	a := next[0]
	defer x.options.stage("trying " + a.Optimizer + how)()
	x.ahead(next)
	m := x.begun[a]
	delete(x.begun, a)
	if m == nil {
		m = x.like(a)
	}
	if m == nil {
		return x.one(x.ctx, x.k, a)
	}
	<-m.done
	if m.panicked != nil {
		panic(m.panicked)
	}
	o := m.outcome
	o.try.Optimizer, o.try.Place = a.Optimizer, a.Place()
	return o
}

// ahead begins as many pieces of advice as there is room for. Those on several launches keep what they find, and wait for their turn.
func (x *trials) ahead(next []*advisor.Advice) {
	for _, a := range next {
		if _, begun := x.begun[a]; begun || a.Match.Change == nil || a.Match.Launches > 1 || x.like(a) != nil {
			continue
		}
		if len(x.begun) >= x.atOnce {
			return
		}
		m := &making{change: a.Match.Change, done: make(chan struct{})}
		x.begun[a] = m
		x.made = append(x.made, m)
		go func() {
			defer close(m.done)
			defer func() { m.panicked = recover() }()
			m.outcome = x.one(x.ctx, x.k, a)
		}()
	}
}

// like is the trial of another piece of advice with the same change, nil where there is none: optimizers that see the same by other signs. What is
// compiled with other parameters is compared where it is tried.
func (x *trials) like(a *advisor.Advice) *making {
	if c := a.Match.Change; c == nil || c.Compiles() || a.Match.Launches > 1 {
		return nil
	}
	i := slices.IndexFunc(x.made, func(m *making) bool { return reflect.DeepEqual(m.change, a.Match.Change) })
	if i < 0 {
		return nil
	}
	return x.made[i]
}
