package branch

import (
	"fmt"
	"slices"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// A meeting is a barrier of the source. The compiler may have copied it.
type meeting struct {
	at   Place
	node int
	bit  int // number of its place in the source
}

// places are sets of barriers: of the source, and of their copies in the code.
type places struct{ source, copies bits }

// A bits is a set of small numbers.
type bits []uint64

func (b bits) has(n int) bool { return b[n/64]>>(n%64)&1 != 0 }
func (b bits) add(n int)      { b[n/64] |= 1 << (n % 64) }

// join adds the elements of another set, and reports whether any was new.
func (b bits) join(more bits) bool {
	changed := false
	for w, x := range more {
		if x&^b[w] != 0 {
			b[w] |= x
			changed = true
		}
	}
	return changed
}

// A barrierFinder finds which barriers threads come to next.
type barrierFinder struct {
	*slicer
	meetings []meeting
	first    map[int]int // node → its first meeting
	succs    [][]int     // by node: where threads go, past calls of functions that have no barriers
	next     []places    // by node: the barriers that threads come to next from its beginning
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
	f.pastCalls()
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

// pastCalls finds where threads go where functions without barriers are no part of the way: whoever calls them comes back to where they called, and not to
// another call of the same function, as the compiler's helpers have many.
func (f *barrierFinder) pastCalls() {
	f.succs = slices.Clone(f.super.Shape.Succs)
	returns := func(node int) bool {
		_, calls := f.super.Behind(node)
		n := f.super.Nodes[node]
		return !calls && f.graphs[n.Graph].Code.Insts[n.Last].Op == sass.RET
	}
	free := make(map[int]bool) // by the node that a function begins with: it and those that it calls have no barriers
	barrierFree := func(entry int) bool {
		if known, met := free[entry]; met {
			return known
		}
		inside, barriers := make(map[int]bool), false
		for work := []int{entry}; len(work) > 0 && !barriers; {
			at := work[len(work)-1]
			if work = work[:len(work)-1]; inside[at] || at == f.super.Shape.Exit {
				continue
			}
			inside[at] = true
			_, barriers = f.first[at]
			if !returns(at) {
				work = append(work, f.super.Shape.Succs[at]...)
			}
			if back, calls := f.super.Behind(at); calls {
				work = append(work, back)
			}
		}
		for at := range inside {
			if !barriers && returns(at) {
				f.succs[at] = nil
			}
		}
		free[entry] = !barriers
		return !barriers
	}
	for _, node := range f.order {
		behind, calls := f.super.Behind(node)
		if !calls {
			continue
		}
		past := slices.DeleteFunc(slices.Clone(f.super.Shape.Succs[node]), func(to int) bool { return to == behind || barrierFree(to) })
		if len(past) < len(f.super.Shape.Succs[node]) {
			past = append(past, behind)
		}
		f.succs[node] = past
	}
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
	for _, to := range f.succs[m.node] {
		if to != f.super.Shape.Exit && !f.endsAtOnce(to) {
			return false
		}
	}
	return true
}

// findMeetings lists the barriers that all threads of a block wait at.
func (f *barrierFinder) findMeetings(module *cubin.File) {
	names := make(map[string]int)
	for _, node := range f.order {
		insts := f.insts(node)
		for i := range insts {
			if !blockBarrier(&insts[i]) {
				continue
			}
			n := f.super.Nodes[node]
			name := source(module.Codes[n.Graph], insts[i].PC)
			if _, ok := names[name]; !ok {
				names[name] = len(names)
			}
			if _, ok := f.first[node]; !ok {
				f.first[node] = len(f.meetings)
			}
			f.meetings = append(f.meetings, meeting{at: Place{n.Graph, n.First + i}, node: node, bit: names[name]})
		}
	}
	f.next = make([]places, f.super.Shape.Len())
	for node := range f.next {
		f.next[node] = places{make(bits, (len(names)+63)/64), make(bits, (len(f.meetings)+63)/64)}
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
	next, changed := f.next[node], false
	if i, ok := f.first[node]; ok {
		changed = !next.copies.has(i)
		next.source.add(f.meetings[i].bit)
		next.copies.add(i)
		return changed || before != [3]bool{f.ends[node], f.works[node], f.waits[node]}
	}
	for _, to := range f.succs[node] {
		if to == f.super.Shape.Exit {
			f.ends[node] = true
			continue
		}
		f.ends[node] = f.ends[node] || f.ends[to]
		f.works[node] = f.works[node] || f.works[to]
		f.waits[node] = f.waits[node] || f.waits[to]
		changed = next.source.join(f.next[to].source) || changed
		changed = next.copies.join(f.next[to].copies) || changed
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
	switch p := in.Op.Properties(); {
	case in.Op == sass.NOP, p.Flow == sass.FlowExit, p.Flow == sass.FlowJump, p.Sync == sass.SyncConvergence, p.Sync == sass.SyncWarp:
		return false
	}
	return !in.Guard.Never()
}

// apart returns the meetings that some threads that part at a node come to next and others do not.
func (f *barrierFinder) apart(node int) []int {
	var succs []int
	differ := false
	for _, to := range f.succs[node] {
		if to != f.super.Shape.Exit {
			succs = append(succs, to)
			differ = differ || !slices.Equal(f.next[to].source, f.next[succs[0]].source)
		}
	}
	if !differ {
		return nil
	}
	var list []int
	for i, m := range f.meetings {
		comes, misses := false, false
		for _, to := range succs {
			if f.next[to].source.has(m.bit) {
				comes = comes || f.next[to].copies.has(i)
			} else {
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
	return f.ends[node] && !f.works[node] && !slices.ContainsFunc(f.next[node].source, func(word uint64) bool { return word != 0 })
}

// kind returns what the warning of a barrier is about that threads which part at a node do not all come to.
func (f *barrierFinder) kind(m meeting, node int) WarningKind {
	for _, to := range f.succs[node] {
		if to != f.super.Shape.Exit && f.hangs(m, to) {
			return WarpBarrier
		}
	}
	return DivergentBarrier
}

// hangs reports whether lanes that go on at a node wait for those of their warp that wait for them before a barrier.
func (f *barrierFinder) hangs(m meeting, node int) bool {
	return !f.next[node].source.has(m.bit) && f.waits[node] && f.synchronized(m)
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
