package rewrite

import (
	"encoding/binary"
	"fmt"
	"slices"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// An item is an instruction of new code. Old is the index of the instruction that it stands for, -1 for an added one.
type item struct {
	inst sass.Inst
	old  int
	sync int // of a BSSY: one more than the piece with its BSYNC
}

// A piece is a run of new instructions with one entry, at whose end control goes to other pieces. Pieces have no order yet.
type piece struct {
	items []item
	// branch is the instruction that goes to taken, nil where there is none. Where it is certain, fall is -1.
	branch *item
	taken  int // piece, -1 for none; a branch with taken -1 keeps its target, which is outside the function
	fall   int // piece that control falls into, -1 where it does not
	// table are the pieces that an indirect branch goes to, places the indices of the instructions that they stand for in
	// the branch's table.
	table, places []int
}

// A body is the new code of a function.
type body struct {
	pieces  []piece
	entry   int
	inPlace bool // the pieces are the blocks in their old order, with their branches
}

func (b *body) add(p piece) int {
	b.pieces = append(b.pieces, p)
	return len(b.pieces) - 1
}

// redirect leads the ways from one piece to another elsewhere.
func (b *body) redirect(from, to, now int) {
	p := &b.pieces[from]
	if p.taken == to {
		p.taken = now
	}
	if p.fall == to {
		p.fall = now
	}
	for i, t := range p.table {
		if t == to {
			p.table[i] = now
		}
	}
}

// succs returns the pieces that control may go to.
func (p *piece) succs() []int {
	var list []int
	for _, to := range append([]int{p.fall, p.taken}, p.table...) {
		if to >= 0 && !slices.Contains(list, to) {
			list = append(list, to)
		}
	}
	return list
}

// order lays the pieces that the entry reaches out one after the other, so that control mostly falls through.
func (b *body) order() []int {
	var list []int
	seen := make([]bool, len(b.pieces))
	for work := []int{b.entry}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		for at >= 0 && !seen[at] {
			seen[at] = true
			list = append(list, at)
			p := &b.pieces[at]
			work = append(work, p.table...)
			if at = p.fall; at < 0 {
				at = p.taken
			} else if p.taken >= 0 {
				work = append(work, p.taken)
			}
		}
	}
	return list
}

// maker makes instructions.
type maker struct{ arch sass.Arch }

// quiet is a control code that takes and waits for no counter.
func quiet(stall uint8) sass.Control {
	return sass.Control{Stall: stall, Yield: stall > 11, WriteBarrier: -1, ReadBarrier: -1}
}

// make assembles an instruction that is added.
func (m maker) make(stall uint8, format string, args ...any) (item, error) {
	text := fmt.Sprintf(format, args...)
	in, err := sass.Parse(m.arch, 0, text, quiet(stall))
	if err != nil {
		return item{}, fmt.Errorf("make %s: %w", text, err)
	}
	return item{inst: in, old: -1}, nil
}

// isBarrier reports whether an instruction only manages convergence barriers: such are placed anew. BMOV that keeps one in
// a register is none.
func isBarrier(in *sass.Inst) bool {
	switch {
	case in.Op == sass.BMOV:
		return in.Operands[0].Kind == sass.KindReg && in.Operands[0].Reg == sass.RZ
	case in.Op == sass.YIELD:
		return false
	}
	return in.Op.Properties().Sync == sass.SyncConvergence
}

// withoutBarriers returns the instructions of a block but those that manage convergence barriers. What these waited for,
// the next one waits for; the time they took, the one before takes.
func withoutBarriers(insts []sass.Inst, first int, nop item) []item {
	var items []item
	waits := uint8(0)
	for i := range insts {
		in := insts[i]
		if !isBarrier(&in) {
			in.Control.WaitMask |= waits
			waits = 0
			items = append(items, item{inst: in, old: first + i})
			continue
		}
		waits |= in.Control.WaitMask
		if n := len(items); n > 0 {
			lengthen(&items[n-1].inst.Control, in.Control.Stall) // where there is no room, mending helps
		}
	}
	if waits != 0 {
		nop.inst.Control.WaitMask = waits
		items = append(items, nop)
	}
	return items
}

// lengthen adds cycles to a stall count, and reports whether there was room.
func lengthen(c *sass.Control, more uint8) bool {
	total := max(c.Stall, 1) + more
	switch {
	case total > 15 || c.Stall == 0:
		return false
	case total > 11 && !c.Yield:
		if c.Reuse != 0 {
			return false
		}
		c.Yield = true
	}
	c.Stall = total
	return true
}

// A label is a place in new code.
type label int

const noLabel label = -1

// A line is an instruction in its place.
type line struct {
	item
	to label // of a branch, or of the immediate that is an address
}

