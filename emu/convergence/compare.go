// Package convergence runs launches under every re-convergence model, one after the other on the same code, and compares
// how well they use the lanes of warps. Begin with [Compare].
package convergence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"gpa/cubin"
	"gpa/cubin/branch"
	"gpa/emu"
	"gpa/emu/activity"
	"gpa/emu/arch"
	"gpa/emu/launch"
	"gpa/emu/reconv"
)

// Names of the rows that are no model of their own.
const (
	Struct = "struct" // PDOM on code that has been restructured (Wu et al.)
	Bound  = "bound"  // what no schedule of the same threads goes below
	// Placed is the hardware's model on code with convergence barriers at the joins of thread frontiers, where
	// gpa rewrite --reconverge tf places them. It is a row only where [Options] name it.
	Placed = "volta-tf"
)

// Names lists the rows of a comparison that does not name any.
func Names() []string {
	var list []string
	for _, m := range reconv.Models() {
		if m.Name() == (reconv.MIMD{}).Name() {
			list = append(list, Struct, Bound)
		} else {
			list = append(list, m.Name())
		}
	}
	return list
}

// Options say what to compare. The zero value compares all models without timing.
type Options struct {
	Models          []string        // rows, of [Names] or Placed; none for all of Names
	Timing          emu.TimingLevel // none: no cycles
	MaxInstructions int64           // warp instructions of a launch, 0 for no limit
	Stdout          io.Writer       // of device-side printf, once
	HostMemory      func() int64    // see [emu.Options]
	Activity        string          // model under which branches are watched, empty for the hardware's
	Rules           []branch.Rule   // types of branches
}

// Status says how a launch ended under a model.
type Status string

// The ways in which a launch ends.
const (
	OK          Status = "ok"
	Deadlock    Status = "deadlock"    // lanes wait at a barrier for others that the model holds back
	Livelock    Status = "livelock"    // lanes wait in a loop for others that the model holds back
	Faulted     Status = "fault"       // stopped for another reason
	Unsupported Status = "unsupported" // the model cannot be applied to the code
)

// A Run is what one launch did under one model.
type Run struct {
	Model  string
	Status Status
	Fault  string // why the status is not OK
	activity.Activity
	MaxStack     int   // most groups of lanes that a warp kept track of at a time
	Forced       int64 // convergence barriers that ended although lanes were missing: these wait, or have yielded
	Cycles       int64 // 0 without timing
	OutputsEqual bool  // after the launch the buffers hold what they hold under the hardware's model
	// Bound says that only warp and thread instructions are known: the row is a count and no schedule.
	Bound bool
}

// A Launch is a launch of a file under all models; repetitions are added up.
type Launch struct {
	Kernel   *cubin.Kernel
	Times    int // repetitions
	Runs     []Run
	Frontier Frontier
	Structure
	// Activity is nil where the model to watch branches under cannot run the launch.
	Activity *Activity
	// Repeated are PDOM's warp instructions that divergent warps issue in blocks that the transformation duplicates, in
	// loops that it cuts, and in called functions.
	Repeated int64
}

// DynamicExpansion is the part of PDOM's warp instructions that earlier re-convergence, at thread frontiers, does not
// issue again. ok is false where one of the two has no count.
func (l *Launch) DynamicExpansion() (share float64, ok bool) {
	pdom, frontiers := l.Run((reconv.PDOM{}).Name()), l.Run((reconv.TFStack{}).Name())
	if pdom == nil || frontiers == nil || pdom.Status != OK || frontiers.Status != OK {
		return 0, false
	}
	return 1 - float64(frontiers.WarpInstructions)/float64(pdom.WarpInstructions), true
}

// ExpansionLimit is the upper limit of dynamic code expansion of Wu et al., Table 3, as a part of PDOM's warp instructions:
// what divergent warps issue of blocks that copies duplicate. The paper knows of no duplicates in loops with a Cut; here
// all of such a loop counts, as lanes that leave it early may wait for every iteration, and all of called functions, as lanes may
// come there by several calls. ok is false where PDOM cannot run the launch or the
// code cannot be made structured.
func (l *Launch) ExpansionLimit() (share float64, ok bool) {
	pdom := l.Run((reconv.PDOM{}).Name())
	if pdom == nil || pdom.Status != OK || l.Structure.Endless {
		return 0, false
	}
	return float64(l.Repeated) / float64(pdom.WarpInstructions), true
}

