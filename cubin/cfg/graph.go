// Package cfg finds the structure of machine code: basic blocks, functions and the calls between them, dominators,
// post-dominators and loop nests. Blocks and edges are those that nvdisasm -bbcfg draws. Begin with [Build].
package cfg

import "gpa/cubin"

// A Graph is the control-flow graph of one code section.
type Graph struct {
	Code    *cubin.Code
	Blocks  []*Block // by address
	Funcs   []*Func  // one for each function of the section, by address
	Loops   []*Loop  // outer before inner, then by address
	blockOf []int    // instruction index → block id
}

// A Block is a maximal run of instructions with one entry and one exit. First and Last are instruction indices in the
// section; Last is included.
type Block struct {
	ID          int
	First, Last int
	Succs       []int // fall-through first, then taken targets
	Preds       []int
	Func        int   // index in Graph.Funcs
	Loop        *Loop // innermost loop, nil outside loops
	Idom        int   // immediate dominator in its function, -1 for entries and unreachable blocks
	Ipdom       int   // immediate post-dominator in its function, -1 where that is the exit
}

// A Func is a function's part of the graph.
type Func struct {
	Function *cubin.Function
	Entry    int    // block id
	Blocks   []int  // by address
	Calls    []Call // by address
}

// A Call is a call site.
type Call struct {
	Inst    int    // index of the CALL
	Callees []int  // indices in Graph.Funcs; empty where unknown
	Extern  string // external function called, if any
}

// A Loop is a natural loop: all blocks that reach a back edge of its header without leaving it. Irreducible regions
// make no loop of their own.
type Loop struct {
	Header int
	Blocks []int // by address, nested loops included
	Parent *Loop // enclosing loop, nil for an outermost one
	Depth  int   // 1 for an outermost loop
	Func   int
}