// A listing is the new code of a section.
type listing struct {
	code   *cubin.Code
	graph  *cfg.Graph
	make   maker
	lines  []line
	places []int         // by label: index of a line
	old    map[int]label // by index of an old instruction that something outside its function refers to
	moves  map[int]reference
	refs   map[reference]label // of the last copy
}

func newListing(m maker, graph *cfg.Graph) *listing {
	l := &listing{code: graph.Code, graph: graph, make: m, old: make(map[int]label), refs: make(map[reference]label), moves: references(graph)}
	return l
}

// A reference is an address of code that a move puts into a register: that of an instruction, or the one behind a call.
type reference struct {
	inst   int
	behind bool
}

// references finds the moves that put an address into a register: the return address of a call of their function, or the
// address of a LEPC before them in their block, from which others follow.
func references(g *cfg.Graph) map[int]reference {
	behind := make(map[uint64]int)
	for _, f := range g.Funcs {
		for _, c := range f.Calls {
			behind[uint64(c.Inst+1)*sass.InstSize] = c.Inst
		}
	}
	list := make(map[int]reference)
	for _, b := range g.Blocks {
		lepc := -1
		for i := b.First; i <= b.Last; i++ {
			in := &g.Code.Insts[i]
			if in.Op == sass.LEPC {
				lepc = i
			}
			o := immediate(in)
			if in.Op != sass.MOV && in.Op != sass.IMAD || o == nil || !onlyImmediate(in) {
				continue
			}
			if call, ok := behind[o.Imm]; ok && g.Func(i) == g.Func(call) {
				list[i] = reference{call, true}
			} else if lepc >= 0 && o.Imm == g.Code.Insts[lepc].PC {
				list[i] = reference{lepc, false}
			}
		}
	}
	return list
}

func immediate(in *sass.Inst) *sass.Operand {
	for k := range in.Operands {
		if o := &in.Operands[k]; o.Kind == sass.KindImm && o.Source && o.Imm > 0xf {
			return o
		}
	}
	return nil
}

// onlyImmediate reports whether a move takes nothing from registers.
func onlyImmediate(in *sass.Inst) bool {
	return !slices.ContainsFunc(in.Operands, func(o sass.Operand) bool {
		return o.Kind == sass.KindReg && o.Source && o.Reg != sass.RZ || o.Kind == sass.KindConst
	})
}

func (l *listing) label() label {
	l.places = append(l.places, -1)
	return label(len(l.places) - 1)
}

// bind puts a label at the next line.
func (l *listing) bind(at label) { l.places[at] = len(l.lines) }

// oldLabel returns the label of an old instruction.
func (l *listing) oldLabel(i int) label {
	at, ok := l.old[i]
	if !ok {
		at = l.label()
		l.old[i] = at
	}
	return at
}

// target returns the label that an instruction refers to outside its own function, or anywhere where the function stays.
func (l *listing) target(in *sass.Inst) label {
	for _, o := range in.Operands {
		if o.Kind == sass.KindTarget && in.Op != sass.RET && in.Op != sass.BRX {
			if i, ok := l.code.InstIndex(o.Imm); ok {
				return l.oldLabel(i)
			}
		}
	}
	return noLabel
}

// put appends an instruction that keeps its target.
func (l *listing) put(it item) {
	to := l.target(&it.inst)
	if ref, ok := l.moves[it.old]; ok {
		if at, ok := l.refs[ref]; !ok || ref.behind && l.places[at] >= 0 {
			l.refs[ref] = l.label()
		}
		to = l.refs[ref]
	}
	if it.inst.Op == sass.LEPC && it.old >= 0 {
		at := l.label()
		l.refs[reference{it.old, false}] = at
		l.bind(at)
	}
	l.lines = append(l.lines, line{it, to})
	if it.inst.Op != sass.CALL || it.old < 0 {
		return
	}
	if at, ok := l.refs[reference{it.old, true}]; ok && l.places[at] < 0 {
		l.bind(at)
	}
	if at := l.oldLabel(it.old + 1); l.places[at] < 0 {
		l.bind(at)
	}
}

// keep appends the instructions of a function, or of padding, as they are.
func (l *listing) keep(first, last int) {
	for i := first; i <= last; i++ {
		if at, ok := l.old[i]; !ok || l.places[at] < 0 {
			l.bind(l.oldLabel(i))
		}
		l.put(item{inst: l.code.Insts[i], old: i})
	}
}

// putInPlace appends the blocks of a function whose instructions have another order.
func (l *listing) putInPlace(b *body, first, last int) {
	next := first
	for i := range b.pieces {
		at := next
		if len(b.pieces[i].items) > 0 {
			at = l.firstOf(b.pieces[i].items)
		}
		l.keep(next, at-1) // padding between blocks
		l.bind(l.oldLabel(at))
		for _, it := range b.pieces[i].items {
			l.put(it)
		}
		next = at + len(b.pieces[i].items)
	}
	l.keep(next, last)
}

