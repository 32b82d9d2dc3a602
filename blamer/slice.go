package blamer

import (
	"slices"

	"gpa/cubin/sass"
)

// Limits of the search along predicated definitions. Code made by compilers stays far below them; beyond them the
// search stops and finds fewer sources, it never grows without bound.
const (
	maxPredicatedDefs = 8 // predicated definitions on one path, as in the paper's own tool
	maxStatesPerBlock = 4 // mean number of predicate states in which a block is searched
)

// A dependency says that instruction use of a section reads what instruction def of it wrote.
type dependency struct {
	def, use int
	res      sass.Resource
}

// A slicer finds immediate dependency sources by searching backward. Its scratch memory is reused from one search to
// the next.
type slicer struct {
	*section
	work    []searchState
	visited []uint32      // by block: the search that reached its end with no condition
	states  []blockStates // by block: the same for searches under conditions and in callees
	total   int           // number of states of the current search
	stacks  contexts
	found   []uint32 // by instruction: the search that found it as a definition
	search  uint32   // number of the current search
	uses    []sass.Resource
	plain   bool // the rules of the paper: see searchBlock
}

// A searchKey is what two paths that reach the end of a block must share to have the same future.
type searchKey struct {
	block int32
	cover condSet
	skip  uint8
	ctx   int32 // the calls that the path is in, by their returns
}

// blockStates are the states in which a search has reached the end of a block.
type blockStates struct {
	search uint32
	keys   []searchKey
}

// A searchState is a path that the search is on: it goes on before instruction pos of the block.
type searchState struct {
	searchKey
	pos   int
	depth uint8 // predicated definitions so far
}

func newSlicer(s *section) *slicer {
	return &slicer{
		section: s,
		visited: make([]uint32, len(s.blocks)),
		states:  make([]blockStates, len(s.blocks)),
		found:   make([]uint32, len(s.code.Insts)),
	}
}

// dependencies appends the immediate dependency sources of an instruction over every resource that it uses, before
// pruning. Convergence barriers are not followed: to wait at one is to wait for other threads, not for a result.
func (s *slicer) dependencies(use int, deps []dependency) []dependency {
	in := &s.code.Insts[use]
	s.uses = in.Uses(s.uses[:0])
	for i, r := range s.uses {
		if in.Guard.Never() && !isCounter(r) || r >= sass.ResConvBar || contains(s.uses[:i], r) {
			continue
		}
		deps = s.slice(use, r, deps)
	}
	if s.plain {
		return deps
	}
	return s.throughGroups(deps)
}

func contains(list []sass.Resource, r sass.Resource) bool {
	for _, x := range list {
		if x == r {
			return true
		}
	}
	return false
}

// slice searches backward from use for the definitions of one resource. Each path ends where the conditions of the
// definitions met on it cover the condition under which the resource is read, at the kernel's entry, or where an
// earlier path was in the same state.
func (s *slicer) slice(use int, r sass.Resource, deps []dependency) []dependency {
	if s.block[use] < 0 || len(s.defs[r]) == 0 {
		return deps
	}
	in := &s.code.Insts[use]
	cond := readCondition(in, r)
	s.search++
	s.total = 0
	start := searchKey{block: s.block[use], skip: countThreshold(in, r)}
	s.work = append(s.work[:0], searchState{searchKey: start, pos: use})
	for len(s.work) > 0 {
		st := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		var open bool
		if st, deps, open = s.searchBlock(use, r, cond, st, deps); open {
			s.spread(st, r)
		}
	}
	return deps
}

// searchBlock follows a path back to the start of its block. It returns the state there and whether the path goes on.
//
// A dependence counter is not overwritten by who uses it next: it counts all that is outstanding, and who waits for it waits
// for all of that. So its search goes on to the last instruction that waited for the counter. Where a threshold lets some
// be outstanding, results come in order and the last one that has to be there is the source. The paper takes the counter for
// a register, whose last writer is the only source.
func (s *slicer) searchBlock(use int, r sass.Resource, cond condSet, st searchState, deps []dependency) (searchState, []dependency, bool) {
	threshold := countThreshold(&s.code.Insts[use], r) > 0
	first := s.blocks[st.block].First
	for {
		def, waited := -1, -1
		if s.blockDefs[st.block].has(r) {
			def = lastBefore(s.defs[r], first, st.pos)
		}
		counts := isCounter(r) && !s.plain && !threshold
		if counts {
			waited = lastBefore(s.waits[r-sass.ResSB], first, st.pos)
		}
		if waited > def {
			return st, deps, false
		}
		if def < 0 {
			st.cover = s.forget(st.cover, cond, first, st)
			return st, deps, true
		}
		st.cover = s.forget(st.cover, cond, def+1, st)
		st.pos = def
		guard := s.code.Insts[def].Guard
		if st.skip > 0 { // younger than what the threshold waits for
			if guard.Always() {
				st.skip--
			}
			continue
		}
		if s.found[def] != s.search {
			s.found[def] = s.search
			deps = append(deps, dependency{def, use, r})
		}
		if counts {
			if waited == def {
				return st, deps, false
			}
			continue
		}
		st.cover |= condOf(guard)
		st.depth++
		if guard.Always() || st.cover.covers(cond) || st.depth > maxPredicatedDefs {
			return st, deps, false
		}
	}
}

