package advisor

import (
	"maps"
	"math"

	"gpa/cubin/sass"
)

// Where a thread gets fewer registers than values are alive, compilers compute or load some of them again, or keep them in local memory.

// A liveBlock is a block that is executed, with what is live before and after it.
type liveBlock struct {
	insts         []sass.Inst
	before, after liveness
	executions    float64
}

// liveBlocks lists the blocks that a launch executes.
func (in *Input) liveBlocks() (list []liveBlock) {
	for code, s := range in.codes {
		if s == nil || s.executions == nil {
			continue
		}
		insts := in.Module.Codes[code].Insts
		for _, f := range s.graph.Funcs {
			calls := make(map[int]*callEffect)
			for _, c := range f.Calls {
				if e := in.effectOfCall(code, c.Inst); e != nil {
					calls[c.Inst] = e
				}
			}
			live := liveAt(s.graph, f, insts, calls)
			for _, id := range f.Blocks {
				if b := s.graph.Blocks[id]; s.executions[b.First] > 0 {
					list = append(list, liveBlock{insts[b.First : b.Last+1], live[id], atEnd(&insts[b.Last], b.Succs, live), s.executions[b.First]})
				}
			}
		}
	}
	return list
}

// added is which part of their instructions blocks execute once more where a thread has so many registers. Within a block the value goes whose next
// use is farthest (Belady, "A study of replacement algorithms for a virtual-storage computer", 1966): its next use costs an instruction, and so does
// keeping it where the block has made it. That is the least with the code in its present order. Compilers choose another one, which may cost
// more.
func added(blocks []liveBlock, registers int) float64 {
	more, all := 0.0, 0.0
	for i := range blocks {
		b := &blocks[i]
		more += b.executions * float64(b.evictions(registers))
		all += b.executions * float64(len(b.insts))
	}
	return more / max(1, all)
}

// evictions counts what a block executes more with so many registers.
func (b *liveBlock) evictions(registers int) (added int) {
	u := usesOf(b.insts, b.after)
	held, made := make(map[sass.Resource]bool), make(map[sass.Resource]bool) // in registers; by the block, and nowhere else
	fit := func(k int) {
		for len(held) > registers {
			farthest, use := sass.Resource(0), -1
			for r := range held {
				if next, _ := u.next(r, k); next > use || next == use && r < farthest {
					farthest, use = r, next
				}
			}
			if made[farthest] {
				added++
			}
			delete(held, farthest)
			delete(made, farthest)
		}
	}
	for r := range b.before {
		if isGeneral(r) {
			held[r] = true
		}
	}
	fit(0)
	for k := range b.insts {
		inst := &b.insts[k]
		for _, r := range inst.Uses(nil) {
			if isGeneral(r) && !held[r] {
				held[r] = true
				added++
			}
		}
		fit(k)
		for _, r := range inst.Defs(nil) {
			if isGeneral(r) {
				held[r], made[r] = true, true
			}
		}
		maps.DeleteFunc(held, func(r sass.Resource, _ bool) bool {
			_, alive := u.next(r, k+1)
			return !alive
		})
		fit(k + 1)
	}
	return added
}

// The nextUses of a block say where values are used next, from its first instruction on.
type nextUses struct {
	events [sass.RZ][]useOrDef // by register, those not passed yet
	after  liveness
}

// A useOrDef is an instruction of a block that reads a register, or gives it another value.
type useOrDef struct {
	at  int
	use bool
}

// usesOf finds the uses in a block, behind which some registers are live.
func usesOf(insts []sass.Inst, after liveness) *nextUses {
	u := &nextUses{after: after}
	for k := range insts {
		for _, r := range insts[k].Uses(nil) {
			if isGeneral(r) {
				u.events[r] = append(u.events[r], useOrDef{k, true})
			}
		}
		for _, r := range insts[k].Defs(nil) {
			if isGeneral(r) && insts[k].Guard.Always() {
				u.events[r] = append(u.events[r], useOrDef{k, false})
			}
		}
	}
	return u
}

// next returns which instruction from the k-th on uses what a register holds before it, and whether any does; k never goes down. Uses behind the block
// are the farthest.
func (u *nextUses) next(r sass.Resource, k int) (at int, alive bool) {
	e := u.events[r]
	for len(e) > 0 && e[0].at < k {
		e = e[1:]
	}
	u.events[r] = e
	if len(e) > 0 {
		return e[0].at, e[0].use
	}
	_, alive = u.after[r]
	return math.MaxInt, alive
}

// isGeneral reports whether a resource is a general register.
func isGeneral(r sass.Resource) bool {
	return r < sass.ResReg+sass.Resource(sass.RZ)
}
