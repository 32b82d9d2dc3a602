package gpa

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gpa/advisor"
	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/compile"
	"gpa/cubin/rewrite"
	"gpa/emu"
	"gpa/emu/launch"
	"gpa/emu/reconv"
	"gpa/profiler"
	"gpa/reports"
)

// TryOptions say which advice is tried.
type TryOptions struct {
	// First is how many pieces of advice on each kernel are tried, by their estimates, on whole launches. With 0 as many are as take six times the
	// instructions of all launches, up to a limit, and large launches are tried on a portion of the GPU that takes as long as the whole; what gains
	// most there is tried again on the whole unless that takes too long.
	First  int
	Weight int64           // of what the trials of a kernel time, where First is 0, at most: warp instructions and sectors; 0 for half a minute's worth
	All    bool            // see [AdviceOptions]
	Beside string          // see [AdviceOptions]; its advice is not tried
	Triton *compile.Triton // what compiles kernels of Triton's again for advice on their parameters, nil for nothing
}

// Try runs the costliest launch of each kernel again for one piece of advice after the other, with its change supposed in time only or, where it can
// be made, made: another shape of the launch, another order of the code, another re-convergence model; then the outputs must stay equal.
// What came out is noted in the profile, and all advice is ranked by it as [Result.Advise] does. Where ctx ends, what was tried until then
// counts.
func (r *Result) Try(ctx context.Context, o TryOptions) error {
	if err := r.Recall(ctx); err != nil {
		return err
	}
	t := trial{options: r.options, most: cmp.Or(o.Weight, mostTried), target: r.Target, before: r.session, result: &r.Result, beside: o.Beside, triton: o.Triton, fusions: make(map[int]int64)}
	for _, k := range r.Costliest() {
		t.alternatives(k)
	}
	if err := r.Advise(AdviceOptions{All: true, Beside: o.Beside}); err != nil {
		return err
	}
	if err := t.all(ctx, o.First); err != nil && ctx.Err() == nil {
		return err
	}
	return r.Advise(AdviceOptions{All: o.All, Beside: o.Beside})
}

// Attach makes a result of launches of a target that were profiled before or elsewhere, so that their advice can be tried: it runs the target without
// timing for its outputs. samples keeps what it has.
func Attach(ctx context.Context, t *Target, samples *reports.Result, o Options) (*Result, error) {
	r, err := t.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	r.Result = *samples
	return r, nil
}

// A trial runs launches again with the changes that the advice is about.
type trial struct {
	options Options
	target  *Target
	before  *launch.Session         // after all launches as they are
	behind  map[int]*launch.Session // after the launches as they are up to one of the file, by its number; before for the last
	first   *launch.Session         // of the what-if runs, which keeps how buffers begin; nil before
	result  *reports.Result
	beside  string                                   // kernel whose advice is not tried
	triton  *compile.Triton                          // see [TryOptions]
	builds  map[advisor.Compiled]compile.TritonBuild // of the launch that is tried, nil where nothing compiles it
	chains  []profiler.Chain                         // by joints, see joined
	fusions map[int]int64                            // cycles of these as one, by the first launch, as each of their kernels has the advice

	most          int64   // see [TryOptions.Weight]
	budget, spent int64   // warp instructions that the trials of a kernel may execute, 0 for any number, and have
	extra         int64   // and those of kernels that are compiled again, which may execute as many
	heavy         float64 // of a launch that takes long: sectors and instructions that are timed for each of them; else 0
	portion       portion
	starting      sync.Mutex // of first
	building      sync.Mutex // of builds
	comparing     sync.Mutex // of behind
	workers       int        // SMs that a trial advances at a time, 0 for as many as there are processors
}

// mostInstructions is how many times the instructions of the longest launch each launch of a trial may execute: without barriers a kernel
// may never end.
const mostInstructions = 4

// A trial costs about what the profile did. By default as many are made as take triesBudget times as many instructions as the launches
// of the profile, and as triesFloor allows to short ones, of which a second runs dozens.
const (
	triesBudget = 6
	triesFloor  = 12e6 // warp instructions
	// mostTried is how many warp instructions, and sectors that they ask of L1, they time at most: about half a minute's worth on one processor.
	mostTried = 1 << 28
	// untimedSpeed is how many times as many instructions and sectors are executed in a time as are timed.
	untimedSpeed = 2
	// mostCounted is how many times the instructions of the longest launch one trial counts at most: work that is divided among many threads
	// takes several times as many, and leaves time for the others all the same.
	mostCounted = 2
)

