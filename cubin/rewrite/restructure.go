package rewrite

import (
	"fmt"
	"slices"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A Change says what was done to a function.
type Change struct {
	Function       string // demangled
	Err            error  // why it was left as it is, nil where it was changed
	Counts                // of Restructure
	Joins, Dropped int    // of Reconverge: joins with a barrier, and joins for which none was left
	Moved          int    // of Reorder: instructions with another place in their block
	Before, After  int    // instructions
}

// A Pass is a way to rewrite code.
type Pass uint8

// The passes, each with a function of this package.
const (
	RestructurePass Pass = iota
	ReconvergePass
	ReorderPass
)

// Rewritten is a file with functions that a pass has changed.
type Rewritten struct {
	Pass    Pass
	File    *cubin.File
	Changes []Change // functions that were not structured, or are scheduled anew, in file order
	Total   int      // functions looked at
	// Origins are, by section and instruction of the new file, the pcs that the instructions stand for, -1 for added ones.
	Origins [][]int
}

// Restructure makes the unstructured functions of a file structured as [Structurize] does, and places convergence barriers
// at the joins. The flag of a Cut is a register that the kernel did not have, and a free predicate tests it; an indirect
// branch in such a function becomes a chain of tests. Other functions stay as they are. Of a function that cannot be
// changed the result says why not.
func Restructure(file *cubin.File) (*Rewritten, error) {
	r := &Rewritten{}
	err := r.rewrite(file, func(e *editor, f *cfg.Func) (*body, *Change) {
		if e.graph.Shape(f).Structure().Structured() {
			return nil, nil
		}
		return e.restructure(f)
	})
	return r, err
}

// An editor changes the functions of a section.
type editor struct {
	maker
	file      *cubin.File
	graph     *cfg.Graph
	registers int                    // that the new code needs
	taken     [sass.NumConvBars]bool // barriers of the section's new code
}

// restructure makes the new code of a function.
func (e *editor) restructure(f *cfg.Func) (*body, *Change) {
	change := &Change{}
	fail := func(err error) (*body, *Change) {
		change.Err = err
		return nil, change
	}
	kernel := f.Function.Kind == cubin.KernelFunction
	l, shape, err := newLowerer(e.maker, e.graph, f, kernel, false)
	if err != nil {
		return fail(err)
	}
	gather, err := e.meetings(f, shape)
	if err != nil {
		return fail(err)
	}
	s, err := structurize(shape, gather.refuse)
	if err != nil {
		return fail(err)
	}
	change.Counts = s.Counts
	l.flags = e.registers
	if s.loops > 0 && (e.file.KernelOf(e.graph.Code) == nil || l.flags+s.loops > sass.RZ) {
		return fail(fmt.Errorf("no register is free for the flag of a loop"))
	}
	b, err := l.lower(s)
	if err != nil {
		return fail(err)
	}
	free, err := e.barriers(f)
	if err != nil {
		return fail(err)
	}
	if err := b.placeBarriers(e.maker, free); err != nil {
		return fail(err)
	}
	e.take(b)
	e.registers += s.loops
	return b, change
}

// barriers returns the convergence barriers that new code of a function may use: those that no other function of the section
// uses, which may hold lanes when it is called or wait for lanes that have called it. A device function begins with its own,
// then takes the last ones, so that the first are left to the kernel. What other sections use is not known: a function that
// calls there, or itself, has no more than its own.
func (e *editor) barriers(f *cfg.Func) ([]uint8, error) {
	kernel := f.Function.Kind == cubin.KernelFunction
	others, own := e.taken, [sass.NumConvBars]bool{}
	for i := range e.graph.Code.Insts {
		in := &e.graph.Code.Insts[i]
		mine := e.graph.Func(i) == f
		if b := in.ConvBar(); b != nil && in.Op == sass.BSSY {
			if mine {
				own[b.Reg] = true
			} else {
				others[b.Reg] = true
			}
		}
		if mine && in.Op == sass.BMOV && !isBarrier(in) {
			return nil, fmt.Errorf("convergence barriers are kept in registers at 0x%x", in.PC)
		}
	}
	var free, last []uint8
	alone := !kernel && e.callsBack(f)
	for n := range uint8(sass.NumConvBars) {
		switch {
		case others[n] && (kernel || !own[n]):
		case kernel, own[n]:
			free = append(free, n)
		case !alone:
			last = append(last, n)
		}
	}
	slices.Reverse(last)
	return append(free, last...), nil
}

// callsBack reports whether a function may call itself, or functions that are not known.
func (e *editor) callsBack(f *cfg.Func) bool {
	seen := make(map[*cfg.Func]bool)
	for work := []*cfg.Func{f}; len(work) > 0; {
		from := work[len(work)-1]
		work = work[:len(work)-1]
		for _, c := range from.Calls {
			if len(c.Callees) == 0 || len(c.Remote) > 0 {
				return true
			}
			for _, i := range c.Callees {
				if to := e.graph.Funcs[i]; to == f {
					return true
				} else if !seen[to] {
					seen[to] = true
					work = append(work, to)
				}
			}
		}
	}
	return false
}

// take notes the barriers that new code uses.
func (e *editor) take(b *body) {
	for i := range b.pieces {
		for _, it := range b.pieces[i].items {
			if b := it.inst.ConvBar(); b != nil && it.inst.Op == sass.BSSY {
				e.taken[b.Reg] = true
			}
		}
	}
}

// rewrite changes the functions of a file, for which change returns new code or nil.
func (r *Rewritten) rewrite(file *cubin.File, change func(*editor, *cfg.Func) (*body, *Change)) error {
	table, err := latencies(file.Arch)
	if err != nil {
		return err
	}
	var listings []*listing
	var registers []int
	for _, code := range file.Codes {
		if code.Err != nil {
			return fmt.Errorf("section .text.%s: %w", code.Name, code.Err)
		}
		g, err := cfg.Build(file, code)
		if err != nil {
			return fmt.Errorf("section .text.%s: %w", code.Name, err)
		}
		e := &editor{maker: maker{file.Arch}, file: file, graph: g}
		if k := file.KernelOf(code); k != nil {
			e.registers = k.Registers
		}
		before := len(r.Changes)
		l, err := r.section(e, change)
		if err != nil {
			return fmt.Errorf("section .text.%s: %w", code.Name, err)
		}
		changed := slices.ContainsFunc(r.Changes[before:], func(c Change) bool { return c.Err == nil })
		if changed {
			listings, registers = append(listings, l), append(registers, e.registers)
		}
	}
	r.File = file
	if len(listings) > 0 {
		r.File, err = assembleListings(file, table, listings, registers)
	}
	if err == nil {
		r.origins(listings)
	}
	return err
}

// section makes the new code of a section.
func (r *Rewritten) section(e *editor, change func(*editor, *cfg.Func) (*body, *Change)) (*listing, error) {
	l := newListing(e.maker, e.graph)
	for _, f := range e.graph.Funcs {
		r.Total++
		first := int(f.Function.Offset / sass.InstSize)
		last := first + int(f.Function.Size/sass.InstSize) - 1
		b, c := change(e, f)
		if c != nil {
			c.Function, c.Before = f.Function.Demangled, last-first+1
		}
		start := len(l.lines)
		if b == nil {
			l.keep(first, last)
		} else if b.inPlace {
			l.putInPlace(b, first, last)
		} else if err := l.putBody(b, first); err != nil {
			return nil, err
		}
		if c != nil {
			c.After = len(l.lines) - start
			r.Changes = append(r.Changes, *c)
		}
	}
	return l, nil
}

// origins notes where the instructions of the new file come from.
func (r *Rewritten) origins(listings []*listing) {
	for _, code := range r.File.Codes {
		pcs := make([]int, len(code.Insts))
		for i := range pcs {
			pcs[i] = i * sass.InstSize
		}
		for _, l := range listings {
			if l.code.Index != code.Index {
				continue
			}
			for i := range pcs {
				if pcs[i] = -1; i < len(l.lines) && l.lines[i].old >= 0 {
					pcs[i] = l.lines[i].old * sass.InstSize
				}
			}
		}
		r.Origins = append(r.Origins, pcs)
	}
}

// rounds is how often the control codes are mended at most: every round brings the earliest readers of all results in
// order.
const rounds = 64

// assembleListings puts new code into a file, and lengthens stall counts until every dependence is covered.
func assembleListings(file *cubin.File, table *latencyTable, listings []*listing, registers []int) (*cubin.File, error) {
	for range rounds {
		var list []cubin.Replacement
		for i, l := range listings {
			r, err := l.replacement(file, registers[i])
			if err != nil {
				return nil, fmt.Errorf("section .text.%s: %w", l.code.Name, err)
			}
			list = append(list, r)
		}
		data, err := file.Replace(list...)
		if err != nil {
			return nil, err
		}
		changed, err := cubin.NewFile(file.Name, data)
		if err != nil {
			return nil, err
		}
		found, err := Check(changed)
		if err != nil || len(found) == 0 {
			return changed, err
		}
		if !mend(listings, found) {
			return nil, fmt.Errorf("%s", found[0])
		}
	}
	return nil, fmt.Errorf("dependences stay uncovered")
}

// mend lengthens the stall counts of producers whose results are read too early, and makes instructions wait for counters
// that a new way to them leaves open: a latch joins ways that flags keep apart. It reports false where that is no help.
func mend(listings []*listing, found []Finding) bool {
	more := make(map[*line]int)
	for _, f := range found {
		i := slices.IndexFunc(listings, func(l *listing) bool { return l.code.Index == f.Code.Index })
		if i < 0 {
			return false
		}
		lines := listings[i].lines
		producer, consumer := int(f.Producer/sass.InstSize), int(f.Consumer/sass.InstSize)
		if producer >= len(lines) || consumer >= len(lines) {
			return false
		}
		if f.Needed > 0 {
			more[&lines[producer]] = max(more[&lines[producer]], f.Needed-f.Distance)
			continue
		}
		lines[consumer].inst.Control.WaitMask |= counterOf(&lines[producer].inst.Control, f.Hazard)
	}
	for n, cycles := range more {
		if !lengthen(&n.inst.Control, uint8(cycles)) {
			return false
		}
	}
	return true
}

// spare is the dependence counter that an instruction without one takes. Others may have it as well: who waits for it waits
// for all of them.
const spare = 5

// counterOf returns the mask of the counter that tells of a producer's operands or results. One that has none gets it.
func counterOf(c *sass.Control, hazard Hazard) uint8 {
	if hazard != WriteAfterRead {
		if c.WriteBarrier < 0 {
			c.WriteBarrier = spare
		}
		return mask(c.WriteBarrier)
	}
	if c.ReadBarrier < 0 && c.WriteBarrier < 0 {
		c.ReadBarrier = spare
	}
	if c.ReadBarrier >= 0 {
		return mask(c.ReadBarrier)
	}
	return mask(c.WriteBarrier)
}