// Run returns the row of a model, nil where there is none.
func (l *Launch) Run(model string) *Run {
	if i := slices.IndexFunc(l.Runs, func(r Run) bool { return r.Model == model }); i >= 0 {
		return &l.Runs[i]
	}
	return nil
}

// A comparer compares the launches of a file.
type comparer struct {
	file    *launch.File
	gpu     *arch.Model
	options Options
	static  *analysis
	rows    []*scheme
	first   *launch.Session // whose initial contents the others share
	watch   string          // row whose branches are watched
}

// A scheme is a model with the code that it runs and the memory that the launches so far have left.
type scheme struct {
	name    string
	model   reconv.Model
	untimed *launch.Session
	timed   *launch.Session // nil without timing
	stopped Status          // the reason why nothing runs any more, empty while all is well
	why     string
}

// Compare runs the launches of a file, in order, under every model. A model that cannot run a launch, or not to its end,
// has a row that says why. The error says that the launch file or the hardware's own model failed, or that ctx ended; then the
// last launch has the rows that were there before.
func Compare(ctx context.Context, file *launch.File, module *cubin.File, gpu *arch.Model, o Options) ([]Launch, error) {
	c := &comparer{file: file, gpu: gpu, options: o, watch: cmp.Or(o.Activity, (reconv.Volta{}).Name())}
	var err error
	if c.static, err = analyse(module, o.Rules); err != nil {
		return nil, err
	}
	for _, name := range o.rows() {
		s, err := c.scheme(ctx, name, module)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.rows = append(c.rows, s)
	}
	var list []Launch
	for i := range file.Launches {
		l, err := c.launch(ctx, i)
		if err == nil || ctx.Err() != nil && l != nil && len(l.Runs) > 0 {
			list = append(list, *l)
		}
		if err != nil {
			return list, err
		}
	}
	return list, nil
}

// rows lists the rows in order. The hardware's model is always one.
func (o *Options) rows() []string {
	if len(o.Models) == 0 {
		return Names()
	}
	var list []string
	for _, name := range append(Names(), Placed) {
		if name == (reconv.Volta{}).Name() || slices.Contains(o.Models, name) {
			list = append(list, name)
		}
	}
	return list
}

// scheme makes a row ready.
func (c *comparer) scheme(ctx context.Context, name string, module *cubin.File) (*scheme, error) {
	s := &scheme{name: name}
	switch name {
	case Struct:
		s.model = reconv.PDOM{}
		if c.static.rewritten != nil {
			module = c.static.rewritten.File
		}
	case Placed:
		s.model = reconv.Volta{}
		if c.static.place(); c.static.placed != nil {
			module = c.static.placed.File
		}
	case Bound:
		s.model = reconv.MIMD{}
	default:
		var err error
		if s.model, err = reconv.ByName(name); err != nil {
			return nil, err
		}
	}
	var err error
	if s.untimed, err = c.session(ctx, s, module, emu.TimingNone); err != nil || c.options.Timing == emu.TimingNone || name == Bound {
		return s, err
	}
	s.timed, err = c.session(ctx, s, module, c.options.Timing)
	return s, err
}

func (c *comparer) session(ctx context.Context, s *scheme, module *cubin.File, level emu.TimingLevel) (*launch.Session, error) {
	o := emu.Options{Timing: level, MaxInstructions: c.options.MaxInstructions, Heap: c.file.Heap, Reconvergence: s.model, HostMemory: c.options.HostMemory}
	if s.name == (reconv.Volta{}).Name() && level == emu.TimingNone {
		o.Stdout = c.options.Stdout
	}
	machine, err := emu.New(c.gpu, module, o)
	if err != nil {
		return nil, err
	}
	if c.first != nil {
		return c.first.Like(ctx, machine)
	}
	if c.first, err = launch.NewSession(ctx, c.file, machine); err == nil {
		c.first.Keep()
	}
	return c.first, err
}