// all tries the first n pieces of advice on the costliest launch of each kernel, by their estimates, and notes in the profile what came
// out. With n 0 the budget decides.
func (t *trial) all(ctx context.Context, n int) error {
	for _, k := range t.result.Costliest() {
		l := t.result.Profile.Launches[k]
		if l.Kernel == t.beside {
			continue
		}
		t.spent, t.extra, t.budget, t.heavy, t.portion = 0, 0, 0, 0, portion{model: t.target.GPU, before: l.Facts.Cycles}
		if n == 0 {
			t.budget, t.heavy = t.allowance(l)
			if err := t.divide(ctx, k); err != nil {
				return err
			}
		}
		tried, err := t.launch(ctx, k, n)
		if err != nil {
			return err
		}
		if err := t.finals(ctx, k, tried); err != nil {
			return err
		}
	}
	return nil
}

// finals tries the changes that have gained most on a portion of the k-th launch again on the whole of it, until the first ones are those that
// gain most there: what a portion of the GPU shares of L2, DRAM and the last wave is not what the launch does, and the first pieces are those that
// are followed.
func (t *trial) finals(ctx context.Context, k int, tried []*advisor.Advice) error {
	if t.portion.part == nil || t.tooLong(t.result.Profile.Launches[k]) {
		return nil
	}
	const finalists, enough = 3, 4 // optimizers that have to be the first on the whole launch; tries after which no more are begun
	type final struct {
		*advisor.Advice
		try   *profiler.Try
		whole bool
	}
	l := t.result.Profile.Launches[k]
	t.budget, t.portion = 0, portion{model: t.target.GPU, before: l.Facts.Cycles}
	var listed []*final
	for i, a := range tried {
		try := &l.Tries[len(l.Tries)-len(tried)+i]
		if a.Match.Launches <= 1 && (&advisor.Advice{Match: a.Match, Tried: try.Speedup}).Worth() {
			listed = append(listed, &final{Advice: a, try: try})
		}
	}
	trials := t.begin(ctx, k)
	defer trials.end()
	for made := 0; made < enough; {
		slices.SortStableFunc(listed, func(x, y *final) int { return cmp.Compare(y.try.Speedup, x.try.Speedup) })
		var again []*final
		var pieces []*advisor.Advice
		first := make(map[string]bool)
		for _, f := range listed {
			if len(first) < finalists && !first[f.Optimizer] && !f.whole {
				again, pieces = append(again, f), append(pieces, f.Advice)
			}
			first[f.Optimizer] = true
		}
		if len(again) == 0 {
			break
		}
		for i, f := range again {
			o := trials.of(pieces[i:], " on the whole launch")
			if o.err != nil {
				return o.err
			}
			*f.try, f.whole = o.try, true
		}
		made += len(again)
	}
	return nil
}

// farSlower is how many times as long a launch may take with parameters that are tried within a budget, and tooSlow why one that takes longer has no
// speedup.
const (
	farSlower = 2
	tooSlow   = "it takes more than twice as long"
)

// outOfTime is why advice was not tried that could have been.
const outOfTime = "the time for what-if runs was used up (--try N)"

// launch tries the first n pieces of advice on the k-th launch, all for 0, and returns them in the order of the tries.
func (t *trial) launch(ctx context.Context, k, n int) ([]*advisor.Advice, error) {
	l := t.result.Profile.Launches[k]
	gains := make(map[string]bool) // optimizers of which a change does
	order := inTurn(t.result.Launches[k].Advice)
	if n = min(n, len(order)); n == 0 {
		n = len(order)
	}
	var compiled []*advisor.Advice
	order = slices.DeleteFunc(order[:n], func(a *advisor.Advice) bool {
		if a.Match.Change.Compiles() {
			compiled = append(compiled, a)
		}
		return a.Match.Change.Compiles()
	})
	trials := t.begin(ctx, k)
	defer trials.end()
	for i := range order {
		a := order[i]
		try := profiler.Try{Optimizer: a.Optimizer, Place: a.Place(), Why: outOfTime}
		if a.Match.Change == nil || t.budget == 0 || t.spent < t.budget {
			o := trials.of(order[i:], "")
			if o.err != nil {
				return nil, o.err
			}
			try = o.try
			t.spent += o.spent
		}
		l.Tries = append(l.Tries, try)
		tried := advisor.Advice{Match: a.Match, Tried: try.Speedup}
		if gains[a.Optimizer] = gains[a.Optimizer] || tried.Worth(); !gains[a.Optimizer] {
			nextVariant(order[i+1:], a)
		}
	}
	parameters, err := t.parameters(trials, compiled)
	return append(order, parameters...), err
}

