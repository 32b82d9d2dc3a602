package emu

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stream"
)

// A launch whose streams are edited is timed without being executed at the same time: a block that gets a place is executed to its end
// first, by itself and without timing, the streams of instructions of its warps are edited, and the SM issues what is in them. All that
// takes time is as ever: how instructions wait, pipes, queues, memory, barriers, branches. What warps tell each other through memory
// within the launch is as it is when blocks run one after another.

// A replay is the source of such a launch's blocks.
type replay struct {
	tape   *tape
	blocks stream.Source
	stages []*stream.Stage
	held   int // events of the blocks that have a place
	forms  map[form]int32
	questions
	ops []*op // other forms of the program's ops, numbered behind these
}

// A form is what is issued in the place of an instruction.
type form struct {
	op    int32
	as    stream.Form
	stall uint8
	waits stream.Waits
}

// A replayed is a block whose warps issue what is in their streams.
type replayed struct {
	stream  *stream.Block
	arrived []int32 // by gate
	ended   int32   // warps

	*transactions
}

// rehearse makes the launch one that is replayed, in the shape that the edits give it.
func (r *launchRun) rehearse(ctx context.Context) error {
	w := r.launch.WhatIf
	edits, err := w.Streams.edits(r.program)
	if err != nil {
		return fmt.Errorf("what if: %w", err)
	}
	switch {
	case r.level() == TimingNone:
		return errors.New("what if: streams are edited in time only")
	case r.launch.Cooperative:
		return errors.New("what if: the blocks of a cooperative launch wait for each other, so that they cannot be recorded one by one")
	}
	p := &replay{tape: newTape(ctx, r, w.Streams.compares() || len(w.Streams.Behind) > 0), forms: make(map[form]int32), questions: r.program.questions()}
	if len(w.Streams.Behind) == 0 {
		p.tape.works = new(stream.Works)
	}
	one, err := w.Streams.behind(r.program, stream.Joinable{Source: p.tape, Shape: r.launch.shape()})
	if err != nil {
		return fmt.Errorf("what if: %w", err)
	}
	p.blocks = one.Source
	shape := one.Shape
	for _, e := range edits {
		s, err := stream.NewStage(e, r.program, p.blocks, shape)
		if err != nil {
			return fmt.Errorf("what if: %w", err)
		}
		p.stages = append(p.stages, s)
		p.blocks, shape = s, s.Shape
	}
	r.replay = p
	if r.launch.clusterBlocks() == 1 {
		for i := range r.program.ops {
			r.program.ops[i].ordered = false // the tape is alone
		}
	} else {
		if shape != r.launch.shape() {
			return errors.New("what if: blocks of a cluster wait for each other, so that they stay as many and as large")
		}
		for i := range r.program.ops { // who asks in vain looks at all warps of the cluster
			r.program.ops[i].ordered = r.program.ops[i].ordered || r.program.ops[i].asks
		}
	}
	return r.reshape(shape)
}

// behind is the launches before and the one that is recorded as one.
func (s *Streams) behind(p *program, last stream.Joinable) (stream.Joinable, error) {
	if len(s.Behind) == 0 {
		return last, nil
	}
	if len(s.Joints) > 0 {
		var list []stream.Joinable
		for _, t := range s.Behind {
			list = append(list, stream.Joinable{Source: t, Shape: t.shape})
		}
		return stream.Join(p, append(list, last), s.Joints)
	}
	f := &stream.Fused{Program: p}
	for _, t := range s.Behind {
		f.Launches = append(f.Launches, t)
	}
	f.Launches = append(f.Launches, last.Source)
	last.Source = f
	return last, nil
}

// entries are where the code of the launch begins, and that of those which are joined to it: one kernel has all of that in one place.
func (r *launchRun) entries() []int32 {
	list := []int32{r.entry}
	if r.replay != nil && len(r.launch.WhatIf.Streams.Joints) > 0 {
		for _, t := range r.launch.WhatIf.Streams.Behind {
			list = append(list, t.entry)
		}
	}
	return list
}