// firstOf returns the lowest index of the instructions of a block.
func (l *listing) firstOf(items []item) int {
	first := items[0].old
	for _, it := range items {
		first = min(first, it.old)
	}
	return first
}

// putBody appends new code of the function that began with instruction first.
func (l *listing) putBody(b *body, first int) error {
	order := b.order()
	labels, ends := make([]label, len(b.pieces)), make([]label, len(b.pieces))
	for i := range labels {
		labels[i], ends[i] = l.label(), l.label()
	}
	l.bind(l.oldLabel(first))
	for at, id := range order {
		p := &b.pieces[id]
		l.bind(labels[id])
		for _, it := range p.items {
			if it.sync > 0 {
				l.lines = append(l.lines, line{it, ends[it.sync-1]})
			} else {
				l.put(it)
			}
		}
		l.bind(ends[id])
		next := -1
		if at+1 < len(order) {
			next = order[at+1]
		}
		if p.branch != nil {
			if p.taken < 0 {
				l.put(*p.branch)
			} else {
				l.lines = append(l.lines, line{*p.branch, labels[p.taken]})
			}
		}
		if p.fall >= 0 && p.fall != next {
			jump, err := l.make.make(5, "BRA 0x0")
			if err != nil {
				return err
			}
			l.lines = append(l.lines, line{jump, labels[p.fall]})
		}
	}
	for _, id := range order {
		for i, to := range b.pieces[id].table {
			l.places[l.oldLabel(b.pieces[id].places[i])] = l.places[labels[to]]
		}
	}
	return nil
}

// replacement returns the listing as the cubin package takes it.
func (l *listing) replacement(file *cubin.File, registers int) (cubin.Replacement, error) {
	r := cubin.Replacement{Code: l.code, Registers: registers, Entries: make(map[int]int), CodeWords: l.codeWords(file)}
	for i := range l.lines {
		n := &l.lines[i]
		in := cubin.NewInst{Inst: n.inst, Old: n.old}
		if n.inst.Op == sass.BRX {
			in.Inst = moved(n.inst, uint64(i)*sass.InstSize)
		}
		if n.to != noLabel {
			at := l.places[n.to]
			if at < 0 || at >= len(l.lines) {
				return r, fmt.Errorf("instruction 0x%x refers to code that is gone", n.inst.PC)
			}
			if _, ok := l.moves[n.old]; ok {
				in.Inst = withImmediate(n.inst, uint64(at)*sass.InstSize)
			} else {
				in.Branch, in.To = true, at
			}
		}
		r.Insts = append(r.Insts, in)
	}
	for i, at := range l.old {
		if l.places[at] >= 0 {
			r.Entries[i] = l.places[at]
		}
	}
	return r, nil
}

// withImmediate returns a move of another value.
func withImmediate(in sass.Inst, value uint64) sass.Inst {
	in.Operands = slices.Clone(in.Operands)
	immediate(&in).Imm = value
	return in
}

// moved returns an indirect branch for another place: its distance is from its own address.
func moved(in sass.Inst, pc uint64) sass.Inst {
	in.Operands = slices.Clone(in.Operands)
	for k := range in.Operands {
		if o := &in.Operands[k]; o.Kind == sass.KindTarget || o.Kind == sass.KindLabelReg || o.Kind == sass.KindImm {
			o.Imm += in.PC - pc
		}
	}
	return in
}

// codeWords returns the offsets in constant bank 2 of the jump tables that the listing still uses, and of the addresses of
// device functions.
func (l *listing) codeWords(file *cubin.File) []int {
	k := file.KernelOf(l.code)
	if k == nil {
		return nil
	}
	words := make(map[int]bool)
	for _, n := range l.lines {
		if n.inst.Op == sass.BRX && n.old >= 0 {
			for _, at := range tableWords(l.code, k.ConstBank2, n.old) {
				words[at] = true
			}
		}
	}
	for _, f := range l.code.Functions {
		for at := 0; f.Kind == cubin.DeviceFunction && at+8 <= len(k.ConstBank2); at += 8 {
			if binary.LittleEndian.Uint64(k.ConstBank2[at:]) == f.Offset {
				words[at] = true
			}
		}
	}
	return sortedKeys(words)
}

// tableWords returns the offsets of the entries of an indirect branch's table: from where its register is loaded, as far
// as the words are among its targets.
func tableWords(code *cubin.Code, bank []byte, branch int) (list []int) {
	targets := code.IndirectTargets[code.Insts[branch].PC]
	for i := branch - 1; i >= 0; i-- {
		in := &code.Insts[i]
		if in.Op != sass.LDC || in.Operands[1].Bank != 2 {
			continue
		}
		for at := int(in.Operands[1].Offset); at >= 0 && at+4 <= len(bank); at += 4 {
			if !slices.Contains(targets, uint64(binary.LittleEndian.Uint32(bank[at:]))) {
				break
			}
			list = append(list, at)
		}
		break
	}
	return list
}
