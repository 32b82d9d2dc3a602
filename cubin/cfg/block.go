package cfg

import (
	"slices"

	"gpa/cubin/sass"
)

// A flow is what an instruction does to control.
type flow struct {
	fallThrough bool  // control may go on to the next instruction
	exits       bool  // control may leave the function
	targets     []int // instructions that it may jump to
}

// A builder makes a graph.
type builder struct {
	graph  *Graph
	places places
	flows  map[int]flow // by instruction index; an instruction without one falls through
	jumps  map[int]int  // by instruction index: number of branches to it
	leader []bool       // by instruction index: begins a block
	label  []bool       // by instruction index: something else than a branch names it
}

// readFlows finds what each instruction does to control, and where blocks begin.
func (b *builder) readFlows() {
	code := b.graph.Code
	b.flows = make(map[int]flow)
	b.jumps = make(map[int]int)
	b.leader = make([]bool, len(code.Insts)+1)
	b.label = make([]bool, len(code.Insts))
	for i := range code.Functions {
		b.mark(code.Functions[i].Offset)
	}
	for _, r := range b.places.into {
		b.mark(r)
	}
	for pc := range code.IndirectTargets {
		b.mark(pc) // nvdisasm gives it a label
	}
	for i := range code.Insts {
		in := &code.Insts[i]
		f, ok := b.flow(in)
		if !ok {
			b.markTarget(in) // of BSSY, WARPSYNC, LEPC
			continue
		}
		b.flows[i] = f
		b.leader[i+1] = true
		for _, t := range f.targets {
			b.leader[t] = true
			b.jumps[t]++
		}
	}
}

// mark makes the instruction at pc, which has a label, begin a block.
func (b *builder) mark(pc uint64) {
	if i, ok := b.graph.Code.InstIndex(pc); ok {
		b.leader[i], b.label[i] = true, true
	}
}

// markTarget makes the label of an instruction begin a block.
func (b *builder) markTarget(in *sass.Inst) {
	if t := in.Target(); t != nil {
		b.mark(t.Imm)
	}
}

// flow returns what an instruction that ends a block does; ok is false for the others.
func (b *builder) flow(in *sass.Inst) (f flow, ok bool) {
	if in.Guard.Never() {
		return flow{}, false
	}
	conditional := in.Conditional()
	switch in.Op.Properties().Flow {
	case sass.FlowExit, sass.FlowReturn:
		return flow{fallThrough: conditional, exits: true}, true
	case sass.FlowJump:
		mode := in.Mod(sass.BraMode)
		conditional = conditional || mode == sass.BraDIV || mode == sass.BraCONV
		targets := b.direct(in)
		return flow{fallThrough: conditional, exits: len(targets) == 0, targets: targets}, true
	case sass.FlowIndirect:
		targets := b.indirect(in)
		return flow{fallThrough: conditional, exits: len(targets) == 0, targets: targets}, true
	case sass.FlowCall:
		if targets := b.jump(in); targets != nil {
			return flow{fallThrough: conditional, targets: targets}, true
		}
	}
	return flow{}, false
}

// jump returns the target of a CALL inside its function, nothing for other ones. No return address goes with a CALL of
// this form; the compilers for sm_80 leave loops by it, and such a one is a branch.
func (b *builder) jump(in *sass.Inst) []int {
	targets := b.direct(in)
	if len(targets) == 0 {
		return nil
	}
	pc := b.graph.Code.Insts[targets[0]].PC
	if f := b.graph.Code.FunctionAt(pc); f == nil || f != b.graph.Code.FunctionAt(in.PC) || f.Offset == pc {
		return nil
	}
	return targets
}

// direct returns the target of a branch to a label, nothing where that is not in the section.
func (b *builder) direct(in *sass.Inst) []int {
	pc := uint64(0)
	if r := b.places.at[in.PC]; r != nil {
		if r.Target.Code != b.graph.Code {
			return nil
		}
		pc = r.Target.Offset + uint64(r.Addend)
	} else if t := in.Target(); t != nil {
		pc = t.Imm
	} else {
		return nil
	}
	if i, ok := b.graph.Code.InstIndex(pc); ok {
		return []int{i}
	}
	return nil
}

