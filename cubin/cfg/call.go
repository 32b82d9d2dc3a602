package cfg

import (
	"gpa/cubin"
	"gpa/cubin/sass"
)

// findCalls lists the calls of each function.
func (b *builder) findCalls() {
	g := b.graph
	r := newCallResolver(g, &b.places)
	for _, block := range g.Blocks {
		f := g.Funcs[block.Func]
		for i := block.First; i <= block.Last; i++ {
			if _, jumps := b.flows[i]; g.Code.Insts[i].Op == sass.CALL && !jumps {
				f.Calls = append(f.Calls, r.call(block, i))
			}
		}
	}
}

// A callResolver finds the callees of calls.
type callResolver struct {
	graph   *Graph
	places  *places
	entries map[uint64]int               // pc → index in Graph.Funcs
	table   []int                        // functions that constant bank 2 holds, indices in Graph.Funcs
	local   map[string][]int             // caller → functions that it may call through a pointer, indices in Graph.Funcs
	remote  map[string][]*cubin.Function // the same in other sections
	stored  *Call                        // calls what variables of the file point to, nil before it is needed
}

func newCallResolver(g *Graph, p *places) *callResolver {
	r := &callResolver{
		graph: g, places: p, entries: make(map[uint64]int),
		remote: make(map[string][]*cubin.Function), local: make(map[string][]int),
	}
	for i, f := range g.Funcs {
		r.entries[f.Function.Offset] = i
	}
	for _, pc := range p.functionTable() {
		r.table = append(r.table, r.entries[pc])
	}
	r.readCallGraph()
	return r
}

// readCallGraph notes the callees that the linker's call graph gives to calls through a pointer.
func (r *callResolver) readCallGraph() {
	functions := make(map[string]*cubin.Function)
	for _, code := range r.places.file.Codes {
		for i := range code.Functions {
			functions[code.Functions[i].Name] = &code.Functions[i]
		}
	}
	for _, e := range r.places.file.CallGraph {
		f := functions[e.Callee]
		if !e.Indirect || f == nil {
			continue
		}
		if f.Code == r.graph.Code.Index {
			r.local[e.Caller] = append(r.local[e.Caller], r.entries[f.Offset])
		} else {
			r.remote[e.Caller] = append(r.remote[e.Caller], f)
		}
	}
}

// call finds the callees of the call at instruction i.
func (r *callResolver) call(block *Block, i int) Call {
	in := &r.graph.Code.Insts[i]
	if reg, ok := addressRegister(in); ok {
		return r.callThrough(block, i, reg)
	}
	if o := constant(in); o != nil {
		return r.callSlot(block, i, i, o)
	}
	if reloc := r.places.at[in.PC]; reloc != nil {
		return r.callTo(i, reloc)
	}
	c := Call{Inst: i}
	if t := in.Target(); t != nil {
		c.Callees = r.entry(t.Imm)
	}
	return c
}

// entry returns the function of the section that begins at pc.
func (r *callResolver) entry(pc uint64) []int {
	if f, ok := r.entries[pc]; ok {
		return []int{f}
	}
	return nil
}

// callTo makes the call of what a relocation points to.
func (r *callResolver) callTo(i int, reloc *cubin.Reloc) Call {
	c := Call{Inst: i, Extern: reloc.Target.Extern}
	code, pc := reloc.Target.Code, reloc.Target.Offset+uint64(reloc.Addend)
	if code == r.graph.Code {
		c.Callees = r.entry(pc)
	} else if code != nil {
		if f := code.FunctionAt(pc); f != nil {
			c.Remote = []*cubin.Function{f}
		}
	}
	return c
}

// callThrough finds the functions that a register may hold.
func (r *callResolver) callThrough(block *Block, i int, reg uint8) Call {
	load, at := r.definition(block, i, reg)
	if load != nil && load.Op == sass.LDC {
		if o := constant(load); o != nil {
			return r.callSlot(block, i, at, o)
		}
	}
	return r.callUnknown(block, i)
}

// callSlot finds the functions whose address instruction at reads from a constant bank: bank 4 has that of one function
// in each slot, bank 2 those of all functions whose address the kernel takes.
func (r *callResolver) callSlot(block *Block, i, at int, o *sass.Operand) Call {
	switch o.Bank {
	case 2:
		return Call{Inst: i, Callees: r.table}
	case 4:
		if slot, ok := r.address(block, at, o); ok && r.places.slots[slot] != nil {
			return r.callTo(i, r.places.slots[slot])
		}
	}
	return r.callUnknown(block, i)
}

// callUnknown makes a call of what the linker's call graph names as candidates. A file that was not linked has none; then
// they are the functions that variables hold.
func (r *callResolver) callUnknown(block *Block, i int) Call {
	caller := r.graph.Funcs[block.Func].Function.Name
	if len(r.local[caller])+len(r.remote[caller]) == 0 {
		return r.callStored(i)
	}
	return Call{Inst: i, Callees: r.local[caller], Remote: r.remote[caller]}
}

// window is how many instructions before its use the definition of an address is looked for.
const window = 128

// definition returns the last instruction of the block before index that writes a register, and its index.
func (r *callResolver) definition(block *Block, index int, reg uint8) (*sass.Inst, int) {
	for i := index - 1; i >= max(block.First, index-window); i-- {
		in := &r.graph.Code.Insts[i]
		for j := range in.Operands {
			o := &in.Operands[j]
			if o.Kind == sass.KindReg && o.Dest && reg >= o.Reg && int(reg) < int(o.Reg)+max(int(o.Width), 1) {
				return in, i
			}
		}
	}
	return nil, 0
}

// address returns the offset in its bank that the operand of instruction index names, where its index register is a
// constant.
func (r *callResolver) address(block *Block, index int, o *sass.Operand) (uint64, bool) {
	if o.Reg == sass.RZ {
		return uint64(o.Offset), true
	}
	move, _ := r.definition(block, index, o.Reg)
	if move == nil {
		return 0, false
	}
	value, ok := movedConstant(move)
	return value + uint64(o.Offset), ok
}

// movedConstant returns the immediate that an instruction moves into its destination: MOV R, imm or
// IMAD.MOV R, RZ, RZ, imm.
func movedConstant(in *sass.Inst) (value uint64, ok bool) {
	if in.Op != sass.MOV && in.Op != sass.IMAD || !in.Guard.Always() {
		return 0, false
	}
	for i := range in.Operands {
		switch o := &in.Operands[i]; {
		case o.Kind == sass.KindReg && !o.Dest && o.Reg != sass.RZ:
			return 0, false
		case o.Kind == sass.KindImm && !ok:
			value, ok = o.Imm, true
		}
	}
	return value, ok
}
