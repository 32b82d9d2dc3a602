// Package cfg finds the structure of machine code: basic blocks, functions and the calls between them, dominators,
// post-dominators and loop nests. Blocks and edges are those that nvdisasm -bbcfg draws. Begin with [Build].
package cfg

import (
	"slices"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// A Graph is the control-flow graph of one code section.
type Graph struct {
	Code    *cubin.Code
	Blocks  []*Block // by address
	Funcs   []*Func  // one for each function of the section, by address
	Loops   []*Loop  // outer before inner, then by address
	blockOf []int    // instruction index → block id, -1 for padding
	dom     tree     // dominators, by block id
	pdom    tree     // post-dominators, by block id
}

// A Block is a run of instructions with one entry and one exit. First and Last are instruction indices in the section;
// Last is included. A block ends at a branch, before an instruction that something jumps to or names (a BSSY, the table
// of an indirect branch), and at the end of its function. A CALL does not end it: control comes back.
type Block struct {
	ID          int
	First, Last int
	Succs       []int // fall-through first, then taken targets
	Preds       []int
	Exits       bool  // control may leave the function at its end: EXIT, RET, an indirect branch with unknown targets
	Func        int   // index in Graph.Funcs
	Loop        *Loop // innermost loop, nil outside loops
	Idom        int   // immediate dominator in its function, -1 for entries and unreachable blocks
	Ipdom       int   // immediate post-dominator in its function, -1 where that is the exit or the block never exits
}

// A Func is a function's part of the graph.
type Func struct {
	Function *cubin.Function
	Entry    int    // block id
	Blocks   []int  // by address
	Calls    []Call // by address
}

// A Call is a call site. Of a call through a register the callees are those that may be meant, as far as the file
// tells; calls may share their lists.
type Call struct {
	Inst    int               // index of the CALL
	Callees []int             // indices in Graph.Funcs; empty where unknown
	Remote  []*cubin.Function // callees in other sections
	Extern  string            // external function called, if any
}

// A Loop is a natural loop: all blocks that reach a back edge of its header without leaving it. Irreducible regions
// make no loop of their own.
type Loop struct {
	Header int
	Blocks []int // by address, nested loops included
	Parent *Loop // enclosing loop, nil for an outermost one
	Depth  int   // 1 for an outermost loop
	Func   int
	Gather bool // no loop of the source: it yields until no more lanes join the warp, before a back edge (sm_70)
}

// Build finds the structure of a code section of file. An instruction that did not decode is taken for one that falls
// through. The error says that loops are nested deeper than any compiler nests them.
func Build(file *cubin.File, code *cubin.Code) (*Graph, error) {
	b := builder{graph: &Graph{Code: code}, places: newPlaces(file, code)}
	b.readFlows()
	b.splitBlocks()
	b.linkBlocks()
	b.findCalls()
	g := b.graph
	g.dominate()
	if err := g.findLoops(); err != nil {
		return nil, err
	}
	return g, nil
}

// Block returns the block of an instruction of the section, nil for padding, which no control comes to.
func (g *Graph) Block(inst int) *Block {
	if id := g.blockOf[inst]; id >= 0 {
		return g.Blocks[id]
	}
	return nil
}

// Func returns the function of an instruction, nil for padding, which no control comes to.
func (g *Graph) Func(inst int) *Func {
	if b := g.Block(inst); b != nil {
		return g.Funcs[b.Func]
	}
	return nil
}

// InnermostLoop returns the innermost loop around an instruction, nil where there is none.
func (g *Graph) InnermostLoop(inst int) *Loop {
	if b := g.Block(inst); b != nil {
		return b.Loop
	}
	return nil
}

// Reachable reports whether control can come to a block from the entry of its function.
func (g *Graph) Reachable(block int) bool { return g.dom.has(block) }

// Dominates reports whether every path from the function's entry to instruction b goes through instruction a; an
// instruction dominates itself. Instructions of different functions and unreachable ones do not dominate each other.
func (g *Graph) Dominates(a, b int) bool {
	x, y := g.blockOf[a], g.blockOf[b]
	if x >= 0 && x == y {
		return a <= b
	}
	return g.sameFunc(x, y) && g.dom.above(x, y)
}

// PostDominates reports whether every path from instruction b to the function's exit goes through instruction a; an
// instruction post-dominates itself. Instructions that never come to the exit have no post-dominators outside their
// block.
func (g *Graph) PostDominates(a, b int) bool {
	x, y := g.blockOf[a], g.blockOf[b]
	if x >= 0 && x == y {
		return a >= b
	}
	return g.sameFunc(x, y) && g.pdom.above(x, y)
}

// sameFunc reports whether two blocks, -1 for padding, are of one function. The trees of functions use the same numbers.
func (g *Graph) sameFunc(x, y int) bool {
	return x >= 0 && y >= 0 && g.Blocks[x].Func == g.Blocks[y].Func
}

// Contains reports whether a block belongs to the loop.
func (l *Loop) Contains(block int) bool {
	_, ok := slices.BinarySearch(l.Blocks, block)
	return ok
}

// Insts returns the instructions of a block.
func (g *Graph) Insts(b *Block) []sass.Inst { return g.Code.Insts[b.First : b.Last+1] }