// reshape holds the edited launch to the limits of the GPU.
func (r *launchRun) reshape(s stream.Shape) error {
	m, l, k := r.machine.gpu, r.launch, r.launch.Kernel
	limits := &m.Limits
	for axis, most := range [3]int{limits.GridX.Int(), limits.GridYZ.Int(), limits.GridYZ.Int()} {
		if s.Grid[axis] < 1 || s.Grid[axis] > most {
			return fmt.Errorf("what if: the grid becomes %v, which is no grid", s.Grid)
		}
	}
	if most := limits.ThreadsPerBlock.Int(); s.Threads > most {
		return fmt.Errorf("what if: blocks become ones of %d threads, they can have %d", s.Threads, most)
	}
	r.blocks = l.Part.blocks(s.Grid[0] * s.Grid[1] * s.Grid[2])
	r.facts.Grid, r.facts.Block = s.Grid, [3]int{s.Threads, 1, 1}
	o := arch.OccupancyOf(m, l.WhatIf.resources(arch.Resources{Threads: s.Threads, Registers: k.Registers,
		SharedStatic: k.SharedStatic, SharedDynamic: l.SharedDynamic, Barriers: k.Barriers, Blocks: r.blocks}))
	if o.BlocksPerSM < 1 {
		return fmt.Errorf("what if: no block fits on an SM with %d threads of %d registers", s.Threads, max(k.Registers, l.WhatIf.Registers))
	}
	r.facts.Occupancy = o
	return nil
}

// Inst returns the instruction of an op: the program is what edits of streams look things up in.
func (p *program) Inst(op int32) *sass.Inst { return p.ops[op].inst }

// replayedBlock makes the n-th block of the edited launch, for an SM.
func (r *launchRun) replayedBlock(n int, s *sm) (*block, error) {
	p := r.replay
	p.tape.sm = s.id
	edited, err := p.blocks.Block(r.numberOf(n))
	if err != nil {
		return nil, err
	}
	p.held += edited.Events()
	kept := p.held
	for _, s := range p.stages {
		kept += s.Kept()
	}
	if kept > mostEvents {
		return nil, fmt.Errorf("the blocks on the GPU execute over %d instructions, more than can be kept", mostEvents)
	}
	b := &block{run: r, domain: &s.domain, number: n, index: [3]int{n, 0, 0}, sm: s.id, live: 1,
		replay: &replayed{stream: edited, arrived: make([]int32, len(edited.Gates))}}
	b.replay.transactions = p.transactionsOf(edited)
	if r.launch.clusterBlocks() == 1 {
		if err := p.joined([]*block{b}); err != nil {
			return nil, err
		}
	}
	warps := make([]warp, len(edited.Warps))
	for i := range warps {
		w := &warps[i]
		w.block, w.id, w.local.size, w.scratch = b, i, r.localBytes, s.domain.scratch
		w.events = edited.Warps[i].Events
		if len(w.events) == 0 {
			return nil, fmt.Errorf("warp %d of block %d has nothing to do", i, n)
		}
		for j := range w.events {
			p.dress(r.program, edited, &w.events[j])
		}
		w.active = edited.Lanes[w.events[0].Lanes].Active
		b.warps = append(b.warps, w)
	}
	return b, nil
}

// dress makes an event name the op that is issued.
func (p *replay) dress(program *program, b *stream.Block, e *stream.Event) {
	if e.As == stream.Plain && e.Stall == 0 && e.Wait == 0 {
		return
	}
	f := form{op: e.Op, as: e.As, stall: e.Stall}
	if e.Wait > 0 {
		f.waits = b.Waits[e.Wait-1]
	}
	i, ok := p.forms[f]
	if !ok {
		i = int32(len(program.ops) + len(p.ops))
		p.forms[f] = i
		p.ops = append(p.ops, f.build(program, e.Wait > 0))
	}
	e.Op = i
}

