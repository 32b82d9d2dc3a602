package stream

import (
	"slices"

	"gpa/cubin/sass"
)

// Hoist issues loads as early as the first loads of their straight stretch of code, with the arithmetic that finds their addresses: in front
// of stores, as a compiler does that knows that no store goes where they read, and of everything that waits for what was loaded. What needs
// a loaded value, or another result of variable latency, to find its address stays where it is. Values keep registers of their own until
// they are used, which takes more of them: no load is issued early while so many words wait for their first use.
type Hoist struct {
	single
	Loads map[int32]bool
	Words int // registers that values under way may take, 0 for any number
	// Gone instructions are not there: a branch that is gone ends no stretch of code.
	Gone map[int32]bool
}

// Apply moves the loads.
func (h *Hoist) Apply(p Program, blocks []*Block) ([]*Block, error) {
	b := blocks[0]
	x := hoister{Hoist: h, program: p, plans: make(map[int32][]*hoistPlan)}
	for w := range b.Warps {
		events := b.Warps[w].Events
		for first := 0; first < len(events); {
			last := first
			for last < len(events) && x.straight(b, &events[last]) {
				last++
			}
			x.move(b, events[first:last])
			first = last + 1
		}
		b.Warps[w].Values = nil
	}
	return blocks, nil
}

// A hoister knows how stretches of code change that it has met.
type hoister struct {
	*Hoist
	program Program
	plans   map[int32][]*hoistPlan // by the first instruction
}

// A hoistPlan is how a stretch of code changes.
type hoistPlan struct {
	ops   []int32
	order []int   // nil for no change
	waits []Waits // by the new place
}

// straight reports whether nothing but the next instruction follows, and no other thread can tell in which order loads are made.
func (x *hoister) straight(b *Block, e *Event) bool {
	p := x.program.Inst(e.Op).Op.Properties()
	return e.Kind != RefSync && e.Kind != RefWork && (e.As == Plain || e.As == Gone) && (p.Flow == sass.FlowNext || x.Gone[e.Op]) && p.Sync == sass.SyncNone &&
		(e.Kind != RefAccess || b.Access[e.Ref].Kind < atomic)
}

// move orders the events of a stretch anew.
func (x *hoister) move(b *Block, events []Event) {
	if !slices.ContainsFunc(events, func(e Event) bool { return x.Loads[e.Op] }) {
		return
	}
	p := x.plan(b, events)
	if p.order == nil {
		return
	}
	old := slices.Clone(events)
	for to, from := range p.order {
		events[to] = old[from]
		if w := p.waits[to]; w != ownWaits {
			events[to].Wait = b.waitsOf(w)
		}
	}
}

// plan finds how a stretch of code changes.
func (x *hoister) plan(b *Block, events []Event) *hoistPlan {
	first := events[0].Op
	for _, p := range x.plans[first] {
		if slices.EqualFunc(p.ops, events, func(op int32, e Event) bool { return op == e.Op }) {
			return p
		}
	}
	p := &hoistPlan{}
	for i := range events {
		p.ops = append(p.ops, events[i].Op)
	}
	x.plans[first] = append(x.plans[first], p)
	from, ok := x.firstUse(b, events)
	if !ok {
		return p
	}
	if early, needs := x.early(p.ops, from); slices.Contains(early, true) {
		x.rearrange(p, from, early, needs)
	}
	return p
}

// firstUse is the first event that waits for a load of global memory before it.
func (x *hoister) firstUse(b *Block, events []Event) (at int, ok bool) {
	loading := uint8(0)
	for i := range events {
		e := &events[i]
		c := &x.program.Inst(e.Op).Control
		if c.WaitMask&loading != 0 {
			return i, true
		}
		if e.Kind == RefAccess && b.Access[e.Ref].Kind == load && b.Access[e.Ref].Space == global && c.WriteBarrier >= 0 {
			loading |= 1 << c.WriteBarrier
		}
	}
	return 0, false
}

