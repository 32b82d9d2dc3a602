package advisor

import (
	"maps"
	"slices"

	"gpa/blamer"
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
	for _, c := range in.codes[code].graph.Func(inst).Calls {
		if c.Inst == inst && len(c.Remote) == 0 && c.Extern == "" {
			return in.effectOf(code, c.Callees)
		}
	}
	return nil
}

// effectOf returns what some functions do, any of which may be called; nil where there is none, or one that calls what is not known, or itself.
func (in *Input) effectOf(code int, functions []int) (e *callEffect) {
	for _, k := range functions {
		at := [2]int{code, k}
		own, met := in.functions[at]
		if !met {
			if in.functions == nil {
				in.functions = make(map[[2]int]*callEffect)
			}
			in.functions[at] = nil // until it is known: a function that calls itself is not
			own = in.functionEffect(code, in.codes[code].graph.Funcs[k])
			in.functions[at] = own
		}
		switch {
		case own == nil:
			return nil
		case len(functions) == 1:
			return own
		case e == nil:
			e = newCallEffect()
		}
		e.add(own)
	}
	return e
}

func newCallEffect() *callEffect {
	return &callEffect{reads: make(map[sass.Resource]bool), writes: make(map[sass.Resource]bool)}
}

func (e *callEffect) add(x *callEffect) {
	maps.Copy(e.reads, x.reads)
	maps.Copy(e.writes, x.writes)
	e.loads = e.loads || x.loads
}

// calledIn lists the instructions of the functions that a loop calls, and of those that they call.
func (in *Input) calledIn(code int, l *cfg.Loop) (list []blamer.Node) {
	graph, met := in.codes[code].graph, make(map[int]bool)
	var add func(calls []cfg.Call)
	add = func(calls []cfg.Call) {
		for _, c := range calls {
			for _, callee := range c.Callees {
				if met[callee] {
					continue
				}
				met[callee] = true
				f := graph.Funcs[callee]
				for _, b := range f.Blocks {
					for i := graph.Blocks[b].First; i <= graph.Blocks[b].Last; i++ {
						list = append(list, blamer.Node{Code: code, Inst: i})
					}
				}
				add(f.Calls)
			}
		}
	}
	for _, c := range graph.Funcs[l.Func].Calls {
		if l.Contains(graph.Block(c.Inst).ID) {
			add([]cfg.Call{c})
		}
	}
	return list
}

// functionEffect finds which registers are live at the entry of a function and which it writes.
func (in *Input) functionEffect(code int, f *cfg.Func) *callEffect {
	graph, insts := in.codes[code].graph, in.Module.Codes[code].Insts
	e := newCallEffect()
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
			maps.Copy(e.writes, c.writes)
			e.loads = e.loads || c.loads
		}
	}
	for r := range liveAt(graph, f, insts, calls)[f.Entry] {
		e.reads[r] = true
	}
	return e
}

// liveAt returns what is live at the beginnings of the blocks of a function, of whose calls the effects are known.
func liveAt(graph *cfg.Graph, f *cfg.Func, insts []sass.Inst, calls map[int]*callEffect) map[int]liveness {
	live := make(map[int]liveness)
	for changed := true; changed; {
		changed = false
		for k := len(f.Blocks) - 1; k >= 0; k-- {
			b := graph.Blocks[f.Blocks[k]]
			now := atEnd(&insts[b.Last], b.Succs, live)
			for i := b.Last; i >= b.First; i-- {
				now.before(&insts[i], calls[i])
			}
			for r, g := range live[b.ID] { // more and more, so that there is an end
				now.add(r, g)
			}
			if !maps.Equal(now, live[b.ID]) {
				live[b.ID], changed = now, true
			}
		}
	}
	return live
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

// before goes from behind an instruction to before it, with what it calls.
func (l liveness) before(inst *sass.Inst, called *callEffect) {
	if called != nil {
		for r := range called.writes {
			delete(l, r)
		}
		for r := range called.reads {
			l[r] = always
		}
	}
	l.through(inst)
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
			if !g.Always() && d == g.Resource() {
				l[r] = always
			}
		}
	}
	for _, r := range inst.Uses(nil) {
		if isValue(r) {
			g := inst.Guard
			if r == g.Resource() {
				g = always
			}
			l.add(r, g)
		}
	}
}