// build makes the op of a form.
func (f *form) build(p *program, waits bool) *op {
	o := p.ops[f.op]
	m, t := p.model, &o.t
	if f.as >= stream.Load {
		*t = timing{stall: 1, write: -1, read: -1, depbar: -1, registers: [3]uint8{sass.RZ, sass.RZ, sass.RZ}, result: sass.RZ, pipe: arch.LSU}
	}
	switch f.as {
	case stream.Gone:
		t.supposed |= Gone
		t.path, t.pipe, t.stall, t.latency, t.yield, t.imm, t.copies = pathControl, arch.Control, 0, 0, false, false, false
		t.registers = [3]uint8{sass.RZ, sass.RZ, sass.RZ}
	case stream.Shared:
		t.path, t.l1tex, t.bypass = pathShared, false, false
		t.latency = m.Latencies.Special.Cycles()
	case stream.Summed:
		t.path, t.pipe, t.l1tex, t.bypass, t.write, t.read = pathPipe, arch.FMA, false, false, -1, -1
		t.interval, t.latency = m.Pipes[arch.FMA].Interval.Cycles(), cheapLatency
	case stream.Load:
		t.path, t.l1tex, t.write, t.stall = pathGlobal, true, stream.Combining, 2
	case stream.Shuffle:
		t.path, t.latency, t.stall, t.write = pathShuffle, m.Latencies.Shuffle.Cycles(), 2, stream.Combining
	case stream.Sum:
		t.path, t.pipe, t.wait, t.stall = pathPipe, arch.FMA, 1<<stream.Combining, cheapLatency
		t.interval = m.Pipes[arch.FMA].Interval.Cycles()
	case stream.SharedStore:
		t.path, t.wait = pathShared, 1<<stream.Combining
	case stream.SharedLoad:
		t.path, t.write = pathShared, stream.Combining
	case stream.Index:
		t.path, t.pipe, t.stall = pathPipe, arch.ALU, 2 // half of the lanes of a warp in a cycle
		t.interval = m.Pipes[arch.ALU].Interval.Cycles()
	case stream.Barrier:
		t.path, t.pipe, t.stall = pathBarrier, arch.Control, 6
	}
	if f.stall > 0 {
		t.stall = int64(f.stall)
		if f.stall < 2 {
			t.yield = false
		}
	}
	if waits {
		t.leaves = &f.waits
		for c, n := range f.waits {
			if n != 0xff {
				t.wait &^= 1 << c
			}
		}
	}
	return &o
}

// opOf returns what an event issues.
func (r *launchRun) opOf(e *stream.Event) *op {
	if n := int(e.Op) - len(r.program.ops); n >= 0 {
		return r.replay.ops[n]
	}
	return &r.program.ops[e.Op]
}

// reissue does the next event of a warp's stream in the place of an instruction.
func (w *warp) reissue() error {
	b := w.block
	e, r := &w.events[w.cursor], b.replay
	o, lanes := w.next(), r.stream.Lanes[e.Lanes]
	w.mask, w.acc.kind, w.acc.mask, w.texels.n = lanes.Mask, accessNone, 0, 0
	w.bulk.lines, w.bulk.barriers, w.tensor, w.asked = w.bulk.lines[:0], w.bulk.barriers[:0], tensorWork{}, asked{}
	if !b.domain.count(o, w.mask) {
		return w.exhausted(o)
	}
	if n := len(w.round); n > 0 {
		if w.round = w.round[1:]; n > 1 || !w.asking { // on the way to the next question, or from the last one
			return nil
		}
	}
	if !w.asking {
		w.cost += int64(lanes.Cost)
	}
	if e.Kind == stream.RefWork {
		if there, err := w.rework(e, o); !there || err != nil {
			return err
		}
	}
	if w.cursor++; w.cursor < len(w.events) {
		w.active = r.stream.Lanes[w.events[w.cursor].Lanes].Active
	} else {
		w.active, w.status = 0, warpDone
		b.domain.changes++
		r.ended++
		b.admit()
		if o.ordered { // as EXIT is, where there are others
			b.admitPeers()
		}
	}
	switch e.Kind {
	case stream.RefAccess:
		w.reaccess(&r.stream.Access[e.Ref], e.As)
	case stream.RefSync:
		w.pass(&r.stream.Syncs[e.Ref])
	}
	return nil
}

// rework does an event's work, unless it asks for what is not there.
func (w *warp) rework(e *stream.Event, o *op) (there bool, err error) {
	b := w.block
	work := b.run.replay.tape.works.At(e.Ref)
	if a := work.Access(&w.acc.addr); a.Mask != 0 {
		w.acc.kind, w.acc.space, w.acc.size, w.acc.mask = accessKind(a.Kind), space(a.Space), a.Size, a.Mask
	}
	if w.asking = !w.grants(work) && !o.t.gone(); w.asking {
		w.round = b.run.replay.rounds[o.index]
		return false, w.starves()
	}
	w.does(work, o)
	w.rejoins(o)
	return true, nil
}

