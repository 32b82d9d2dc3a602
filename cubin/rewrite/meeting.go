package rewrite

import (
	"fmt"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// Behind a Cut all lanes wait for each other at the end of the loop, also those that have long left it. In the original they may
// be at the end of the kernel meanwhile, or at another barrier, and no other thread waits for them. Where threads wait for each
// other in the loop itself, the two would wait for each other for ever.

// meetings knows of each node of a function's shape what a Cut has to know.
type meetings struct {
	waits  []*sass.Inst // an instruction at which threads wait for each other, nil for none
	parts  []bool       // lanes may leave the node by different ways, an exit being one
	branch []*sass.Inst // the last instruction
}

// refuse says why a loop may not be cut: threads meet in it, and lanes may leave it one by one.
func (m *meetings) refuse(blocks, exits []int) error {
	for _, b := range blocks {
		for _, x := range exits {
			if in := m.waits[b]; in != nil && m.parts[x] {
				return fmt.Errorf("the loop around 0x%x (%s) cannot be cut: lanes may leave it one by one at 0x%x (%s)", in.PC, in.Text(), m.branch[x].PC, m.branch[x].Text())
			}
		}
	}
	return nil
}

// meetings looks at the code of a function as it is.
func (e *editor) meetings(f *cfg.Func, shape *cfg.Shape) (*meetings, error) {
	kernel := f.Function.Kind == cubin.KernelFunction
	l, same, err := newLowerer(e.maker, e.graph, f, kernel, false)
	if err != nil {
		return nil, err
	}
	s := &Structured{Entry: same.Entry, Exit: same.Exit}
	for i, succs := range same.Succs {
		s.Nodes = append(s.Nodes, Node{Block: i, Succs: succs})
	}
	b, err := l.lower(s)
	if err != nil {
		return nil, err
	}
	m := &meetings{parts: b.partings(kernel), waits: make([]*sass.Inst, shape.Len()), branch: make([]*sass.Inst, shape.Len())}
	for i, o := range l.nodes {
		if o.block == nil {
			continue
		}
		m.branch[i] = &e.graph.Code.Insts[o.block.Last]
		if !o.exit && o.test == 0 {
			m.waits[i] = e.meeting(f, o.block)
		}
		if o.exit { // what comes to it was parted at the end of its block
			m.parts[i] = m.parts[i] || m.parts[l.firsts[o.block.ID]]
		}
	}
	return m, nil
}

// meeting returns the first instruction of a block at which threads wait for each other: a barrier, or a call of a function that has
// one or is not known.
func (e *editor) meeting(f *cfg.Func, b *cfg.Block) *sass.Inst {
	for i := b.First; i <= b.Last; i++ {
		in := &e.graph.Code.Insts[i]
		if meets(in) || in.Op == sass.CALL && e.callMeets(f, i) {
			return in
		}
	}
	return nil
}

func meets(in *sass.Inst) bool { return in.Op == sass.BAR || in.Op == sass.WARPSYNC }

// callMeets reports whether threads may wait for each other in what a call of a function leads to.
func (e *editor) callMeets(f *cfg.Func, inst int) bool {
	seen := make(map[*cfg.Func]bool)
	var look func(f *cfg.Func, only int) bool
	look = func(f *cfg.Func, only int) bool {
		for _, c := range f.Calls {
			if only >= 0 && c.Inst != only {
				continue
			}
			if c.Extern != "" && len(c.Remote) == 0 && len(c.Callees) == 0 {
				continue // the driver's functions (malloc, free, vprintf) wait for nobody
			}
			if len(c.Callees) == 0 || len(c.Remote) > 0 {
				return true
			}
			for _, i := range c.Callees {
				to := e.graph.Funcs[i]
				if seen[to] {
					continue
				}
				seen[to] = true
				for _, id := range to.Blocks {
					b := e.graph.Blocks[id]
					for k := b.First; k <= b.Last; k++ {
						if meets(&e.graph.Code.Insts[k]) {
							return true
						}
					}
				}
				if look(to, -1) {
					return true
				}
			}
		}
		return false
	}
	return look(f, inst)
}