// inTurn lists advice in the order in which it is tried: the best of each optimizer, then what else it has to say. Each of several ways to deal with
// the same stalls has its turn: which of them does most is what tries are to tell.
func inTurn(advice []advisor.Advice) (order []*advisor.Advice) {
	const little = 1.02
	sure := func(a *advisor.Advice) int {
		switch {
		case a.Diffuse:
			return 1
		case a.Speedup < little: // what may gain much, though one cannot say where to begin, goes before
			return 2
		}
		return 0
	}
	for i := range advice {
		order = append(order, &advice[i])
	}
	slices.SortStableFunc(order, func(x, y *advisor.Advice) int {
		return cmp.Or(cmp.Compare(sure(x), sure(y)), cmp.Compare(y.Speedup, x.Speedup))
	})
	var firsts, later []*advisor.Advice
	met := make(map[string]bool)
	for _, a := range order {
		if met[a.Optimizer] {
			later = append(later, a)
		} else {
			met[a.Optimizer] = true
			firsts = append(firsts, a)
		}
	}
	return append(firsts, later...)
}

// nextVariant moves another variant of a change that does not run or brings nothing before the changes of which less is estimated.
func nextVariant(order []*advisor.Advice, a *advisor.Advice) {
	if a.Match.Variant == "" {
		return
	}
	for i, b := range order {
		if b.Optimizer == a.Optimizer && b.Match.Variant != "" {
			at := max(0, slices.IndexFunc(order[:i], func(x *advisor.Advice) bool { return x.Speedup <= b.Speedup }))
			copy(order[at+1:i+1], order[at:i])
			order[at] = b
			return
		}
	}
}

// allowance is the number of warp instructions that the trials of a kernel may execute by default, and what each of them weighs where that is less than
// in proportion to the profile.
func (t *trial) allowance(l *profiler.Launch) (budget int64, heavy float64) {
	sum := int64(0)
	for _, l := range t.result.Profile.Launches {
		sum += timed(l) * l.Facts.Count()
	}
	budget = max(triesBudget*sum, triesFloor)
	weight := weigh(l) / float64(max(l.Facts.WarpInstructions, 1))
	if weight*float64(budget) > float64(t.most) && weigh(l) > float64(t.most)/16 {
		return int64(float64(t.most) / weight), weight
	}
	return budget, 0
}

// tooLong reports whether a launch takes too long to be tried whole.
func (t *trial) tooLong(l *profiler.Launch) bool { return t.heavy > 0 && weigh(l) > float64(t.most)/4 }

// weigh is what it takes to time a launch: warp instructions, and sectors that they ask of L1.
func weigh(l *profiler.Launch) float64 {
	sectors, _ := l.GlobalSectors()
	return float64(l.Facts.WarpInstructions + sectors)
}

// longest is the number of warp instructions of the longest launch. Those before the one that is tried run as well.
func (t *trial) longest() (most int64) {
	for _, l := range t.result.Profile.Launches {
		most = max(most, l.Facts.WarpInstructions)
	}
	return most
}

// timed is the number of warp instructions of a launch that took time to emulate.
func timed(l *profiler.Launch) int64 {
	if !l.Facts.Extrapolated {
		return l.Facts.WarpInstructions
	}
	return l.Facts.WarpInstructions * int64(l.Facts.TimedBlocks) / int64(max(1, l.Grid[0]*l.Grid[1]*l.Grid[2]))
}

// one tries a piece of advice on the k-th launch.
func (t *trial) one(ctx context.Context, k int, a *advisor.Advice) (o outcome) {
	o.try = profiler.Try{Optimizer: a.Optimizer, Place: a.Place()}
	switch {
	case a.Match.Change == nil:
		o.try.Why = "no what-if run can make this change"
	case real(a.Match.Change) && (t.before.Partial || t.heavy > 0 && t.longest() > t.most):
		o.try.Why = "to compare outputs, all of a large launch had to be executed (--whole-grid --try N)"
	case a.Match.Launches > 1:
		o.try.Speedup, o.spent, o.try.Why, o.err = t.fused(ctx, k, a.Match.Change)
	default:
		var took rerun
		took, o.try.Why, o.err = t.run(ctx, k, a.Match.Change)
		if o.spent = took.spent; took.cycles > 0 {
			o.try.Speedup = float64(t.portion.of(a.Match.Change)) / float64(took.cycles)
		}
	}
	return o
}