// rejoins lets a warp whose last question was another one than that of the stream go on as its code does behind that.
func (w *warp) rejoins(last *op) {
	p := w.block.run
	join := p.replay.joins[[2]int32{p.opOf(&w.events[w.cursor]).index, last.index}]
	if join == nil {
		return
	}
	behind := w.events[w.cursor+1:]
	if len(behind) <= len(join.first) {
		return
	}
	for i, o := range join.first {
		if p.opOf(&behind[i]).index != o.index {
			return
		}
	}
	w.cursor += len(join.first)
	w.round = join.other
}

// reaccess repeats an access.
func (w *warp) reaccess(a *stream.Access, as stream.Form) {
	if a.Mask == 0 {
		return
	}
	acc := &w.acc
	acc.kind, acc.space, acc.size, acc.mask = accessKind(a.Kind), space(a.Space), a.Size, a.Mask
	w.block.replay.stream.Addresses(a, &acc.addr)
	switch {
	case acc.kind == accessNone: // of a constant bank
	case as == stream.Shared:
		acc.space = spaceShared
	case as == stream.Added:
		acc.kind = accessAtomic
	case acc.space == spaceLocal:
		base := w.localBase()
		for i := range acc.addr {
			acc.addr[i] += base
		}
	}
}

// pass arrives at a barrier and waits at one.
func (w *warp) pass(s *stream.Sync) {
	b := w.block
	if s.Waits >= 0 && w.status == warpRunning {
		w.status, w.gate = warpBarrier, s.Waits
	}
	if s.Arrives >= 0 {
		b.replay.arrived[s.Arrives]++
		if b.replay.stream.Gates[s.Arrives].Cluster > 0 {
			b.admitPeers()
		}
	}
	b.admit()
}

// admitPeers lets the warps of the other blocks of the cluster go on whose barriers are open. Who does so is alone: see crew.go.
func (b *block) admitPeers() {
	for _, other := range b.group() {
		if other != b {
			other.admit()
		}
	}
}

// admit lets the warps of a replayed block go on whose barriers are open.
func (b *block) admit() {
	r := b.replay
	for _, w := range b.warps {
		if w.status != warpBarrier {
			continue
		}
		if b.opens(w.gate) {
			w.status = warpRunning
			w.active = r.stream.Lanes[w.events[w.cursor].Lanes].Active
			b.domain.changes++
		}
	}
}

// opens reports whether a gate is open: in all blocks of the cluster, where it is for them.
func (b *block) opens(gate int32) bool {
	r := b.replay
	g := &r.stream.Gates[gate]
	if g.Cluster == 0 || !r.complete(gate) {
		return r.complete(gate)
	}
	for _, other := range b.group() {
		for i := range other.replay.stream.Gates {
			if other.replay.stream.Gates[i].Cluster == g.Cluster && !other.replay.complete(int32(i)) {
				return false
			}
		}
	}
	return true
}

// complete reports whether all of the block have come to a gate that come there.
func (r *replayed) complete(gate int32) bool {
	g := &r.stream.Gates[gate]
	return r.arrived[gate] >= g.Arrivals && r.ended >= g.Ends
}

// leave forgets the streams of a replayed block whose warps have left.
func (p *replay) leave(b *block) {
	p.held -= b.replay.stream.Events()
	if b.cluster == nil { // others of the cluster look at its gates
		b.replay.stream.Release()
	}
	if t := b.replay.transactions; p.tape.works != nil {
		if t.units.taken != nil {
			t.units.release()
		}
		p.tape.works.Leave(t.pages, len(p.tape.pending) == 0 && !slices.ContainsFunc(p.stages, func(s *stream.Stage) bool { return s.Kept() > 0 }))
	}
}

// rescaled scales a number of warp instructions of the launch as it is to those that it has with the edits.
func (r *launchRun) rescaled(recorded int64) int64 {
	issued := r.limit - r.left
	return int64(float64(recorded) * float64(issued) / float64(max(r.replay.tape.executed, 1)))
}

// atMostLeft is when what a form of an instruction leaves outstanding is all that is.
func (v *resident) atMostLeft(w *stream.Waits) (t int64) {
	for c, n := range w {
		if n != 0xff {
			t = max(t, v.counters[c].atMost(int(n)))
		}
	}
	return t
}

var _ stream.Program = (*program)(nil)
