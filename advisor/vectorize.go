package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// vectorAccess matches groups of loads or stores of neighbouring words of global or shared memory by one thread, which one instruction of
// 64 or 128 bits could do: it saves the queue's places and the issue slots of all but one. It matches loops too in which neighbouring
// threads could take vectors in place of words, and grids of threads that have an item each.
type vectorAccess struct{}

func (vectorAccess) Name() string { return "vectorized-access" }
func (vectorAccess) Class() Class { return StallElimination }

func (vectorAccess) Match(in *Input) []*Match {
	own := make(map[*cfg.Loop]bool) // loops that wait for what they have stored, which as vectors they would wait for more often
	for n := range in.ownValues() {
		own[in.Loop(n)] = true
	}
	groups := slices.DeleteFunc(in.vectorGroups(), func(g []blamer.Node) bool {
		return own[in.Loop(g[0])] || slices.ContainsFunc(g, in.beginsAnywhere)
	})
	matches := in.asVectors(groups)
	for _, m := range matches {
		if m.Spares = IssueSlots; in.losesSectors() {
			m.Spares |= Sectors // a wide access takes all of a sector at once
		}
		m.Change = &Change{Streams: &Streams{Vectors: groups}}
		m.Suggestions = []string{
			fmt.Sprintf("Each thread accesses neighbouring words one by one at %s. Use float4, int2 or the like (reinterpret_cast<const float4 *>), so that one instruction moves 8 or 16 bytes.",
				in.places(in.bySamples(slices.Concat(groups...)), 6)),
			"The address has to be a multiple of the vector's size: not where a thread's part may begin anywhere.",
		}
		m.Suggestions[0] += in.unrolledWords(groups)
	}
	return slices.Concat(matches, in.testedWords(), in.wideRounds(), in.dealtOut(), in.coarser(true))
}

// unrolledWords says how to keep a loop unrolled in which words of several rounds become vectors: of one with two elements a round by hand compilers unroll
// less (1.43x tried was 1.05x, and 1.49x with a pragma).
func (in *Input) unrolledWords(groups [][]blamer.Node) string {
	for _, g := range groups {
		l, line := in.Loop(g[0]), in.frame(g[0])
		if l == nil || line.Line == 0 || slices.ContainsFunc(g, func(n blamer.Node) bool { return in.frame(n) != line }) {
			continue
		}
		copies := 0
		in.eachInst(g[0].Code, l, func(i int) {
			if n := (blamer.Node{Code: g[0].Code, Inst: i}); in.Inst(n).Op == in.Inst(g[0]).Op && in.frame(n) == line {
				copies++
			}
		})
		if more := copies / len(g); more > 1 {
			return fmt.Sprintf(" At %s they are those of %d rounds, which the compiler has put together: take %d elements a round, and have it put %d of these together (#pragma unroll %d before it, or by hand), behind one test for the end.", in.place(g[0]), copies, len(g), more, more)
		}
	}
	return ""
}

// asVectors collects what is saved where each group of accesses is one.
func (in *Input) asVectors(groups [][]blamer.Node) []*Match {
	saved, late := savedBy(groups), in.issuedLate(groups)
	c := newCollector(in)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		switch share := saved[b.Def]; {
		case share > 0 && b.Def == b.Use && b.Detail == blamer.MemoryThrottle:
			c.addShare(in.kernelScope(), b, share)
		case (b.Detail == blamer.GlobalMemory || b.Detail == blamer.SharedMemory) && b.Def != b.Use && late[b.Def]:
			c.add(in.kernelScope(), b)
		}
	}
	for _, n := range attached(groups) { // an instruction that goes takes its issue and its stall count with it
		if issued := in.codes[n.Code].issued[n.Inst]; issued > 0 {
			c.add(in.kernelScope(), &blamer.Blame{Def: n, Use: n, Detail: blamer.NotSelected, Count: issued})
		}
		for _, b := range in.byUse[n] {
			if b.Detail == blamer.Scheduling || b.Detail == blamer.NotSelected {
				c.add(in.kernelScope(), b)
			}
		}
	}
	return c.finish()
}

// issuedLate returns the loads that another one of their group would do as well and that are issued only after data of the block were
// waited for: theirs would have come with those.
func (in *Input) issuedLate(groups [][]blamer.Node) map[blamer.Node]bool {
	late := make(map[blamer.Node]bool)
	for _, load := range attached(groups) {
		if op := in.Inst(load).Op; (op == sass.LDG || op == sass.LDS) && in.waitsBefore(load) {
			late[load] = true
		}
	}
	return late
}