// launch runs the i-th launch of the file under every model. With an error of a model come the rows of those before.
func (c *comparer) launch(ctx context.Context, i int) (*Launch, error) {
	l := &Launch{Times: c.file.Launches[i].Repeat}
	at, err := c.rows[0].untimed.Launch(i)
	if err != nil {
		return nil, err
	}
	l.Kernel = at.Kernel
	facts, err := c.static.of(at.Kernel)
	if err != nil {
		return nil, err
	}
	l.Frontier, l.Structure = facts.frontier, facts.structure
	var after *emu.State // under the hardware's model
	for _, s := range c.rows {
		if same := l.Run((reconv.PDOM{}).Name()); s.name == Struct && c.static.rewritten == nil && same != nil && l.Structure.Err == "" {
			r := *same // the same code
			r.Model = Struct
			l.Runs = append(l.Runs, r)
			continue
		}
		if why := facts.refusal(s.name); s.stopped == "" && why != "" {
			s.stopped, s.why = Unsupported, why
		}
		w := c.watcher(s, facts)
		r, err := c.run(ctx, s, i, w)
		if err != nil {
			return l, err
		}
		l.Runs = append(l.Runs, *r)
		w.result(l, r, facts)
		if after == nil {
			after = s.untimed.Machine.Contents()
		}
		s.merge(after)
	}
	return l, nil
}

// merge shares with the memory of another row what the two have in common.
func (s *scheme) merge(with *emu.State) {
	s.untimed.Machine.Merge(with)
	if s.timed != nil {
		s.timed.Machine.Merge(with)
	}
}

// run runs a launch under one model.
func (c *comparer) run(ctx context.Context, s *scheme, i int, w *watcher) (*Run, error) {
	r := &Run{Model: s.name, Status: OK, Bound: s.name == Bound}
	for range c.file.Launches[i].Repeat {
		if s.stopped != "" {
			break
		}
		if err := s.once(ctx, i, r, w); err != nil {
			return nil, err
		}
	}
	if s.stopped != "" {
		r.Status, r.Fault = s.stopped, s.why
		return r, nil
	}
	first := c.rows[0].untimed
	if first == s.untimed {
		r.OutputsEqual = true
		return r, nil
	}
	checks, err := s.untimed.Against(first, nil)
	r.OutputsEqual = !slices.ContainsFunc(checks, func(x launch.Check) bool { return !x.OK() })
	return r, err
}

// once runs a launch once, without timing and with it.
func (s *scheme) once(ctx context.Context, i int, r *Run, w *watcher) error {
	var m activity.Meter
	result, err := s.untimed.Trace(ctx, i, w.with(&m))
	if err := s.ended(ctx, err); err != nil {
		return err
	}
	if result != nil {
		r.MaxStack = max(r.MaxStack, result.Reconvergence.Entries)
		r.Forced += result.Reconvergence.Forced
		a := m.Activity()
		if r.Bound {
			stats := &result.Reconvergence
			a = activity.Activity{WarpInstructions: stats.Bound, ThreadInstructions: a.ThreadInstructions,
				BarrierWarpInstructions: stats.BoundBarrier, BarrierThreadInstructions: a.BarrierThreadInstructions}
			r.MaxStack = 0
		}
		r.Activity.Add(a)
	}
	if s.timed == nil || s.stopped != "" {
		return nil
	}
	result, err = s.timed.Run(ctx, i, nil)
	if result != nil {
		r.Cycles += result.Cycles
	}
	return s.ended(ctx, err)
}

// ended takes note of how a launch ended. The error is one of the launch file, of the hardware's own model, or of ctx.
func (s *scheme) ended(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	var fault *emu.Fault
	switch {
	case !errors.As(err, &fault):
		if s.name == (reconv.Volta{}).Name() {
			return err
		}
		s.stopped = Unsupported
	case fault.Kind == emu.BarrierDeadlock:
		s.stopped = Deadlock
	case fault.Kind == emu.Livelock:
		s.stopped = Livelock
	default:
		s.stopped = Faulted
	}
	s.why = err.Error()
	return nil
}
