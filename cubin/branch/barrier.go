package branch

import (
	"fmt"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// A meeting is a barrier of the source. The compiler may have copied it.
type meeting struct {
	at   Place
	node int
	bit  int // number of its place in the source
}

// A barrierFinder finds which barriers threads come to next.
type barrierFinder struct {
	*slicer
	meetings []meeting
	first    map[int]int // node → its first meeting
	next     [][]uint64  // by node: the barriers that threads come to next from its beginning
	ends     []bool      // by node: threads may end without a barrier
	works    []bool      // by node: they may do something before they come to a barrier or to their end
	waits    []bool      // by node: they may wait for other lanes before they come to one
}

// barrierWarnings finds branches that part the threads of a block so that they come to different barriers next. Threads
// that end at once are no matter: a barrier waits for those that have not ended (CUDA C++ Programming Guide, section on
// synchronization functions), and the guard of a kernel's body is such a branch.
func (s *slicer) barrierWarnings(module *cubin.File, varying []bool) []Warning {
	f := &barrierFinder{slicer: s, first: make(map[int]int)}
	f.findMeetings(module)
	if len(f.meetings) == 0 {
		return nil
	}
	f.solve()
	list := f.guarded(varying)
	warned := make(map[int]bool) // by meeting
	for _, node := range s.order {
		if !s.varies(node, varying) {
			continue
		}
		for _, i := range f.apart(node) {
			if m := f.meetings[i]; !warned[i] {
				warned[i] = true
				n := s.super.Nodes[node]
				list = append(list, Warning{Kind: f.kind(m, node), Code: m.at.Code, Inst: m.at.Inst, Branch: Place{n.Graph, n.Last}})
			}
		}
	}
	return list
}

// guarded finds barriers under predicates that differ between the threads of a block: short branches become such.
func (f *barrierFinder) guarded(varying []bool) []Warning {
	var list []Warning
	for _, m := range f.meetings {
		if v, ok := f.guards[m.at]; ok && varying[v] && !f.endsBehind(m) {
			list = append(list, Warning{Kind: DivergentBarrier, Code: m.at.Code, Inst: m.at.Inst, Branch: m.at})
		}
	}
	return list
}

// endsBehind reports whether threads that a guard keeps from a barrier do nothing more but end.
func (f *barrierFinder) endsBehind(m meeting) bool {
	n := f.super.Nodes[m.node]
	insts := f.graphs[n.Graph].Code.Insts
	guard := insts[m.at.Inst].Guard
	for i := m.at.Inst + 1; i <= n.Last; i++ {
		if in := &insts[i]; in.Guard != guard && acts(in) {
			return false
		}
	}
	for _, to := range f.super.Shape.Succs[m.node] {
		if to != f.super.Shape.Exit && !f.endsAtOnce(to) {
			return false
		}
	}
	return true
}

// findMeetings lists the barriers that all threads of a block wait at.
func (f *barrierFinder) findMeetings(module *cubin.File) {
	bits := make(map[string]int)
	for _, node := range f.order {
		insts := f.insts(node)
		for i := range insts {
			if !blockBarrier(&insts[i]) {
				continue
			}
			n := f.super.Nodes[node]
			name := source(module.Codes[n.Graph], insts[i].PC)
			if _, ok := bits[name]; !ok {
				bits[name] = len(bits)
			}
			if _, ok := f.first[node]; !ok {
				f.first[node] = len(f.meetings)
			}
			f.meetings = append(f.meetings, meeting{at: Place{n.Graph, n.First + i}, node: node, bit: bits[name]})
		}
	}
	f.next = make([][]uint64, f.super.Shape.Len())
	for node := range f.next {
		f.next[node] = make([]uint64, (len(bits)+63)/64)
	}
	f.ends, f.works, f.waits = make([]bool, len(f.next)), make([]bool, len(f.next)), make([]bool, len(f.next))
}

// blockBarrier reports whether an instruction waits for all threads of the block. One with a number of threads is for some
// of them, as the barriers of specialised warps are.
func blockBarrier(in *sass.Inst) bool {
	if in.Op != sass.BAR || in.Guard.Never() {
		return false
	}
	switch in.Mod(sass.BarMode) {
	case sass.BarSYNC, sass.BarRED, sass.BarSYNCALL:
	default:
		return false
	}
	return len(in.Operands) < 2 || !in.Operands[1].Source || in.Operands[1].Kind == sass.KindImm && in.Operands[1].Imm == 0 || in.Operands[1].Kind == sass.KindNone
}

// source names the place of an instruction in the source, with the calls that it was inlined by; its address where that is
// unknown.
func source(code *cubin.Code, pc uint64) string {
	frames := code.Frames(pc)
	if len(frames) == 0 || frames[0].Line == 0 {
		return fmt.Sprintf("%s+%#x", code.Name, pc)
	}
	name := ""
	for _, f := range frames {
		name += fmt.Sprintf("%s:%d ", f.File, f.Line)
	}
	return name
}

// solve follows the ways from each node to the next barriers.
func (f *barrierFinder) solve() {
	for changed := true; changed; {
		changed = false
		for k := len(f.order) - 1; k >= 0; k-- {
			changed = f.step(f.order[k]) || changed
		}
	}
}

// step works out one node from those behind it, and reports whether anything was new.
func (f *barrierFinder) step(node int) bool {
	before := [3]bool{f.ends[node], f.works[node], f.waits[node]}
	f.look(node)
	if i, ok := f.first[node]; ok {
		m := f.meetings[i]
		old := f.next[node][m.bit/64]
		f.next[node][m.bit/64] |= 1 << (m.bit % 64)
		return old != f.next[node][m.bit/64] || before != [3]bool{f.ends[node], f.works[node], f.waits[node]}
	}
	changed := false
	for _, to := range f.super.Shape.Succs[node] {
		if to == f.super.Shape.Exit {
			f.ends[node] = true
			continue
		}
		f.ends[node] = f.ends[node] || f.ends[to]
		f.works[node] = f.works[node] || f.works[to]
		f.waits[node] = f.waits[node] || f.waits[to]
		for w, set := range f.next[to] {
			if set&^f.next[node][w] != 0 {
				f.next[node][w] |= set
				changed = true
			}
		}
	}
	return changed || before != [3]bool{f.ends[node], f.works[node], f.waits[node]}
}

// look notes what the instructions of a node do before its first barrier.
func (f *barrierFinder) look(node int) {
	for i := range f.insts(node) {
		in := &f.insts(node)[i]
		if blockBarrier(in) {
			return
		}
		f.waits[node] = f.waits[node] || in.Op == sass.BSYNC
		f.works[node] = f.works[node] || acts(in)
	}
}

// acts reports whether an instruction does more than lead threads to their end.
func acts(in *sass.Inst) bool {
	switch in.Op {
	case sass.EXIT, sass.BRA, sass.NOP, sass.BREAK, sass.BSSY, sass.BSYNC, sass.BMOV, sass.YIELD, sass.WARPSYNC:
		return false
	}
	return !in.Guard.Never()
}

// apart returns the meetings that some threads that part at a node come to next and others do not.
func (f *barrierFinder) apart(node int) []int {
	var list []int
	succs := f.super.Shape.Succs[node]
	for i, m := range f.meetings {
		has := func(to int) bool { return to != f.super.Shape.Exit && f.next[to][m.bit/64]>>(m.bit%64)&1 != 0 }
		comes, misses := false, false
		for _, to := range succs {
			if has(to) {
				comes = comes || f.reaches(to, m.node)
			} else if to != f.super.Shape.Exit {
				misses = misses || !f.endsAtOnce(to) || f.hangs(m, to)
			}
		}
		if comes && misses {
			list = append(list, i)
		}
	}
	return list
}

// endsAtOnce reports whether threads do nothing more from a node on but end.
func (f *barrierFinder) endsAtOnce(node int) bool {
	for _, set := range f.next[node] {
		if set != 0 {
			return false
		}
	}
	return f.ends[node] && !f.works[node]
}

// reaches reports whether control can come from one node to another without a barrier before it.
func (f *barrierFinder) reaches(from, to int) bool {
	seen := map[int]bool{from: true}
	for work := []int{from}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if n == to {
			return true
		}
		if _, barrier := f.first[n]; barrier {
			continue
		}
		for _, next := range f.super.Shape.Succs[n] {
			if next != f.super.Shape.Exit && !seen[next] {
				seen[next] = true
				work = append(work, next)
			}
		}
	}
	return false
}

// kind returns what the warning of a barrier is about that threads which part at a node do not all come to.
func (f *barrierFinder) kind(m meeting, node int) WarningKind {
	for _, to := range f.super.Shape.Succs[node] {
		if to != f.super.Shape.Exit && f.hangs(m, to) {
			return WarpBarrier
		}
	}
	return DivergentBarrier
}

// hangs reports whether lanes that go on at a node wait for those of their warp that wait for them before a barrier.
func (f *barrierFinder) hangs(m meeting, node int) bool {
	return f.next[node][m.bit/64]>>(m.bit%64)&1 == 0 && f.waits[node] && f.synchronized(m)
}

// synchronized reports whether a WARPSYNC stands before a barrier.
func (f *barrierFinder) synchronized(m meeting) bool {
	insts := f.graphs[m.at.Code].Code.Insts[f.super.Nodes[m.node].First:m.at.Inst]
	for i := range insts {
		if in := &insts[i]; in.Op == sass.WARPSYNC && in.Guard.Always() {
			return true
		}
	}
	return false
}