// waitsBefore reports whether the block uses, before a load, what an earlier load from the same base has brought.
func (in *Input) waitsBefore(load blamer.Node) bool {
	insts, b := in.Module.Codes[load.Code].Insts, in.Block(load)
	own, _ := wordOf(&insts[load.Inst])
	pending := make(map[sass.Resource]bool) // what loads from the same base write
	for i := b.First; i < load.Inst; i++ {
		for _, r := range insts[i].Uses(nil) {
			if pending[r] {
				return true
			}
		}
		if a, ok := wordOf(&insts[i]); ok && a.op == own.op && a.base == own.base {
			for _, r := range insts[i].Defs(nil) {
				pending[r] = true
			}
		}
	}
	return false
}

// vectorGroups returns the accesses that one wide access would do, the one that stands for them first.
func (in *Input) vectorGroups() (groups [][]blamer.Node) {
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		for _, b := range s.graph.Blocks {
			for _, run := range vectorRuns(in.Module.Codes[code].Insts[b.First : b.Last+1]) {
				var group []blamer.Node
				for _, i := range run {
					group = append(group, blamer.Node{Code: code, Inst: b.First + i})
				}
				groups = append(groups, group)
			}
		}
	}
	return groups
}

// savedBy returns, for each access of a group, the share of the group's accesses that a vector would save.
func savedBy(groups [][]blamer.Node) map[blamer.Node]float64 {
	saved := make(map[blamer.Node]float64)
	for _, g := range groups {
		for _, n := range g {
			saved[n] = 1 - 1/float64(len(g))
		}
	}
	return saved
}

// attached returns the accesses that the first of their group would do as well.
func attached(groups [][]blamer.Node) (nodes []blamer.Node) {
	for _, g := range groups {
		nodes = append(nodes, g[1:]...)
	}
	return nodes
}

// A wordAccess is an access of one word of global or shared memory.
type wordAccess struct {
	op     sass.Op
	base   uint8
	scale  uint8 // by which the base is multiplied
	offset int32
	size   int32
}

// vectorRuns finds, in a block, accesses of the same kind and size from the same base whose words make up an aligned vector. The
// base must not change between them.
func vectorRuns(insts []sass.Inst) [][]int {
	var runs [][]int
	open := make(map[wordAccess]int) // with the offset of the vector → run
	for i := range insts {
		in := &insts[i]
		a, ok := wordOf(in)
		if !ok {
			forget(open, in)
			continue
		}
		const vector = 16
		key := a
		key.offset = a.offset &^ (vector - 1)
		if at, found := open[key]; found && !contains(insts, runs[at], a.offset) {
			runs[at] = append(runs[at], i)
		} else {
			open[key] = len(runs)
			runs = append(runs, []int{i})
		}
		forget(open, in)
	}
	var groups [][]int
	for _, r := range runs {
		if len(r) > 1 {
			groups = append(groups, r)
		}
	}
	return groups
}

// forget drops the runs that an instruction ends: those whose base it writes, and all where it orders memory. Loads and stores in
// turns do not end them: the compiler has to keep their order, who knows that they do not overlap need not.
func forget(open map[wordAccess]int, in *sass.Inst) {
	for key := range open {
		if ordersMemory(in.Op) || writesRegister(in, key.base) {
			delete(open, key)
		}
	}
}

func ordersMemory(op sass.Op) bool {
	p := op.Properties()
	return p.Sync == sass.SyncMemory || p.Sync == sass.SyncBlock || p.Flow == sass.FlowCall || isAtomic(op)
}

func contains(insts []sass.Inst, run []int, offset int32) bool {
	for _, i := range run {
		if a, _ := wordOf(&insts[i]); a.offset == offset {
			return true
		}
	}
	return false
}

// wordOf describes an unguarded access of up to 64 bits to global or shared memory.
func wordOf(in *sass.Inst) (wordAccess, bool) {
	if !in.Guard.Always() {
		return wordAccess{}, false
	}
	return guardedWordOf(in)
}

// guardedWordOf describes one under any guard.
func guardedWordOf(in *sass.Inst) (wordAccess, bool) {
	shared := in.Op == sass.LDS || in.Op == sass.STS
	if in.Op != sass.LDG && in.Op != sass.STG && !shared {
		return wordAccess{}, false
	}
	sizes := map[uint16]int32{sass.SizeU8: 1, sass.SizeS8: 1, sass.SizeU16: 2, sass.SizeS16: 2, sass.Size32: 4, sass.Size64: 8}
	size, ok := sizes[in.Mod(sass.Size)]
	if !ok {
		return wordAccess{}, false
	}
	o := in.Address()
	if o == nil || shared && o.UReg != sass.URZ {
		return wordAccess{}, false
	}
	return wordAccess{in.Op, o.Reg, o.Swz, o.Offset, size}, o.Reg != sass.RZ || shared
}

// writesRegister reports whether an instruction writes a register or the one after it.
func writesRegister(in *sass.Inst, reg uint8) bool {
	for _, r := range in.Defs(nil) {
		if r == sass.ResReg+sass.Resource(reg) || r == sass.ResReg+sass.Resource(reg)+1 {
			return true
		}
	}
	return false
}
