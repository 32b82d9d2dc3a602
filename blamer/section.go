package blamer

import (
	"slices"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A section is what slicing needs of one code section: who writes and waits for each resource, and prefix sums along the
// code for path lengths. It is immutable after newSection.
type section struct {
	code  *cubin.Code
	graph *cfg.Graph

	blocks []block
	calls  []int   // by call site: the block that the call ends
	block  []int32 // instruction index → index in blocks, -1 where no block holds it
	rank   []int32 // block → position in a reverse post-order; edges to a lower or equal rank are back edges

	defs      [sass.NumRes][]int32 // instructions that write the resource, by index
	firm      [sass.NumRes][]int32 // unpredicated instructions that read the resource, by index
	waits     [numCounters][]int32 // instructions that wait until a dependence counter is zero, under whatever predicate
	partial   [numCounters][]int32 // those that wait until it is at most a threshold above zero: DEPBAR.LE
	blockDefs []resSet             // by block: resources that its instructions write

	cycles []int64 // sum of the stall counts of all instructions before this one; one element more than instructions
}

// A resSet is a set of resources.
type resSet [(int(sass.NumRes) + 63) / 64]uint64

func (s *resSet) add(r sass.Resource)      { s[r/64] |= 1 << (r % 64) }
func (s *resSet) has(r sass.Resource) bool { return s[r/64]>>(r%64)&1 != 0 }

// newSection indexes a code section.
func newSection(code *cubin.Code, graph *cfg.Graph) *section {
	s := &section{
		code:   code,
		graph:  graph,
		block:  make([]int32, len(code.Insts)),
		cycles: make([]int64, len(code.Insts)+1),
	}
	s.blocks, s.calls = linkedBlocks(graph)
	s.blockDefs = make([]resSet, len(s.blocks))
	for i := range s.block {
		s.block[i] = -1
	}
	for id, b := range s.blocks {
		for i := b.First; i <= b.Last; i++ {
			s.block[i] = int32(id)
		}
	}
	var scratch []sass.Resource
	for i := range code.Insts {
		scratch = s.index(i, scratch)
	}
	s.rank = s.reversePostOrder()
	return s
}

// index enters one instruction into the lists. An instruction whose guard is false always (Volta code begins with
// @!PT SHFL.IDX) writes nothing and reads nothing, but it does wait for its dependence counters.
func (s *section) index(i int, scratch []sass.Resource) []sass.Resource {
	in := &s.code.Insts[i]
	s.cycles[i+1] = s.cycles[i] + issueCycles(in)
	scratch = in.Uses(scratch[:0])
	for _, r := range scratch {
		switch {
		case isCounter(r) && countThreshold(in, r) == 0:
			enter(&s.waits[r-sass.ResSB], i)
		case isCounter(r):
			enter(&s.partial[r-sass.ResSB], i)
		}
		if in.Guard.Always() && countThreshold(in, r) == 0 {
			enter(&s.firm[r], i)
		}
	}
	scratch = in.Defs(scratch[:0])
	for _, r := range scratch {
		if b := s.block[i]; b >= 0 && !in.Guard.Never() {
			enter(&s.defs[r], i)
			s.blockDefs[b].add(r)
		}
	}
	return scratch
}

// enter appends an instruction to a list that it may be the last of already.
func enter(list *[]int32, i int) {
	if n := len(*list); n == 0 || (*list)[n-1] != int32(i) {
		*list = append(*list, int32(i))
	}
}

// issueCycles is the number of cycles that an instruction keeps its warp from issuing the next one: its stall count,
// at least one.
func issueCycles(in *sass.Inst) int64 { return max(1, int64(in.Control.Stall)) }

// numCounters is the number of dependence counters, the paper's virtual barrier registers B0 to B5.
const numCounters = 6

// isCounter reports whether the resource is a dependence counter, a virtual barrier register of the paper.
func isCounter(r sass.Resource) bool { return r >= sass.ResSB && r < sass.ResSB+numCounters }

// lastBefore returns the last element of the ascending list that is below pos and at least first, -1 where there is none.
func lastBefore(list []int32, first, pos int) int {
	i, _ := slices.BinarySearch(list, int32(pos))
	if i == 0 || int(list[i-1]) < first {
		return -1
	}
	return int(list[i-1])
}

// reversePostOrder ranks the blocks of every function by a depth-first search from its entry. Unreachable blocks come
// after all others, in address order, so that every edge has a direction.
func (s *section) reversePostOrder() []int32 {
	rank := make([]int32, len(s.blocks))
	done := make([]bool, len(s.blocks))
	var post []int
	for _, f := range s.graph.Funcs {
		entry := s.block[s.graph.Blocks[f.Entry].First]
		post = s.postOrder(int(entry), done, post)
	}
	next := int32(0)
	for _, b := range slices.Backward(post) {
		rank[b] = next
		next++
	}
	for b := range s.blocks {
		if !done[b] {
			rank[b] = next
			next++
		}
	}
	return rank
}

// postOrder appends the blocks reachable from entry that are not done yet. It keeps its own stack: machine code may be
// of any depth.
func (s *section) postOrder(entry int, done []bool, post []int) []int {
	if done[entry] {
		return post
	}
	type frame struct{ block, next int }
	done[entry] = true
	stack := []frame{{block: entry}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		succs := s.blocks[top.block].Succs
		if top.next == len(succs) {
			post = append(post, top.block)
			stack = stack[:len(stack)-1]
			continue
		}
		b := succs[top.next]
		top.next++
		if !done[b] {
			done[b] = true
			stack = append(stack, frame{block: b})
		}
	}
	return post
}
