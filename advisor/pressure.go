package advisor

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// Where a thread gets fewer registers than values are alive, compilers compute or load some of them again, or keep them in local memory.

// added is which part of its instructions a kernel executes once more where a thread has so many registers. Within a block the value goes whose next
// use is farthest (Belady, "A study of replacement algorithms for a virtual-storage computer", 1966): its next use costs an instruction, and so does
// keeping it where the block has made it. That is the least with the code in its present order. Compilers choose another one, which may cost
// more.
func (in *Input) added(registers int) float64 {
	more, all := 0.0, 0.0
	for code, s := range in.codes {
		if s == nil || s.executions == nil {
			continue
		}
		insts := in.Module.Codes[code].Insts
		for _, executions := range s.executions {
			all += executions
		}
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
					more += s.executions[b.First] * float64(evictions(b, insts, live[id], atEnd(&insts[b.Last], b.Succs, live), registers))
				}
			}
		}
	}
	return more / max(1, all)
}

// evictions counts what a block executes more with so many registers, of which some are live before and after it.
func evictions(b *cfg.Block, insts []sass.Inst, before, after liveness, registers int) (added int) {
	const behind = math.MaxInt // the next use of what the block does not use
	next := make([]map[sass.Resource]int, b.Last-b.First+2)
	next[len(next)-1] = make(map[sass.Resource]int)
	for r := range after {
		next[len(next)-1][r] = behind
	}
	for k := len(next) - 2; k >= 0; k-- {
		inst := &insts[b.First+k]
		next[k] = maps.Clone(next[k+1])
		for _, r := range inst.Defs(nil) {
			if inst.Guard.Always() {
				delete(next[k], r)
			}
		}
		for _, r := range inst.Uses(nil) {
			next[k][r] = k
		}
	}
	held, made := make(map[sass.Resource]bool), make(map[sass.Resource]bool) // in registers; by the block, and nowhere else
	fit := func(next map[sass.Resource]int) {
		for len(held) > registers {
			farthest := slices.MaxFunc(slices.Sorted(maps.Keys(held)), func(r, s sass.Resource) int { return cmp.Compare(next[r], next[s]) })
			if made[farthest] {
				added++
			}
			delete(held, farthest)
			delete(made, farthest)
		}
	}
	for r := range before {
		if isGeneral(r) {
			held[r] = true
		}
	}
	fit(next[0])
	for k := range len(next) - 1 {
		inst := &insts[b.First+k]
		for _, r := range inst.Uses(nil) {
			if isGeneral(r) && !held[r] {
				held[r] = true
				added++
			}
		}
		fit(next[k])
		for _, r := range inst.Defs(nil) {
			if isGeneral(r) {
				held[r], made[r] = true, true
			}
		}
		maps.DeleteFunc(held, func(r sass.Resource, _ bool) bool {
			_, alive := next[k+1][r]
			return !alive
		})
		fit(next[k+1])
	}
	return added
}

func isGeneral(r sass.Resource) bool {
	return r < sass.ResReg+sass.Resource(sass.RZ)
}