// early says which events behind one go to its place: loads and what finds their addresses; and whose results each event needs.
func (x *hoister) early(ops []int32, from int) (early []bool, needs [][]int) {
	written := make(map[sass.Resource]int) // by whom last
	needs = make([][]int, len(ops))
	var list []sass.Resource
	for i, op := range ops {
		in := x.program.Inst(op)
		for _, r := range in.Uses(list[:0]) {
			if by, ok := written[r]; ok && !isCounter(r) {
				needs[i] = append(needs[i], by)
			}
		}
		for _, r := range in.Defs(list[:0]) {
			written[r] = i
		}
	}
	early = make([]bool, len(ops))
	for i := from; i < len(ops); i++ {
		if x.Loads[ops[i]] {
			if slice := map[int]bool{i: true}; x.slice(ops, needs, i, from, slice) {
				for k := range slice {
					early[k] = early[k] || k >= from
				}
			}
		}
	}
	return early, needs
}

// slice adds what an event needs to compute; false where that is loaded, or not there yet.
func (x *hoister) slice(ops []int32, needs [][]int, i, from int, slice map[int]bool) bool {
	for _, k := range needs[i] {
		if slice[k] {
			continue
		}
		in := x.program.Inst(ops[k])
		if slice[k] = true; in.Op.Properties().Reads&^sass.SpaceConstant != 0 || in.Variable() && k >= from || !x.slice(ops, needs, k, from, slice) {
			return false
		}
	}
	return true
}

// isCounter reports whether a resource is a dependence counter.
func isCounter(r sass.Resource) bool { return r >= sass.ResSB && r < sass.ResConvBar }

// rearrange puts the early events to a place, or as soon behind it as there are registers for what they load.
func (x *hoister) rearrange(p *hoistPlan, from int, early []bool, needs [][]int) {
	r := rearrangement{hoistPlan: p, program: x.program, most: x.Words, used: make(map[int][]int)}
	first := make(map[int]bool)
	for i := range p.ops {
		if i < from {
			p.add(i, ownWaits)
		} else if early[i] {
			r.early = append(r.early, i)
		}
		for _, k := range needs[i] {
			if early[k] && !early[i] && !first[k] {
				first[k] = true
				r.used[i] = append(r.used[i], k)
			}
		}
	}
	for i := from; i < len(p.ops); i++ {
		r.advance(i)
		if !early[i] {
			r.late(i)
		}
	}
}

// A rearrangement is the new order of a stretch, as far as it is known.
type rearrangement struct {
	*hoistPlan
	program Program
	early   []int         // what is left of them
	used    map[int][]int // by event: the early ones whose results it is the first to use
	moved   [6][]int      // early loads that have been issued, by counter
	words   int           // that are under way
	most    int
}

// advance issues early events as long as there are registers for what they load, those in any case that stood before an event.
func (r *rearrangement) advance(at int) {
	for len(r.early) > 0 {
		i := r.early[0]
		if i >= at && r.most > 0 && r.words+r.loaded(i) > r.most {
			return
		}
		r.early = r.early[1:]
		r.words += r.loaded(i)
		r.issue(i)
	}
}

// loaded is the number of registers that take what an event loads from memory.
func (r *rearrangement) loaded(i int) int {
	in := r.program.Inst(r.ops[i])
	if in.Op.Properties().Reads&^sass.SpaceConstant == 0 {
		return 0
	}
	return max(1, in.AccessBytes()/4)
}

// issue adds an early event. It waits for nothing: all that it needs is arithmetic.
func (r *rearrangement) issue(i int) {
	c, w := &r.program.Inst(r.ops[i]).Control, ownWaits
	for n := range w {
		if c.WaitMask>>n&1 != 0 {
			w[n] = allOutstanding
		}
	}
	r.add(i, w)
	if c.WriteBarrier >= 0 {
		r.moved[c.WriteBarrier] = append(r.moved[c.WriteBarrier], i)
	}
}

// late adds another event. It leaves those loads outstanding that stood behind it.
func (r *rearrangement) late(i int) {
	w := ownWaits
	for n := range w {
		later := 0
		for _, k := range r.moved[n] {
			if k > i {
				later++
			}
		}
		if later > 0 && r.program.Inst(r.ops[i]).Control.WaitMask>>n&1 != 0 {
			w[n] = uint8(min(later, allOutstanding))
		}
	}
	r.add(i, w)
	for _, k := range r.used[i] {
		r.words -= r.loaded(k)
	}
}

func (p *hoistPlan) add(i int, w Waits) {
	p.order, p.waits = append(p.order, i), append(p.waits, w)
}
