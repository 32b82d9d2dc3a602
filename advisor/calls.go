package advisor

import (
	"maps"
	"slices"

	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A callEffect is what the functions that a call may go to do with registers, and those that they call: what they read of the caller's, and what
// they write, which a caller takes for a result or for lost. Compilers call helpers for divisions and roots so.
type callEffect struct {
	reads, writes map[sass.Resource]bool
	loads         bool // they read memory or what other threads have
}

// effectOfCall returns what a call does, nil where the callees are unknown or in another section.
func (in *Input) effectOfCall(code int, inst int) *callEffect {
	if in.Module.Codes[code].Insts[inst].Op != sass.CALL {
		return nil
	}
	graph := in.codes[code].graph
	for _, c := range graph.Func(inst).Calls {
		if c.Inst != inst {
			continue
		}
		if len(c.Callees) == 0 || len(c.Remote) > 0 || c.Extern != "" {
			return nil
		}
		e := &callEffect{reads: make(map[sass.Resource]bool), writes: make(map[sass.Resource]bool)}
		for _, callee := range c.Callees {
			if !in.addEffect(e, code, callee) {
				return nil
			}
		}
		return e
	}
	return nil
}

// addEffect adds what a function does to an effect; false where it calls what is not known, or itself.
func (in *Input) addEffect(e *callEffect, code, function int) bool {
	at := [2]int{code, function}
	if known, met := in.functions[at]; met {
		if known == nil {
			return false
		}
		e.add(known)
		return true
	}
	if in.functions == nil {
		in.functions = make(map[[2]int]*callEffect)
	}
	in.functions[at] = nil // until it is known: a function that calls itself is not
	own := in.functionEffect(code, in.codes[code].graph.Funcs[function])
	in.functions[at] = own
	if own != nil {
		e.add(own)
	}
	return own != nil
}

func (e *callEffect) add(x *callEffect) {
	for r := range x.reads {
		e.reads[r] = true
	}
	for r := range x.writes {
		e.writes[r] = true
	}
	e.loads = e.loads || x.loads
}

// functionEffect finds which registers are live at the entry of a function and which it writes.
func (in *Input) functionEffect(code int, f *cfg.Func) *callEffect {
	graph, insts := in.codes[code].graph, in.Module.Codes[code].Insts
	e := &callEffect{reads: make(map[sass.Resource]bool), writes: make(map[sass.Resource]bool)}
	calls := make(map[int]*callEffect)
	for _, b := range f.Blocks {
		for i := graph.Blocks[b].First; i <= graph.Blocks[b].Last; i++ {
			for _, r := range insts[i].Defs(nil) {
				if isValue(r) {
					e.writes[r] = true
				}
			}
			e.loads = e.loads || fromElsewhere(insts[i].Op) || isAtomic(insts[i].Op)
			if insts[i].Op != sass.CALL {
				continue
			}
			c := in.effectOfCall(code, i)
			if c == nil {
				return nil
			}
			calls[i] = c
			for r := range c.writes {
				e.writes[r] = true
			}
			e.loads = e.loads || c.loads
		}
	}
	live := make(map[int]liveness) // at the beginnings of blocks
	for changed := true; changed; {
		changed = false
		for k := len(f.Blocks) - 1; k >= 0; k-- {
			b := graph.Blocks[f.Blocks[k]]
			now := atEnd(&insts[b.Last], b.Succs, live)
			for i := b.Last; i >= b.First; i-- {
				if c := calls[i]; c != nil {
					for r := range c.writes {
						delete(now, r)
					}
					for r := range c.reads {
						now[r] = always
					}
				}
				now.through(&insts[i])
			}
			for r, g := range live[b.ID] { // more and more, so that there is an end
				now.add(r, g)
			}
			if !maps.Equal(now, live[b.ID]) {
				live[b.ID], changed = now, true
			}
		}
	}
	for r := range live[f.Entry] {
		e.reads[r] = true
	}
	return e
}

// A liveness is which registers are live at a place, each with the guard under which alone its value is read. Without guards what is written under a
// predicate and under its opposite would seem to come from elsewhere.
type liveness map[sass.Resource]sass.Guard

var always = sass.Guard{Reg: sass.PT}

// opposite is the guard that holds where another one does not.
func opposite(g sass.Guard) sass.Guard {
	g.Neg = !g.Neg
	return g
}

// add makes a register live under a guard, too.
func (l liveness) add(r sass.Resource, g sass.Guard) {
	if old, met := l[r]; met && old != g {
		g = always
	}
	l[r] = g
}

// atEnd is what is live at the end of a block with these successors.
func atEnd(last *sass.Inst, succs []int, live map[int]liveness) liveness {
	now := make(liveness)
	guards := []sass.Guard{always, always} // of falling through, of the branch
	if len(succs) == 2 && !slices.ContainsFunc(last.Operands, func(o sass.Operand) bool { return o.Source && isCondition(&o) && (o.Reg != sass.PT || o.Not) }) {
		guards = []sass.Guard{opposite(last.Guard), last.Guard}
	}
	for k, s := range succs {
		for r, g := range live[s] {
			if len(succs) == 2 && g.Always() {
				g = guards[k]
			} else if len(succs) == 2 && g != guards[k] {
				g = always
			}
			now.add(r, g)
		}
	}
	return now
}

// through goes from behind an instruction to before it.
func (l liveness) through(inst *sass.Inst) {
	for _, d := range inst.Defs(nil) {
		switch g, met := l[d]; {
		case !met:
		case inst.Guard.Always() || g == inst.Guard:
			delete(l, d)
		case g.Always():
			l[d] = opposite(inst.Guard)
		}
		for r, g := range l { // which guard that was is not known above what makes its predicate
			if !g.Always() && d == predicateOf(g) {
				l[r] = always
			}
		}
	}
	for _, r := range inst.Uses(nil) {
		if isValue(r) {
			g := inst.Guard
			if r == predicateOf(g) {
				g = always
			}
			l.add(r, g)
		}
	}
}

// predicateOf is the predicate that a guard reads.
func predicateOf(g sass.Guard) sass.Resource {
	if g.Uniform {
		return sass.ResUPred + sass.Resource(g.Reg)
	}
	return sass.ResPred + sass.Resource(g.Reg)
}