// forget drops the conditions on predicates that are written between the instructions first and st.pos of a block: above
// such a write the same name is another predicate.
func (s *slicer) forget(cover, cond condSet, first int, st searchState) condSet {
	if cover|cond == 0 {
		return cover
	}
	cover = s.forgetFile(cover, cond, sass.ResPred, first, st)
	return s.forgetFile(cover, cond, sass.ResUPred, first, st)
}

func (s *slicer) forgetFile(cover, cond condSet, file sass.Resource, first int, st searchState) condSet {
	for r := file; r < file+predConds; r++ {
		both := predOf(r)
		if (cover|cond)&both == 0 || !s.blockDefs[st.block].has(r) || lastBefore(s.defs[r], first, st.pos) < 0 {
			continue
		}
		cover &^= both
		if cond&both != 0 {
			cover |= 1 << staleUse
		}
	}
	return cover
}

// spread continues a path in the predecessors of its block.
func (s *slicer) spread(st searchState, r sass.Resource) {
	b := &s.blocks[st.block]
	for _, p := range b.yields {
		if next := st; isCounter(r) && !s.plain {
			next.block = int32(p)
			s.enter(next)
		}
	}
	for i, p := range b.Preds {
		next := st
		next.block = int32(p)
		if s.cross(&next, b.via[i]) {
			s.enter(next)
		}
	}
}

// enter continues a path at the end of a block, where it is the first in its state.
func (s *slicer) enter(st searchState) {
	if s.visit(st.searchKey) {
		st.pos = s.blocks[st.block].Last + 1
		s.work = append(s.work, st)
	}
}

// cross takes a path over an edge and reports whether it can go there: out of a callee only to the call by whose return it came in.
// At the limit of depth it passes the call by, and so do the rules of the paper.
func (s *slicer) cross(st *searchState, via int32) bool {
	switch {
	case s.plain && via > 0:
		st.block = int32(s.calls[via])
	case s.plain && via < 0:
		return false
	case via > 0:
		if ctx, ok := s.stacks.enter(st.ctx, via); ok {
			st.ctx = ctx
		} else {
			st.block = int32(s.calls[via])
		}
	case via < 0:
		ctx, ok := s.stacks.leave(st.ctx, -via)
		st.ctx = ctx
		return ok
	}
	return true
}

// visit reports whether the end of a block is reached in that state for the first time.
func (s *slicer) visit(k searchKey) bool {
	if k.cover == 0 && k.skip == 0 && k.ctx == 0 {
		first := s.visited[k.block] != s.search
		s.visited[k.block] = s.search
		return first
	}
	b := &s.states[k.block]
	if b.search != s.search {
		b.search, b.keys = s.search, b.keys[:0]
	}
	if slices.Contains(b.keys, k) || s.total >= maxStatesPerBlock*len(s.blocks) {
		return false
	}
	b.keys = append(b.keys, k)
	s.total++
	return true
}

// readCondition returns the condition under which an instruction reads a resource. Guards and dependence counters are
// read whatever the guard says.
func readCondition(in *sass.Inst, r sass.Resource) condSet {
	cond := condOf(in.Guard)
	if isCounter(r) || cond&predOf(r) != 0 {
		return 0
	}
	return cond
}

// countThreshold returns how many of the youngest definitions of a dependence counter may still be outstanding when the
// instruction issues: n of DEPBAR.LE SBx, n; 0 of a wait mask.
func countThreshold(in *sass.Inst, r sass.Resource) uint8 {
	if in.Op != sass.DEPBAR || !isCounter(r) || in.Control.WaitMask>>(r-sass.ResSB)&1 != 0 {
		return 0
	}
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == sass.KindScoreboard && o.Reg == uint8(r-sass.ResSB) && i+1 < len(in.Operands) {
			return uint8(min(in.Operands[i+1].Imm, 63)) // the counters have six bits
		}
	}
	return 0
}
