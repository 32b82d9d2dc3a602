package rewrite

import (
	"fmt"
	"slices"

	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// An origin says what a node of the graph that is restructured stands for.
type origin struct {
	block *cfg.Block
	exit  bool // not the block, but the EXIT or RET at its end where that is conditional
	test  int  // not the block, but the number of a test of an indirect branch, from 1 on
	token uint64
}

// A lowerer makes the new code of one function.
type lowerer struct {
	maker
	graph  *cfg.Graph
	fn     *cfg.Func
	kernel bool
	tables bool           // indirect branches stay
	nodes  []origin       // by node of the shape
	firsts map[int]int    // block id → node
	graphs *Structured    // result of the transformation
	flags  int            // first register of the loops' flags
	nop    item           // filler
	tests  map[int]origin // by piece: what its test, made last, compares
	gather map[int]bool   // ids of blocks that only gather the lanes of a warp
	body   *body
}

// newLowerer makes the shape of a function: its blocks, a node for each conditional exit, and, unless tables are kept, the
// tests that take the place of indirect branches.
func newLowerer(m maker, g *cfg.Graph, f *cfg.Func, kernel, tables bool) (*lowerer, *cfg.Shape, error) {
	if in := collective(g, f); in != nil {
		return nil, nil, fmt.Errorf("lanes are called together by the place of the code at 0x%x (%s)", in.PC, in.Text())
	}
	l := &lowerer{maker: m, graph: g, fn: f, kernel: kernel, tables: tables, firsts: make(map[int]int), tests: make(map[int]origin), gather: gatherBlocks(g, f)}
	var err error
	if l.nop, err = m.make(1, "NOP"); err != nil {
		return nil, nil, err
	}
	for i, id := range f.Blocks {
		l.nodes = append(l.nodes, origin{block: g.Blocks[id]})
		l.firsts[id] = i
	}
	s := &cfg.Shape{Entry: l.firsts[f.Entry], Succs: make([][]int, len(f.Blocks))}
	s.Exit = l.node(s, origin{})
	for i, id := range f.Blocks {
		if err := l.link(s, i, g.Blocks[id]); err != nil {
			return nil, nil, err
		}
	}
	return l, s, nil
}

// collective returns the first WARPSYNC.COLLECTIVE of a function. The code between it and ENDCOLLECTIVE, with the convergence
// barrier around it, belongs together as the compiler has placed it.
func collective(g *cfg.Graph, f *cfg.Func) *sass.Inst {
	for _, id := range f.Blocks {
		insts := g.Insts(g.Blocks[id])
		for i := range insts {
			if insts[i].Op == sass.ENDCOLLECTIVE || insts[i].Mod(sass.Collective) != 0 {
				return &insts[i]
			}
		}
	}
	return nil
}

func (l *lowerer) node(s *cfg.Shape, o origin) int {
	for len(s.Succs) < len(l.nodes) {
		s.Succs = append(s.Succs, nil)
	}
	l.nodes = append(l.nodes, o)
	s.Succs = append(s.Succs, nil)
	return len(s.Succs) - 1
}

// link makes the edges of a block, fall-through first.
func (l *lowerer) link(s *cfg.Shape, node int, b *cfg.Block) error {
	last := &l.graph.Code.Insts[b.Last]
	var succs []int
	leaves := b.Exits
	for _, to := range b.Succs {
		if k, ok := l.firsts[to]; ok {
			succs = append(succs, k)
		} else {
			leaves = true
		}
	}
	if l.gather[b.ID] {
		s.Succs[node] = succs[:1]
		for _, to := range succs {
			if !b.Loop.Contains(l.nodes[to].block.ID) {
				s.Succs[node][0] = to
			}
		}
		return nil
	}
	if l.keepsTable(last) && !leaves && len(succs) > 0 {
		s.Succs[node] = succs
		return nil
	}
	if last.Op.Properties().Flow == sass.FlowIndirect {
		return l.linkTests(s, node, b, succs, leaves)
	}
	switch {
	case leaves && len(succs) == 0:
		succs = []int{s.Exit}
	case leaves:
		exit := l.node(s, origin{block: b, exit: true})
		s.Succs[exit] = []int{s.Exit}
		succs = append(succs[:1], exit)
	}
	s.Succs[node] = succs
	return nil
}

// keepsTable reports whether an instruction is an indirect branch that stays one.
func (l *lowerer) keepsTable(in *sass.Inst) bool {
	return l.tables && in.Op == sass.BRX && in.Guard.Always()
}

// linkTests makes the chain of tests that stands for an indirect branch through a table. The register tells the targets
// apart: it still holds what the table says, the distance to the target in the original code.
func (l *lowerer) linkTests(s *cfg.Shape, node int, b *cfg.Block, succs []int, leaves bool) error {
	last := &l.graph.Code.Insts[b.Last]
	if leaves || len(succs) == 0 || !last.Guard.Always() || last.Op != sass.BRX {
		return fmt.Errorf("indirect branch at 0x%x cannot become tests", last.PC)
	}
	distance := last.Operands[len(last.Operands)-1].Imm
	from := node
	for i, to := range succs[:len(succs)-1] {
		pc := uint64(l.nodes[to].block.First) * sass.InstSize
		test := l.node(s, origin{block: b, test: i + 1, token: pc - (last.PC + sass.InstSize) - distance})
		s.Succs[from] = append(s.Succs[from], test)
		s.Succs[test] = []int{to}
		from = test
	}
	s.Succs[from] = append(s.Succs[from], succs[len(succs)-1])
	return nil
}

// lower makes pieces of the nodes of a structured graph.
func (l *lowerer) lower(s *Structured) (*body, error) {
	l.graphs = s
	l.body = &body{pieces: make([]piece, len(s.Nodes))}
	l.body.entry = s.Entry
	for _, n := range s.Reachable() {
		if n == s.Exit {
			continue
		}
		p, err := l.piece(n)
		if err != nil {
			return nil, err
		}
		l.body.pieces[n] = p
	}
	return l.body, l.makeTests()
}

// leave is the piece number of the exit's successors: outside.
const leave = -1

func (l *lowerer) to(n int) int {
	if n == l.graphs.Exit {
		return leave
	}
	return n
}

func (l *lowerer) piece(id int) (piece, error) {
	n := &l.graphs.Nodes[id]
	switch n.Kind {
	case FlagNode:
		set, err := l.make(4, "MOV R%d, 0x%x", l.flags+n.Loop, n.Value)
		return piece{items: []item{set}, taken: -1, fall: n.Succs[0]}, err
	case LatchNode, DispatchNode:
		return l.test(id, origin{token: uint64(n.Value)}, n.Succs)
	}
	o := l.nodes[n.Block]
	switch {
	case o.exit:
		return l.exitPiece(o)
	case o.test > 0:
		return l.test(id, o, n.Succs)
	}
	return l.blockPiece(o.block, n.Succs)
}

// test makes a piece that goes to its first successor where a register has a value; makeTests adds the comparison.
func (l *lowerer) test(id int, o origin, succs []int) (piece, error) {
	branch, err := l.make(5, "@P0 BRA 0x0")
	l.tests[id] = o
	return piece{branch: &branch, taken: succs[0], fall: succs[1]}, err
}

// exitPiece makes the unconditional form of a conditional exit.
func (l *lowerer) exitPiece(o origin) (piece, error) {
	in := l.graph.Code.Insts[o.block.Last]
	if !ends(&in) {
		return piece{}, fmt.Errorf("branch out of the function at 0x%x", in.PC)
	}
	in.Guard = sass.Guard{Reg: sass.PT}
	in.Operands = slices.Clone(in.Operands)
	for k := range in.Operands {
		if p := &in.Operands[k]; p.Kind == sass.KindPred {
			p.Reg, p.Not = sass.PT, false
		}
	}
	return piece{branch: &item{inst: in, old: o.block.Last}, taken: -1, fall: -1}, nil
}

// blockPiece makes the piece of a block with the given successors.
func (l *lowerer) blockPiece(b *cfg.Block, succs []int) (piece, error) {
	code := l.graph.Code
	if l.gather[b.ID] {
		p := piece{taken: -1, fall: succs[0]}
		for i := b.First; i <= b.Last; i++ {
			if err := l.settle(&p, &code.Insts[i]); err != nil {
				return p, err
			}
		}
		return p, nil
	}
	last := code.Insts[b.Last]
	if l.jumps(b) {
		var err error
		if last, err = l.jumpInstead(&last); err != nil {
			return piece{}, err
		}
	}
	end := b.Last + 1
	p := piece{taken: -1, fall: -1}
	if transfers(&last) {
		end = b.Last
	}
	p.items = withoutBarriers(code.Insts[b.First:end], b.First, l.nop)
	if end > b.Last {
		p.fall = l.to(succs[0])
		return p, nil
	}
	branch := item{inst: last, old: b.Last}
	switch {
	case l.keepsTable(&last):
		p.branch, p.table = &branch, slices.Clone(succs)
		for _, to := range succs {
			p.places = append(p.places, l.nodes[l.graphs.Nodes[to].Block].block.First)
		}
		return p, nil
	case last.Op == sass.BRX:
		p.fall = succs[0]
		return p, l.settle(&p, &last)
	case len(succs) == 1 && succs[0] == l.graphs.Exit:
		p.branch = &branch // EXIT, RET, a branch out of the function
		return p, nil
	case len(succs) == 1:
		p.fall = succs[0]
		return p, l.settle(&p, &last)
	}
	p.branch, p.fall, p.taken = &branch, l.to(succs[0]), l.to(succs[1])
	if !ends(&last) {
		return p, nil
	}
	if n := &l.graphs.Nodes[succs[1]]; n.Kind == BlockNode && l.nodes[n.Block].exit {
		p.taken = -1 // stays conditional
		return p, nil
	}
	return p, l.branchInstead(&branch)
}

// transfers reports whether an instruction is the kind that ends a block.
func transfers(in *sass.Inst) bool {
	p := in.Op.Properties()
	return p.Redirects() && p.Flow != sass.FlowCall && !in.Guard.Never()
}

// ends reports whether an instruction leaves the function.
func ends(in *sass.Inst) bool {
	flow := in.Op.Properties().Flow
	return flow == sass.FlowExit || flow == sass.FlowReturn
}

// jumps reports whether a block ends with a CALL that is a branch: no return address goes with it.
func (l *lowerer) jumps(b *cfg.Block) bool {
	return l.graph.Code.Insts[b.Last].Op == sass.CALL && slices.ContainsFunc(b.Succs, func(to int) bool { return l.graph.Blocks[to].First != b.Last+1 })
}

// jumpInstead makes the branch of a CALL that is one.
func (l *lowerer) jumpInstead(call *sass.Inst) (sass.Inst, error) {
	jump, err := l.make(5, "BRA 0x0")
	jump.inst.Guard, jump.inst.PC = call.Guard, call.PC
	jump.inst.Control.WaitMask, jump.inst.Control.Stall = call.Control.WaitMask, max(call.Control.Stall, jump.inst.Control.Stall)
	return jump.inst, err
}

// settle puts a NOP where a branch was, if that waited.
func (l *lowerer) settle(p *piece, in *sass.Inst) error {
	if in.Control.WaitMask != 0 || counters(in) != 0 {
		nop := l.nop
		nop.inst.Control = in.Control
		p.items = append(p.items, nop)
	}
	return nil
}

// branchInstead makes a branch with the condition of an exit.
func (l *lowerer) branchInstead(it *item) error {
	jump, err := l.make(5, "BRA 0x0")
	if err != nil {
		return err
	}
	old := it.inst
	jump.inst.Guard, jump.inst.Control, jump.old = old.Guard, old.Control, it.old
	for _, o := range old.Operands {
		if o.Kind == sass.KindPred {
			jump.inst.Operands[0] = o
		}
	}
	*it = jump
	return nil
}

// makeTests adds the comparisons: each in a predicate that nobody needs there.
func (l *lowerer) makeTests() error {
	if len(l.tests) == 0 {
		return nil
	}
	live := l.body.livePredicates(l.untouchable())
	for _, id := range sortedKeys(l.tests) {
		o, p := l.tests[id], &l.body.pieces[id]
		used := l.untouchable()
		for _, to := range p.succs() {
			used |= live[to]
		}
		free := uint8(0)
		for used>>free&1 != 0 {
			free++
		}
		if free >= sass.PT {
			return fmt.Errorf("no predicate is free for a test")
		}
		reg := l.flags + l.graphs.Nodes[id].Loop
		if o.test > 0 {
			last := &l.graph.Code.Insts[o.block.Last]
			for _, operand := range last.Operands {
				if operand.Kind == sass.KindReg || operand.Kind == sass.KindLabelReg {
					reg = int(operand.Reg)
				}
			}
		}
		compare, err := l.make(12, "ISETP.EQ.AND P%d, PT, R%d, 0x%x, PT", free, reg, uint32(o.token))
		if err != nil {
			return err
		}
		p.items = append(p.items, compare)
		p.branch.inst.Guard.Reg = free
	}
	return nil
}

// untouchable returns the predicates that must be at the function's end as at its beginning: a device function may change
// only those that it changed before.
func (l *lowerer) untouchable() uint8 {
	if l.kernel {
		return 0
	}
	mask := uint8(1<<sass.PT - 1)
	for _, id := range l.fn.Blocks {
		insts := l.graph.Insts(l.graph.Blocks[id])
		for i := range insts {
			for _, r := range insts[i].Defs(nil) {
				if r >= sass.ResPred && r < sass.ResUPred {
					mask &^= 1 << (r - sass.ResPred)
				}
			}
		}
	}
	return mask
}

// livePredicates returns for each piece the predicates whose values at its beginning may be read.
func (b *body) livePredicates(atEnd uint8) []uint8 {
	live := make([]uint8, len(b.pieces))
	for changed := true; changed; {
		changed = false
		for i := len(b.pieces) - 1; i >= 0; i-- {
			p := &b.pieces[i]
			now := atEnd
			for _, to := range p.succs() {
				now |= live[to]
			}
			if p.branch != nil {
				now = liveBefore(&p.branch.inst, now)
			}
			for k := len(p.items) - 1; k >= 0; k-- {
				now = liveBefore(&p.items[k].inst, now)
			}
			if now != live[i] {
				live[i], changed = now, true
			}
		}
	}
	return live
}

// liveBefore returns the predicates that are live before an instruction, from those behind it.
func liveBefore(in *sass.Inst, live uint8) uint8 {
	if in.Guard.Always() {
		for _, r := range in.Defs(nil) {
			if r >= sass.ResPred && r < sass.ResUPred {
				live &^= 1 << (r - sass.ResPred)
			}
		}
	}
	for _, r := range in.Uses(nil) {
		if r >= sass.ResPred && r < sass.ResUPred {
			live |= 1 << (r - sass.ResPred)
		}
	}
	return live
}
