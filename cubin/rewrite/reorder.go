package rewrite

import (
	"slices"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// Reorder schedules the instructions of every block anew: of those that nothing holds back, the one with the longest chain
// of dependent work behind it goes first, so that loads are issued early. Instructions of one unit whose latency varies
// keep their order, on which dependence counters rely, and nothing moves across calls, barriers and what orders memory.
// Stall counts are derived anew from the latencies, and waits added where a reader came before the one that waited.
func Reorder(file *cubin.File) (*Rewritten, error) {
	table, err := latencies(file.Arch)
	if err != nil {
		return nil, err
	}
	r := &Rewritten{Pass: ReorderPass}
	err = r.rewrite(file, func(e *editor, f *cfg.Func) (*body, *Change) { return e.reorder(f, table) })
	return r, err
}

// reorder makes the scheduled code of a function. Its blocks stay where they are.
func (e *editor) reorder(f *cfg.Func, table *latencyTable) (*body, *Change) {
	b, change := &body{}, &Change{}
	for i, id := range f.Blocks {
		block := e.graph.Blocks[id]
		s := scheduler{table: table}
		for k := block.First; k <= block.Last; k++ {
			s.items = append(s.items, item{inst: e.graph.Code.Insts[k], old: k})
		}
		items, moved := s.run()
		change.Moved += moved
		b.add(piece{items: items, taken: -1, fall: i + 1})
	}
	b.pieces[len(b.pieces)-1].fall = -1
	if change.Moved == 0 {
		return nil, nil
	}
	b.inPlace = true
	return b, change
}

// A scheduler orders the instructions of a block.
type scheduler struct {
	table *latencyTable
	items []item
	// after are, by instruction, the ones that must come later, and by how many cycles.
	after  [][]dependence
	before []int // by instruction: how many must come earlier that have not yet
	height []int // by instruction: cycles of the longest chain that begins with it
}

// A dependence says that an instruction must come some cycles after another.
type dependence struct{ to, cycles int }

// run returns the instructions in their new order, and how many have another place than before: the old order where the
// new one would not end sooner.
func (s *scheduler) run() (items []item, moved int) {
	s.link()
	old := make([]int, len(s.items))
	for i := range old {
		old[i] = i
	}
	best := old
	if list := s.list(); (s.length(old)-s.length(list))*leastGain > s.length(old) {
		best = list
	}
	for k, i := range best {
		items = append(items, s.items[i])
		if k != i {
			moved++
		}
	}
	if moved > 0 {
		s.stall(items)
	}
	return items, moved
}

// leastGain is the part of a block's cycles that a new order must save: one in so many. The model of a warp alone is not
// exact enough for less, and the compiler's order has its reasons.
const leastGain = 50

// fence reports whether nothing may move across an instruction.
func fence(in *sass.Inst) bool {
	switch in.Form.Pipe {
	case sass.PipeCBU, sass.PipeADU, sass.PipeNone:
		return true
	}
	p := in.Op.Properties()
	_, special := in.Special()
	return p.Sync != sass.SyncNone || p.Async != sass.Synchronous || p.Redirects() || special || p.Atomic(^sass.NoSpace) ||
		p.Crosses && p.Memory() == sass.NoSpace
}

// A clock is the time at which a warp alone issues the instructions of a part, in an order that is being made.
type clock struct {
	*scheduler
	now      int
	earliest []int              // by instruction: when what it depends on lets it
	free     [sass.NumPipes]int // by pipe: when it takes the next instruction
}

func (s *scheduler) clock() *clock { return &clock{scheduler: s, earliest: make([]int, len(s.items))} }

// at returns when an instruction can issue at the soonest.
func (c *clock) at(i int) int { return max(c.now, c.earliest[i], c.free[c.items[i].inst.Form.Pipe]) }

// issue issues an instruction and returns when.
func (c *clock) issue(i int) int {
	at, pipe := c.at(i), c.items[i].inst.Form.Pipe
	for _, d := range c.after[i] {
		c.earliest[d.to] = max(c.earliest[d.to], at+d.cycles)
	}
	c.free[pipe] = at + c.table.interval(&c.items[i].inst)
	c.now = at + 1
	return at
}

// interval returns the cycles for which an instruction of a warp occupies a pipe of its sub-core. Accesses to memory go through its
// address unit.
func (t *latencyTable) interval(in *sass.Inst) int {
	if in.Form.Pipe == sass.PipeLSU {
		return t.model.Queues.Address.Int()
	}
	return max(1, t.model.Pipes[t.model.PipeOf(in)].Interval.Int())
}

// length returns the cycles that an order takes until every result is there.
func (s *scheduler) length(order []int) int {
	c, end := s.clock(), 0
	for _, i := range order {
		end = max(end, c.issue(i)+s.height[i])
	}
	return max(c.now, end)
}

// list returns the order of list scheduling.
func (s *scheduler) list() []int {
	c := s.clock()
	var ready, list []int
	for i := range s.items {
		if s.before[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		best := 0
		for k, i := range ready {
			if c.better(i, ready[best]) {
				best = k
			}
		}
		i := ready[best]
		ready = slices.Delete(ready, best, best+1)
		list = append(list, i)
		c.issue(i)
		for _, d := range s.after[i] {
			if s.before[d.to]--; s.before[d.to] == 0 {
				ready = append(ready, d.to)
			}
		}
	}
	return list
}

// better reports whether to issue a before b: what can issue sooner, then what has the longer chain behind it, then what
// came first.
func (c *clock) better(a, b int) bool {
	if x, y := c.at(a), c.at(b); x != y {
		return x < y
	}
	if c.height[a] != c.height[b] {
		return c.height[a] > c.height[b]
	}
	return a < b
}

// reachesL2 reports whether an instruction is a load that may miss L1.
func reachesL2(p *sass.Inst) bool {
	return p.Op.Properties().Loads(sass.SpaceGlobal | sass.SpaceGeneric | sass.SpaceLocal | sass.SpaceTexture)
}

// variable is what a result of variable latency counts in a chain, cycles. A load that may miss L1 counts as one that does.
func (t *latencyTable) variable(p *sass.Inst) int {
	if reachesL2(p) {
		return t.model.Latencies.L2.Int()
	}
	return t.model.Latencies.Of(p.Op.Properties().Class).Int()
}

// link finds the dependences between the instructions. A fence depends on all before it, and all behind it on the fence.
func (s *scheduler) link() {
	n := len(s.items)
	s.after, s.before, s.height = make([][]dependence, n), make([]int, n), make([]int, n)
	last := -1 // fence
	for j := range n {
		q := &s.items[j].inst
		late := fence(q) || s.waitsForMemory(j)
		for i := range j {
			cycles := s.depends(&s.items[i].inst, q)
			if cycles == 0 && (i == last || i > last && late) {
				cycles = 1
			}
			if cycles > 0 {
				s.edge(i, j, cycles)
				if k := s.waiter(i, j); k >= 0 {
					s.edge(k, j, 1)
				}
			}
		}
		if fence(q) {
			last = j
		}
	}
	for i := n - 1; i >= 0; i-- {
		s.height[i] = s.result(&s.items[i].inst)
		for _, d := range s.after[i] {
			s.height[i] = max(s.height[i], d.cycles+s.height[d.to])
		}
	}
}

// waitsForMemory reports whether an instruction waits for a load from memory, or for what another block has begun. How long that
// takes is not known: nothing that stood before the wait may come to stand behind it.
func (s *scheduler) waitsForMemory(j int) bool {
	pending := waits(&s.items[j].inst)
	for i := j - 1; i >= 0 && pending != 0; i-- {
		p := &s.items[i].inst
		if counters(p)&pending == 0 {
			continue
		}
		if reachesL2(p) {
			return true
		}
		pending &^= counters(p)
	}
	return pending != 0
}

// result returns the cycles until the result of an instruction is there, for what comes behind the block.
func (s *scheduler) result(in *sass.Inst) int {
	switch {
	case len(withoutCounters(in.Defs(nil))) == 0:
		return 1
	case in.Variable():
		return s.table.variable(in)
	}
	return s.table.registers[readsALU][writesALU]
}

func (s *scheduler) edge(from, to, cycles int) {
	s.after[from] = append(s.after[from], dependence{to, cycles})
	s.before[to]++
}

// waiter returns the instruction between i, of variable latency, and j that waited for j's sake as well; -1 for none.
func (s *scheduler) waiter(i, j int) int {
	p := &s.items[i].inst
	if !p.Variable() || waits(&s.items[j].inst)&counters(p) != 0 {
		return -1
	}
	for k := j - 1; k > i; k-- {
		if w := waits(&s.items[k].inst); w&counters(p) != 0 || w != 0 && counters(p) == 0 {
			return k
		}
	}
	return -1
}

// depends returns how many cycles q must come after p, 0 where it need not. What reads a constant stays behind the loads
// before it: it may miss the cache, and all that follows then waits.
func (s *scheduler) depends(p, q *sass.Inst) int {
	cycles := 0
	if p.Op == sass.LDG && readsConstant(q) {
		cycles = 1
	}
	if p.Variable() && q.Variable() && p.Form.Pipe == q.Form.Pipe {
		cycles = 1
	}
	pUses, pDefs, qUses, qDefs := p.Uses(nil), p.Defs(nil), q.Uses(nil), q.Defs(nil)
	for _, r := range pDefs {
		if slices.Contains(qUses, r) {
			cycles = max(cycles, s.latency(p, q, r))
		}
		if slices.Contains(qDefs, r) {
			cycles = max(cycles, 1)
		}
	}
	for _, r := range pUses {
		if slices.Contains(qDefs, r) {
			cycles = max(cycles, 1)
		}
	}
	return cycles
}

func readsConstant(in *sass.Inst) bool {
	return slices.ContainsFunc(in.Operands, func(o sass.Operand) bool { return o.Kind == sass.KindConst })
}

// operandLatency is how long a load or store takes to read its operands, cycles (Huerta et al. 2025, table 2: 9 to 11).
const operandLatency = 11

// latency returns the cycles from p to q, which reads r.
func (s *scheduler) latency(p, q *sass.Inst, r sass.Resource) int {
	switch {
	case p.Variable() && p.Control.ReadBarrier >= 0 && r == sass.ResSB+sass.Resource(p.Control.ReadBarrier):
		return operandLatency
	case p.Variable():
		return s.table.variable(p)
	case r >= sass.ResSB && r < sass.ResConvBar:
		return s.table.counter
	}
	return s.table.between(p, q, r)
}

// stall derives the stall counts of a block. The last instruction keeps its own, and so do those of variable latency at
// least.
func (s *scheduler) stall(items []item) {
	issue := make([]int, len(items))
	var free [sass.NumPipes]int
	for j := range items {
		q := &items[j].inst
		if j > 0 {
			p := &items[j-1].inst
			least := 1
			if p.Variable() || fence(p) {
				least = cycles(p)
			}
			issue[j] = issue[j-1] + least
		}
		for i := max(0, j-s.table.most()); i < j; i++ {
			if p := &items[i].inst; !p.Variable() || counters(p)&waits(q) != 0 {
				issue[j] = max(issue[j], issue[i]+s.needed(p, q))
			}
		}
		if pipe := q.Form.Pipe; !q.Variable() {
			issue[j] = max(issue[j], free[pipe])
			free[pipe] = issue[j] + s.table.interval(q)
		}
	}
	for j := range items {
		c := &items[j].inst.Control
		items[j].inst = withoutReuse(items[j].inst)
		if j+1 < len(items) && c.Stall > 0 {
			c = &items[j].inst.Control
			c.Stall = uint8(min(issue[j+1]-issue[j], 15))
			c.Yield = c.Yield || c.Stall > 11
		}
	}
	for j := 1; j < len(items); j++ {
		keep(&items[j-1].inst, &items[j].inst)
	}
}

// keep marks the operands of p that q, the next instruction, reads in the same slot, for the register-file cache to keep
// them. A warp that yields loses them, and so does a register that p overwrites.
func keep(p, q *sass.Inst) {
	if p.Control.Yield || !cached(p) || !cached(q) {
		return
	}
	defs := p.Defs(nil)
	for k := range p.Operands {
		o, slot := &p.Operands[k], p.Form.Operands[k].Reuse
		if slot == 0 || o.Kind != sass.KindReg || o.Reg == sass.RZ || slices.Contains(defs, sass.Resource(o.Reg)) {
			continue
		}
		for n := range q.Operands {
			if same := &q.Operands[n]; q.Form.Operands[n].Reuse == slot && same.Kind == sass.KindReg && same.Reg == o.Reg && same.Width == o.Width {
				o.Reuse = true
				p.Control.Reuse |= 1 << (slot - 1)
			}
		}
	}
}

// cached reports whether an instruction reads its registers through the cache.
func cached(in *sass.Inst) bool {
	switch in.Form.Pipe {
	case sass.PipeALU, sass.PipeFMA, sass.PipeFP16:
		return true
	}
	return false
}

// needed returns how many cycles q must come after p because of fixed latencies.
func (s *scheduler) needed(p, q *sass.Inst) int {
	needed := 0
	if counters(p)&waits(q) != 0 {
		needed = s.table.counter
	}
	if p.Variable() {
		return needed
	}
	uses := withoutCounters(q.Uses(nil))
	for _, r := range withoutCounters(p.Defs(nil)) {
		if slices.Contains(uses, r) {
			needed = max(needed, s.table.between(p, q, r))
		}
	}
	return needed
}

// withoutReuse returns an instruction whose operands are not kept for the next one, which is another now.
func withoutReuse(in sass.Inst) sass.Inst {
	in.Operands = slices.Clone(in.Operands)
	for k := range in.Operands {
		in.Operands[k].Reuse = false
	}
	in.Control.Reuse = 0
	return in
}
