package emu

import (
	"context"
	"errors"
	"io"
	"math"
)

// A launch too long to time whole takes effect without timing, and then portions of it are timed from the memory that it began with:
// a sixteenth of its blocks on a sixteenth of the GPU, an eighth on an eighth, and so on until two in a row come to the same cycles or
// the instructions that may be timed are spent. What a portion executes beside its share of the launch corrects its cycles, and in
// a portion of many waves timing ends when they are steady.
//
// Blocks share more than a part of the GPU has: touches.go notes which lines other blocks use, and package mem makes a portion pay its
// part of those.

const (
	// largeLaunch is the number of warp instructions, each sector that a warp asks of L1 counted as another one, from which on a
	// launch is timed in portions.
	largeLaunch = DefaultExtrapolation
	// scouted is the number of blocks, all over the grid, by which a launch is judged before it runs, and scoutLimit how many warp
	// instructions they may execute: one that is small by them is timed whole at once.
	scouted    = 8
	scoutLimit = 1 << 20
	// Portions are of so many parts of the GPU first and last, and have so many SMs at least.
	mostParts  = 16
	leastParts = 2
	leastSMs   = 4
	// agreed is by which part the cycles of two portions in a row may differ for the larger to stand for the launch.
	agreed = 0.02
	// spare is how many times its share of the instructions a portion may execute.
	spare = 4
)

// errSmall says that a launch is timed whole after all.
var errSmall = errors.New("too small for portions")

// shortens reports whether portions of a launch may stand for it: its blocks neither wait for each other nor leave anything behind
// outside of memory, as what the device runtime prints or allocates.
func (m *Machine) shortens(l *Launch) bool {
	return m.options.Extrapolation.Portions && m.separable(l) && m.gpu.SMs.Int() >= leastSMs*leastParts && l.blocks() >= m.gpu.SMs.Int()
}

// separable reports whether what a launch takes can be told from a part of it, and its effect be had without timing: its blocks neither wait for
// each other nor leave anything behind outside of memory, as what the device runtime prints or allocates.
func (m *Machine) separable(l *Launch) bool {
	if m.options.Timing == TimingNone || l.Untimed || l.Part != nil || l.WhatIf != nil || l.Cooperative || l.clusterBlocks() > 1 || l.WarmCaches {
		return false
	}
	for i := range m.module.Relocs {
		if e := m.module.Relocs[i].Target.Extern; e != "" && e != "__assertfail" {
			return false
		}
	}
	return true
}

func (l *Launch) blocks() int { return l.Grid[0] * l.Grid[1] * l.Grid[2] }

// large is the weight from which on the launches of the machine are timed in portions.
func (m *Machine) large() int64 {
	if m.options.Extrapolation.After > 0 {
		return m.options.Extrapolation.After
	}
	return largeLaunch
}

// shorten times a launch in portions. The error is errSmall, and memory as before, where it is to be timed whole.
func (m *Machine) shorten(ctx context.Context, l *Launch) (*Result, error) {
	before := m.State()
	if before == nil || !m.scout(ctx, l, before) {
		return nil, errSmall
	}
	effect := *l
	effect.Untimed, effect.Observer, effect.touches = true, nil, m.newTouches(l)
	all, err := m.launch(ctx, &effect)
	if err != nil || m.State() == nil {
		m.Enter(before)
		return nil, errSmall
	}
	after := m.State()
	out, err := m.portions(ctx, l, before, all, effect.touches)
	if err != nil {
		m.Enter(before)
		return out, err
	}
	m.Enter(after)
	return out, nil
}

// scout runs some blocks of a launch and reports whether the launch may be a large one. They leave no trace.
func (m *Machine) scout(ctx context.Context, l *Launch, before *State) bool {
	defer m.Enter(before)
	few := *l
	few.Untimed, few.Observer, few.Recorder = true, nil, nil
	r, err := m.prepare(&few)
	if err != nil {
		return false
	}
	r.allow(scoutLimit)
	for i := range scouted {
		n := (2*i + 1) * r.blocks / (2 * scouted)
		if err := r.execute(ctx, n, n+1); err != nil {
			return r.domain.budget <= 0
		}
	}
	// A sector for each lane is the most that a warp asks for.
	const most = 4
	return float64(scoutLimit-r.domain.budget)*float64(r.blocks)/scouted*most >= float64(m.large())
}