// indirect returns the targets of a branch through a register, by address.
func (b *builder) indirect(in *sass.Inst) []int {
	pcs, ok := b.graph.Code.IndirectTargets[in.PC]
	if !ok {
		pcs = b.places.jumpTable(in)
	}
	var targets []int
	for _, pc := range pcs {
		if i, ok := b.graph.Code.InstIndex(pc); ok {
			targets = append(targets, i)
		}
	}
	slices.Sort(targets)
	return slices.Compact(targets)
}

// splitBlocks divides the section into functions and blocks.
func (b *builder) splitBlocks() {
	g := b.graph
	g.blockOf = make([]int, len(g.Code.Insts))
	for i := range g.blockOf {
		g.blockOf[i] = -1
	}
	for i := range g.Code.Functions {
		f := &g.Code.Functions[i]
		first, end := int(f.Offset/sass.InstSize), int((f.Offset+f.Size)/sass.InstSize)
		g.Funcs = append(g.Funcs, &Func{Function: f, Entry: len(g.Blocks)})
		b.splitFunction(i, first, end)
	}
}

// splitFunction makes the blocks of the function with instructions first to end.
func (b *builder) splitFunction(index, first, end int) {
	g := b.graph
	for at := first; at < end; {
		next := at + 1
		for next < end && !b.leader[next] {
			next++
		}
		if at == first || !b.padding(at) {
			block := &Block{ID: len(g.Blocks), First: at, Last: next - 1, Func: index, Idom: -1, Ipdom: -1}
			for i := at; i < next; i++ {
				g.blockOf[i] = block.ID
			}
			g.Blocks = append(g.Blocks, block)
			g.Funcs[index].Blocks = append(g.Funcs[index].Blocks, block.ID)
		}
		at = next
	}
}

// padding reports whether nothing leads to the instruction at the beginning of a would-be block: control ends before
// it, and no label names it. So it is with what compilers put behind a function, a branch to itself, which keeps the
// prefetcher inside, and NOPs. nvdisasm draws no block for it.
func (b *builder) padding(i int) bool {
	return b.ended(i-1) && !b.label[i] && (b.jumps[i] == 0 || b.jumps[i] == 1 && b.selfLoop(i))
}

// selfLoop reports whether an instruction branches to itself only.
func (b *builder) selfLoop(i int) bool {
	f, ok := b.flows[i]
	return ok && !f.fallThrough && len(f.targets) == 1 && f.targets[0] == i
}

// ended reports whether control does not go on behind an instruction.
func (b *builder) ended(i int) bool {
	f, ok := b.flows[i]
	return ok && !f.fallThrough
}

// linkBlocks makes the edges. Control that runs into padding or past the section leaves the function.
func (b *builder) linkBlocks() {
	g := b.graph
	for _, block := range g.Blocks {
		f, ok := b.flows[block.Last]
		if !ok {
			f.fallThrough = true
		}
		block.Exits = f.exits
		if f.fallThrough && !b.link(block, block.Last+1) {
			block.Exits = true
		}
		for _, t := range f.targets {
			if !b.link(block, t) {
				block.Exits = true
			}
		}
	}
}

// link makes the edge from a block to the one that begins with instruction i; false where there is none. Only a target
// that is the fall-through as well can come twice.
func (b *builder) link(from *Block, i int) bool {
	g := b.graph
	if i >= len(g.blockOf) || g.blockOf[i] < 0 {
		return false
	}
	to := g.Blocks[g.blockOf[i]]
	if len(from.Succs) == 0 || from.Succs[0] != to.ID {
		from.Succs = append(from.Succs, to.ID)
		to.Preds = append(to.Preds, from.ID)
	}
	return true
}