// session prepares an emulated GPU for a what-if run of a target, which has the launch file of the result, or one of its own. All of the first ones share the contents with
// which buffers begin until they write, so that these are made once.
func (t *trial) session(ctx context.Context, r *Target, o Options) (*launch.Session, error) {
	machine, err := r.machine(o.Level(), o)
	if err != nil {
		return nil, err
	}
	if r.File != t.target.File {
		return launch.NewSession(ctx, r.File, machine)
	}
	t.starting.Lock()
	defer t.starting.Unlock()
	if t.first != nil {
		return t.first.Like(ctx, machine)
	}
	s, err := launch.NewSession(ctx, r.File, machine)
	if err != nil {
		return nil, err
	}
	s.Keep()
	t.first = s
	return s, nil
}

// A rerun is what a launch took with a change.
type rerun struct {
	cycles       int64
	instructions int64 // of them, warp instructions
	spent        int64 // warp instructions, those included that were not timed
}

// pace is the cycles for an instruction.
func (r *rerun) pace() float64 { return float64(r.cycles) / float64(max(r.instructions, 1)) }

// real reports whether a change is made, and not only supposed: another shape of the launch, another order of the code.
func real(c *advisor.Change) bool {
	return len(passes(c)) > 0 || c.Model != "" || c.Grid != [3]int{} || c.Compiles() && c.Compiled.Constants != ""
}

// run returns what the k-th launch takes with a change, or why it does not run with it. A change that is real must leave the same outputs.
func (t *trial) run(ctx context.Context, k int, c *advisor.Change) (took rerun, why string, err error) {
	r := *t.target
	o := t.options
	o.Stdout, o.Progress, o.Workers = nil, nil, t.workers
	if c.Model != "" {
		o.Reconvergence = c.Model
	}
	for _, pass := range passes(c) {
		module, err := rewritten(r.Module, pass)
		switch {
		case err == nil && module != nil:
			r.Module = module
		case c.Reconverged: // the model of what the barriers do stands for them
			o.Reconvergence = reconv.TFStack{}.Name()
		default:
			return took, "the code cannot be rewritten in that way", nil
		}
	}
	r.GPU = t.portion.model
	o.MaxInstructions = mostInstructions*t.longest() + 1
	if c.Compiles() {
		if why, err := t.recompiled(ctx, &r, k, *c.Compiled); why != "" || err != nil {
			return took, why, err
		}
	}
	s, err := t.session(ctx, &r, o)
	if err != nil {
		return took, "", err
	}
	keeps := real(c)
	v := launch.Variation{WhatIf: whatIf(r.Module, c), Grid: c.Grid, Block: c.Block, Part: t.portion.with(keeps)}
	if t.portion.shortens(c) {
		if v.WhatIf.Streams == nil {
			v.WhatIf.Streams = new(emu.Streams)
		}
		v.WhatIf.Streams.Cut = t.portion.cut
	}
	if c.Compiles() && t.budget > 0 { // of many parameters, what is far slower is not timed to its end
		v.MaxCycles = farSlower * t.portion.of(c)
	}
	result, fails, err := t.replay(ctx, s, t.launchOf(k), v, keeps && c.Compiles())
	if result != nil {
		took.cycles, took.instructions = result.Cycles, result.WarpInstructions
	}
	took.spent = min(s.Machine.Progress().WarpInstructions(), mostCounted*t.longest())
	if t.heavy > 0 {
		took.spent = took.instructions + max(took.spent-took.instructions, 0)/int64(untimedSpeed*t.heavy)
	}
	equal := true
	if err == nil && fails == nil && keeps && !c.Compiles() {
		equal, err = t.equal(ctx, s, t.launchOf(k))
	}
	switch {
	case err != nil:
		return took, "", err
	case c.Grid != [3]int{} && (fails != nil || !equal):
		why = "the code relies on the size of its blocks, and has to change with it"
	case errors.Is(fails, emu.ErrTooManyCycles):
		why = tooSlow
	case isLimit(fails):
		why = fmt.Sprintf("it takes more than %d times the instructions", mostInstructions)
	case fails != nil && c.Streams != nil:
		why = advisor.DoesNotFit + ": " + fails.Error()
	case fails != nil:
		why = "the kernel does not run with it: " + fails.Error()
	case keeps && c.Compiles() && !t.rounded(s, k):
		why = "the outputs change with it"
	case !equal:
		why = "the outputs change with it"
	}
	if why != "" {
		took.cycles = 0
	}
	return took, why, nil
}

// isLimit reports whether a launch has failed as it executes too many instructions.
func isLimit(err error) bool {
	var f *emu.Fault
	return errors.As(err, &f) && f.Kind == emu.InstructionLimit
}

// launchOf is the number of the first of the k-th launches of the result, of all launches of the file one after the other.
func (t *trial) launchOf(k int) (first int) {
	for _, l := range t.result.Profile.Launches[:k] {
		first += int(l.Facts.Count())
	}
	return first
}

