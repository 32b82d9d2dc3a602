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
	r := &Rewritten{}
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

// run returns the instructions in their new order, and how many have another place than before.
func (s *scheduler) run() (items []item, moved int) {
	for first := 0; first < len(s.items); {
		end := first
		for end < len(s.items) && !fence(&s.items[end].inst) {
			end++
		}
		part := scheduler{table: s.table, items: s.items[first:end]}
		items = append(items, part.order()...)
		if end < len(s.items) {
			items = append(items, s.items[end])
			end++
		}
		first = end
	}
	for i := range items {
		if items[i].old != s.items[i].old {
			moved++
		}
	}
	if moved > 0 {
		s.stall(items)
	}
	return items, moved
}

// fence reports whether nothing may move across an instruction.
func fence(in *sass.Inst) bool {
	switch in.Form.Pipe {
	case sass.PipeCBU, sass.PipeADU, sass.PipeNone:
		return true
	}
	switch in.Op {
	case sass.MEMBAR, sass.ERRBAR, sass.CCTL, sass.CCTLL, sass.ATOM, sass.ATOMG, sass.ATOMS, sass.RED, sass.VOTE, sass.SHFL,
		sass.MATCH, sass.CS2R, sass.S2R, sass.NOP, sass.LEPC, sass.DEPBAR:
		return true
	}
	return transfers(in) || in.Op == sass.CALL
}

// order returns the instructions of a part without fences in a good order: the old one where the new one would not end
// sooner.
func (s *scheduler) order() []item {
	s.link()
	old := make([]int, len(s.items))
	for i := range old {
		old[i] = i
	}
	best := old
	if list := s.list(); s.length(list) < s.length(old) {
		best = list
	}
	items := make([]item, len(best))
	for k, i := range best {
		items[k] = s.items[i]
	}
	return items
}

// length returns the cycles that an order takes until every result is there.
func (s *scheduler) length(order []int) int {
	earliest := make([]int, len(order))
	now, end := 0, 0
	for _, i := range order {
		now = max(now, earliest[i])
		for _, d := range s.after[i] {
			earliest[d.to] = max(earliest[d.to], now+d.cycles)
		}
		end = max(end, now+s.height[i])
		now++
	}
	return max(now, end)
}

// list returns the order of list scheduling.
func (s *scheduler) list() []int {
	n := len(s.items)
	earliest := make([]int, n)
	var ready, list []int
	for i := range n {
		if s.before[i] == 0 {
			ready = append(ready, i)
		}
	}
	for now := 0; len(ready) > 0; now++ {
		best := 0
		for k, i := range ready {
			if s.better(i, ready[best], earliest, now) {
				best = k
			}
		}
		i := ready[best]
		ready = slices.Delete(ready, best, best+1)
		now = max(now, earliest[i])
		list = append(list, i)
		for _, d := range s.after[i] {
			earliest[d.to] = max(earliest[d.to], now+d.cycles)
			if s.before[d.to]--; s.before[d.to] == 0 {
				ready = append(ready, d.to)
			}
		}
	}
	return list
}

// better reports whether to issue a before b: what can issue sooner, then what has the longer chain behind it, then what
// came first.
func (s *scheduler) better(a, b int, earliest []int, now int) bool {
	if x, y := max(earliest[a], now), max(earliest[b], now); x != y {
		return x < y
	}
	if s.height[a] != s.height[b] {
		return s.height[a] > s.height[b]
	}
	return a < b
}

// variableLatency is what a result of variable latency counts in a chain, cycles: between a hit and a miss of L1 for loads
// from global memory, about what shared memory and the other units take on Volta (Jia et al. 2018, tables 3.1 and 4.2).
func variableLatency(p *sass.Inst) int {
	switch {
	case p.Op == sass.LDG || p.Op == sass.LD || p.Op == sass.LDL || p.Form.Pipe == sass.PipeTEX:
		return 200
	case p.Form.Pipe == sass.PipeFP64:
		return 8
	}
	return 22
}

// link finds the dependences between the instructions.
func (s *scheduler) link() {
	n := len(s.items)
	s.after, s.before, s.height = make([][]dependence, n), make([]int, n), make([]int, n)
	for j := range n {
		for i := range j {
			if cycles := s.depends(&s.items[i].inst, &s.items[j].inst); cycles > 0 {
				s.edge(i, j, cycles)
				if k := s.waiter(i, j); k >= 0 {
					s.edge(k, j, 1)
				}
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		for _, d := range s.after[i] {
			s.height[i] = max(s.height[i], d.cycles+s.height[d.to])
		}
	}
}

func (s *scheduler) edge(from, to, cycles int) {
	s.after[from] = append(s.after[from], dependence{to, cycles})
	s.before[to]++
}

// waiter returns the instruction between i, of variable latency, and j that waited for j's sake as well; -1 for none.
func (s *scheduler) waiter(i, j int) int {
	p := &s.items[i].inst
	if !p.Form.Variable || waits(&s.items[j].inst)&counters(p) != 0 {
		return -1
	}
	for k := j - 1; k > i; k-- {
		if w := waits(&s.items[k].inst); w&counters(p) != 0 || w != 0 && counters(p) == 0 {
			return k
		}
	}
	return -1
}

// depends returns how many cycles q must come after p, 0 where it need not.
func (s *scheduler) depends(p, q *sass.Inst) int {
	cycles := 0
	if p.Form.Variable && q.Form.Variable && p.Form.Pipe == q.Form.Pipe {
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

// operandLatency is how long a load or store takes to read its operands, cycles (Huerta et al. 2025, table 2: 9 to 11).
const operandLatency = 11

// latency returns the cycles from p to q, which reads r.
func (s *scheduler) latency(p, q *sass.Inst, r sass.Resource) int {
	switch {
	case p.Form.Variable && p.Control.ReadBarrier >= 0 && r == sass.ResSB+sass.Resource(p.Control.ReadBarrier):
		return operandLatency
	case p.Form.Variable:
		return variableLatency(p)
	case r >= sass.ResSB && r < sass.ResConvBar:
		return s.table.counter
	}
	return s.table.between(p, q, r)
}

// stall derives the stall counts of a block. The last instruction keeps its own, and so do those of variable latency at
// least.
func (s *scheduler) stall(items []item) {
	issue := make([]int, len(items))
	for j := range items {
		q := &items[j].inst
		if j > 0 {
			p := &items[j-1].inst
			least := 1
			if p.Form.Variable || fence(p) {
				least = cycles(p)
			}
			issue[j] = issue[j-1] + least
		}
		for i := max(0, j-s.table.most()); i < j; i++ {
			if p := &items[i].inst; !p.Form.Variable || counters(p)&waits(q) != 0 {
				issue[j] = max(issue[j], issue[i]+s.needed(p, q))
			}
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
}

// needed returns how many cycles q must come after p because of fixed latencies.
func (s *scheduler) needed(p, q *sass.Inst) int {
	needed := 0
	if counters(p)&waits(q) != 0 {
		needed = s.table.counter
	}
	if p.Form.Variable {
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
