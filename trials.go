package gpa

import (
	"context"
	"runtime"

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

// trials run beside each other, begun in the order in which advice is to be tried. Which of them run ahead of their turn changes no outcome; one whose
// turn does not come is given up.
type trials struct {
	*trial
	ctx    context.Context
	cancel context.CancelFunc
	k      int // the launch
	atOnce int // how many
	begun  map[*advisor.Advice]<-chan outcome
}

// mostAtOnce is how many trials run at a time, at most, where each has trialMemory: a trial keeps what blocks execute, and what becomes of them.
const (
	mostAtOnce  = 4
	trialMemory = 4 << 30 // bytes; the largest that was seen took 4.6 GB
)

// begin prepares trials of the k-th launch.
func (t *trial) begin(ctx context.Context, k int) *trials {
	x := &trials{trial: t, k: k, begun: make(map[*advisor.Advice]<-chan outcome)}
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
	for _, done := range x.begun {
		<-done
	}
}

// of is the outcome of the first of these pieces of advice; the next ones are begun meanwhile. A trial that panics does so here.
func (x *trials) of(next []*advisor.Advice, how string) outcome {
	a := next[0]
	defer x.options.stage("trying " + a.Optimizer + how)()
	x.ahead(next)
	done, begun := x.begun[a]
	if !begun {
		return x.one(x.ctx, x.k, a)
	}
	delete(x.begun, a)
	o := <-done
	if o.panicked != nil {
		panic(o.panicked)
	}
	return o
}

// ahead begins as many pieces of advice as there is room for. Those on several launches keep what they find, and wait for their turn.
func (x *trials) ahead(next []*advisor.Advice) {
	for _, a := range next {
		if _, begun := x.begun[a]; begun || a.Match.Change == nil || a.Match.Launches > 1 {
			continue
		}
		if len(x.begun) >= x.atOnce {
			return
		}
		done := make(chan outcome, 1)
		x.begun[a] = done
		go func() {
			var o outcome
			defer func() {
				o.panicked = recover()
				done <- o
			}()
			o = x.one(x.ctx, x.k, a)
		}()
	}
}