// replay runs the launches up to one of the file, which is varied, or to the end. fails is why one does not run.
func (t *trial) replay(ctx context.Context, s *launch.Session, n int, v launch.Variation, toEnd bool) (varied *emu.Result, fails, err error) {
	at := 0
	for i := range t.target.File.Launches {
		for range t.target.File.Launches[i].Repeat {
			how := launch.Variation{Untimed: t.target.File.Caches != launch.Warm}
			if at == n {
				how = v
			}
			result, err := s.Vary(ctx, i, how)
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			if err != nil {
				return nil, err, nil // a fault, or a shape that the kernel does not allow
			}
			if at == n {
				varied = result
			}
			if at == n && !toEnd {
				return varied, nil, nil
			}
			at++
		}
	}
	return varied, nil, nil
}

// equal reports whether a session's outputs after the n-th launch are those of the launches as they are: what later ones store may hide what this one
// left out.
func (t *trial) equal(ctx context.Context, s *launch.Session, n int) (bool, error) {
	as, err := t.after(ctx, n)
	if err != nil {
		return false, err
	}
	checks, err := s.Against(as, nil)
	return err == nil && !slices.ContainsFunc(checks, func(c launch.Check) bool { return !c.OK() }), nil
}

// after is the session after the launches as they are up to the n-th.
func (t *trial) after(ctx context.Context, n int) (*launch.Session, error) {
	last := -1
	for i := range t.target.File.Launches {
		last += t.target.File.Launches[i].Repeat
	}
	if n == last {
		return t.before, nil
	}
	t.comparing.Lock()
	defer t.comparing.Unlock()
	if s := t.behind[n]; s != nil {
		return s, nil
	}
	o := t.options
	o.Stdout, o.Progress = nil, nil
	s, err := t.session(ctx, t.target, o)
	if err != nil {
		return nil, err
	}
	_, fails, err := t.replay(ctx, s, n, launch.Variation{Untimed: true}, false)
	if err = cmp.Or(err, fails); err != nil {
		return nil, err
	}
	if t.behind == nil {
		t.behind = make(map[int]*launch.Session)
	}
	t.behind[n] = s
	return s, nil
}

// passes returns how a change rewrites the code.
func passes(c *advisor.Change) []func(*cubin.File) (*rewrite.Rewritten, error) {
	var list []func(*cubin.File) (*rewrite.Rewritten, error)
	if c.Restructured {
		list = append(list, rewrite.Restructure)
	}
	if c.Reconverged && c.Model == "" {
		list = append(list, rewrite.Reconverge)
	}
	if c.Reordered {
		list = append(list, rewrite.Reorder)
	}
	return list
}

// rewritten is a module after a pass, nil where the pass changes no function.
func rewritten(m *cubin.File, pass func(*cubin.File) (*rewrite.Rewritten, error)) (*cubin.File, error) {
	r, err := pass(m)
	if err != nil || !slices.ContainsFunc(r.Changes, func(c rewrite.Change) bool { return c.Err == nil }) {
		return nil, err
	}
	return r.File, nil
}

// whatIf translates a change for the emulator.
func whatIf(m *cubin.File, c *advisor.Change) *emu.WhatIf {
	w := &emu.WhatIf{Suppositions: map[emu.InstAt]emu.Supposition{}, Rounds: map[emu.InstAt]float64{}, Earlier: map[emu.InstAt]int{}, Thinned: map[emu.InstAt]float64{}, PerfectFetch: c.PerfectFetch, Resident: c.Resident,
		Registers: c.Registers, Shared: c.Shared, Streams: streams(m, c.Streams)}
	at := func(n blamer.Node) emu.InstAt { return emu.InstAt{Code: n.Code, PC: m.Codes[n.Code].Insts[n.Inst].PC} }
	for _, part := range []struct {
		nodes    []blamer.Node
		supposed emu.Supposition
	}{
		{c.Gone, emu.Gone}, {c.Cheap, emu.Cheap}, {c.Coalesced, emu.Coalesced}, {c.ConflictFree, emu.ConflictFree},
		{c.Constant, emu.Constant}, {c.Outstanding, emu.Outstanding}, {c.Packed, emu.Packed}, {c.Unplaced, emu.Unplaced},
	} {
		for _, n := range part.nodes {
			w.Suppositions[at(n)] |= part.supposed
		}
	}
	for _, o := range c.Thinned {
		w.Thinned[at(o.At)] = o.By
	}
	for _, o := range c.Earlier {
		w.Earlier[at(o.At)] = o.Rounds
	}
	for _, o := range c.Overlapped {
		w.Rounds[at(o.At)] = o.Rounds
	}
	return w
}