// portions times portions of a launch of which all is known but the time.
func (m *Machine) portions(ctx context.Context, l *Launch, before *State, all *Result, t *touches) (*Result, error) {
	var last, spent float64
	for level, parts := range t.portions {
		m.Enter(before)
		p, share, err := m.portion(ctx, l, level, all, t)
		var fault *Fault
		switch {
		case ctx.Err() != nil:
			return p, err
		case err != nil && (last > 0 || !errors.As(err, &fault)):
			return nil, err
		case err != nil:
			return nil, errSmall
		}
		weight := float64(p.weight())
		expected := share * float64(all.WarpInstructions)
		if last == 0 && weight*expected/float64(max(p.WarpInstructions, 1))/share < float64(m.large())/2 {
			return nil, errSmall
		}
		cycles := float64(p.Cycles) * expected / float64(max(p.WarpInstructions, 1))
		spent += weight
		differ := math.Abs(last/cycles - 1)
		if last > 0 && (differ <= agreed || parts <= leastParts || spent+2*weight > float64(m.large())) {
			p.ErrorBound += math.Abs(expected/float64(max(p.WarpInstructions, 1)) - 1)
			return all.timedBy(p, cycles, share, differ), nil
		}
		last = cycles
	}
	return nil, errSmall
}

// weight is what it takes to time the launch.
func (r *Result) weight() int64 {
	n := r.WarpInstructions
	for i := range r.Counters {
		n += r.Counters[i].GlobalSectors
	}
	return n
}

// portion times one of so many parts of a launch, and returns which share of the launch it is.
func (m *Machine) portion(ctx context.Context, l *Launch, level int, all *Result, t *touches) (*Result, float64, error) {
	gpu, device, paths, out, limit := m.gpu, m.device, m.paths, m.options.Stdout, m.options.MaxInstructions
	defer func() {
		m.gpu, m.device, m.paths, m.options.Stdout, m.options.MaxInstructions = gpu, device, paths, out, limit
	}()
	model, share := gpu.Part(t.portions[level])
	part := &Part{Share: share, Instructions: int64(share * float64(all.WarpInstructions))}
	part.lines = &portionLines{touches: t, level: level, share: share, fetched: make(map[uint64]bool)}
	m.gpu, m.device, m.paths, m.options.Stdout = model, nil, nil, io.Discard
	m.options.MaxInstructions = spare*part.Instructions + scoutLimit
	timed := *l
	timed.Part, timed.Recorder = part, nil
	r, err := m.launch(ctx, &timed)
	return r, float64(part.blocks(l.blocks())) / float64(l.blocks()), err
}

const (
	// What two portions in a row differ by, the larger may be off the launch by so many times, and by so much more: chosen by launches that
	// were timed whole as well, see docs/timing.md.
	boundOfDifference = 0.5
	boundAtLeast      = 0.07
)

// timedBy completes the result of a launch that only took effect by that of a portion.
func (r *Result) timedBy(p *Result, cycles, share, differ float64) *Result {
	scale := cycles / float64(max(p.Cycles, 1)) / share
	r.Level, r.Cycles = p.Level, int64(math.Round(cycles))
	r.SMActiveCycles, r.WarpActiveCycles = int64(float64(p.SMActiveCycles)*scale), int64(float64(p.WarpActiveCycles)*scale)
	r.ErrorBound = p.ErrorBound + boundOfDifference*differ + boundAtLeast
	if r.TimedBlocks = p.TimedBlocks; r.TimedBlocks == 0 {
		r.TimedBlocks = int(math.Round(share * float64(r.Facts.Grid[0]*r.Facts.Grid[1]*r.Facts.Grid[2])))
	}
	r.accessesOf(p)
	return r
}

// accessesOf takes what a launch asked of the memories from the part of it that was timed: as much for an execution, and of L2 and DRAM for any warp
// instruction.
func (r *Result) accessesOf(p *Result) {
	more := float64(r.WarpInstructions) / float64(max(p.WarpInstructions, 1))
	for to, n := range map[*int64]int64{&r.Traffic.L2: p.Traffic.L2, &r.Traffic.DRAMRead: p.Traffic.DRAMRead, &r.Traffic.DRAMWritten: p.Traffic.DRAMWritten} {
		*to = int64(float64(n) * more)
	}
	timed := p.counters()
	for i := range r.Counters {
		c := &r.Counters[i]
		if t := timed[InstAt{c.Code, c.PC}]; t != nil {
			c.memoryCounter = t.memoryCounter
			c.memoryCounter.scale(float64(c.Executions) / float64(t.Executions))
		}
	}
}

// counters finds the counters of instructions.
func (r *Result) counters() map[InstAt]*Counter {
	list := make(map[InstAt]*Counter, len(r.Counters))
	for i := range r.Counters {
		list[InstAt{r.Counters[i].Code, r.Counters[i].PC}] = &r.Counters[i]
	}
	return list
}
