package convergence

import (
	"gpa/emu"
	"gpa/emu/activity"
	"gpa/emu/reconv"
)

// A watcher holds the tracers of a launch that only one of the rows needs.
type watcher struct {
	model    string
	branches *activity.Branches
	repeats  *activity.Repeats
}

// watcher makes the tracers of a row.
func (c *comparer) watcher(s *scheme, facts *kernelFacts) *watcher {
	w := &watcher{model: s.name}
	if s.name == c.watch {
		w.branches = activity.NewBranches(facts.branches)
	}
	if s.name == (reconv.PDOM{}).Name() && facts.copied != nil {
		w.repeats = activity.NewRepeats(facts.copied)
	}
	return w
}

// with puts the tracers beside another one.
func (w *watcher) with(m *activity.Meter) emu.Tracer {
	list := activity.Tracers{m}
	if w.branches != nil {
		list = append(list, w.branches)
	}
	if w.repeats != nil {
		list = append(list, w.repeats)
	}
	if len(list) == 1 {
		return m
	}
	return list
}

// result hands over what has been measured if the launch came to its end.
func (w *watcher) result(l *Launch, r *Run, facts *kernelFacts) {
	if r.Status != OK {
		return
	}
	if w.branches != nil {
		l.Activity = &Activity{Model: w.model, Branches: w.branches.Uses(), Scopes: facts.measure(w.branches)}
	}
	if w.repeats != nil {
		l.Repeated = w.repeats.Issued()
	}
}
