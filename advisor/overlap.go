package advisor

import (
	"maps"
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// unrollFactor is the number of rounds that unrolling is advised for, the one that NVIDIA's compiler takes by itself.
const unrollFactor = 4

// rounds returns how many rounds of a loop unrolling puts side by side that are not yet.
func (in *Input) rounds(l *cfg.Loop, blames []*blamer.Blame, trips float64, known bool) int {
	rounds := unrollFactor / in.together(l, blames)
	if known {
		rounds = min(rounds, int(trips))
	}
	return rounds
}

// together is the compiler's unroll factor, at least, as far as the loads of a loop show it that are waited for.
func (in *Input) together(l *cfg.Loop, blames []*blamer.Blame) int {
	together := 1
	for _, b := range blames {
		if in.Inst(b.Def).Op == sass.LDG {
			together = max(together, in.roundsTogether(l, b.Def))
		}
	}
	return together
}

// unrolledBy is the compiler's unroll factor, at least, as far as the loads of a loop show it.
func (in *Input) unrolledBy(code int, l *cfg.Loop) int {
	together := 1
	in.eachInst(code, l, func(i int) {
		if n := (blamer.Node{Code: code, Inst: i}); in.Inst(n).Op == sass.LDG && in.counts(n).executions > 0 && in.Loop(n) == l {
			together = max(together, in.roundsTogether(l, n))
		}
	})
	return together
}

// overlapped is the change by which the loads of several rounds are under way together; nil where they cannot be. A load whose
// address depends on what it has loaded in the round before, as in a list, has nothing to overlap with.
func (in *Input) overlapped(l *cfg.Loop, blames []*blamer.Blame, rounds int) *Change {
	loads := map[blamer.Node]bool{}
	for _, b := range blames {
		if b.Detail == blamer.GlobalMemory && in.Inst(b.Def).Op == sass.LDG && !in.waitsForRound(l, b.Def) {
			loads[b.Def] = true
		}
	}
	if len(loads) == 0 {
		return nil
	}
	change := &Change{}
	for _, n := range slices.SortedFunc(maps.Keys(loads), compareNodes) {
		change.Overlapped = append(change.Overlapped, Overlapped{n, float64(rounds)})
	}
	return change
}

// roundsTogether is the compiler's unroll factor as far as a load shows it: the loads of its line in its loop.
func (in *Input) roundsTogether(l *cfg.Loop, load blamer.Node) int {
	n := 0
	in.eachInst(load.Code, l, func(i int) {
		if i == load.Inst || in.loadsLike(load, blamer.Node{Code: load.Code, Inst: i}) {
			n++
		}
	})
	return max(1, n/in.loadsOfLine(load))
}

// loadsLike reports whether an instruction is a load of the same line, from the same array as far as that is known.
func (in *Input) loadsLike(load, other blamer.Node) bool {
	at, arrays := in.frame(load), in.arrays()
	one, known := arrays[load]
	another, alsoKnown := arrays[other]
	return in.Inst(other).Op == sass.LDG && at.Line > 0 && in.frame(other) == at && (!known || !alsoKnown || one == another)
}

// loadsOfLine is how many loads the line of a load has in one round. Copies that the compiler has made of one load have the same
// base, or a base that is computed from that of another.
func (in *Input) loadsOfLine(load blamer.Node) int {
	at, l := in.frame(load), in.Loop(load)
	if at.Line == 0 || l == nil {
		return 1
	}
	t := in.newTrace(load.Code, in.path(in.codes[load.Code], l.Header, l, map[int]bool{}))
	within, _ := t.dependences()
	made := map[int]bool{} // steps that make the base of a load of the line
	bases := map[sass.Resource]bool{}
	var loads []int
	for i := range t.steps {
		n := blamer.Node{Code: load.Code, Inst: t.steps[i].insts[0]}
		if in.loadsLike(load, n) {
			loads = append(loads, i)
			bases[sass.ResReg+sass.Resource(addressRegister(&(*t.code)[n.Inst]))] = true
			for _, d := range within[i] {
				made[d] = true
			}
		}
	}
	seen, originals := map[uint8]bool{}, 0
	for _, i := range loads {
		base := addressRegister(&(*t.code)[t.steps[i].insts[0]])
		if !seen[base] && !t.derived(within, i, made, bases) {
			originals++
		}
		seen[base] = true
	}
	return max(1, originals)
}

// derived reports whether the address of a load is computed from that of another: from what makes it, or from the register that
// holds it.
func (t *trace) derived(within [][]int, load int, made map[int]bool, bases map[sass.Resource]bool) bool {
	for _, own := range within[load] {
		if !made[own] || slices.ContainsFunc(within[own], func(i int) bool { return t.steps[i].op == sass.LDG }) {
			continue // an address that is loaded is another's only by the name of its register
		}
		if anyOf(within[own], made) || slices.ContainsFunc(t.uses(own), func(r sass.Resource) bool { return bases[r] }) {
			return true
		}
	}
	return false
}

// isWithin reports whether an instruction is of a loop of a section.
func (in *Input) isWithin(code int, l *cfg.Loop, n blamer.Node) bool {
	b := in.Block(n)
	return n.Code == code && b != nil && l.Contains(b.ID)
}

// eachInst visits the instructions of a loop.
func (in *Input) eachInst(code int, l *cfg.Loop, visit func(i int)) {
	if l == nil {
		return
	}
	g := in.codes[code].graph
	for _, id := range l.Blocks {
		for i := g.Blocks[id].First; i <= g.Blocks[id].Last; i++ {
			visit(i)
		}
	}
}

// waitsForRound reports whether a load cannot be under way before the round before it has ended: it reads where that says, or what that
// has stored.
func (in *Input) waitsForRound(l *cfg.Loop, load blamer.Node) bool {
	return in.chases(l, load) || in.feedsBack(l, load) || in.movesByData(l, load)
}

// movesByData reports whether what a loop has loaded decides whether the address of a load moves on, as in merges of two lists.
func (in *Input) movesByData(l *cfg.Loop, load blamer.Node) bool {
	g := in.codes[load.Code].graph
	node := func(i int) blamer.Node { return blamer.Node{Code: load.Code, Inst: i} }
	eachRound := func(b int) bool {
		return !slices.ContainsFunc(g.Blocks[l.Header].Preds, func(p int) bool { return l.Contains(p) && !g.Dominates(b, p) })
	}
	loads := func(i int) bool { return fromElsewhere(in.Inst(node(i)).Op) }
	return in.reaches(l, load, func(def int) bool {
		guard := in.Inst(node(def)).Guard
		if b := g.Block(def).ID; guard.Always() && eachRound(b) || !in.reaches(l, node(def), func(i int) bool { return i == def }) {
			return false
		}
		if !guard.Always() && slices.ContainsFunc(in.defsWithin(l, load.Code, def, guard.Resource()), func(i int) bool { return in.reaches(l, node(i), loads) }) {
			return true
		}
		for b := g.Block(def).ID; b >= 0 && b != l.Header && !eachRound(b); {
			b = g.Blocks[b].Idom
			if in.reaches(l, node(g.Blocks[b].Last), loads) {
				return true
			}
		}
		return false
	})
}

// chases reports whether the address of a load depends, within its loop, on what the load itself returns.
func (in *Input) chases(l *cfg.Loop, load blamer.Node) bool {
	return in.reaches(l, load, func(def int) bool { return def == load.Inst })
}

// reaches reports whether what an instruction of a loop reads depends, within the loop, on one of some instructions.
func (in *Input) reaches(l *cfg.Loop, from blamer.Node, one func(def int) bool) bool {
	met := map[regAt]bool{}
	var follow func(i int) bool
	follow = func(i int) bool {
		for _, r := range in.Inst(blamer.Node{Code: from.Code, Inst: i}).Uses(nil) {
			if at := (regAt{r, i}); r >= sass.ResUReg || met[at] {
				continue
			} else {
				met[at] = true
			}
			for _, def := range in.defsWithin(l, from.Code, i, r) {
				if one(def) || follow(def) {
					return true
				}
			}
		}
		return false
	}
	return follow(from.Inst)
}

// A regAt is a register as an instruction reads it.
type regAt struct {
	reg  sass.Resource
	inst int
}

// defsWithin lists the instructions of a loop, of the whole section where it is nil, whose value of a register an instruction may read, in
// this round or the one before.
func (in *Input) defsWithin(l *cfg.Loop, code, use int, r sass.Resource) []int {
	g := in.codes[code].graph
	var defs []int
	guard := in.Inst(blamer.Node{Code: code, Inst: use}).Guard
	// above looks from an instruction upwards in its block and reports whether the value is made there for certain: by what is executed always, or
	// under the guard of the use while that is the same.
	above := func(b *cfg.Block, from int, guarded bool) bool {
		for i := from; i >= b.First; i-- {
			inst := in.Inst(blamer.Node{Code: code, Inst: i})
			written := inst.Defs(nil)
			guarded = guarded && !slices.Contains(written, guard.Resource())
			if slices.Contains(written, r) {
				defs = append(defs, i)
				if inst.Guard.Always() || guarded && inst.Guard == guard {
					return true
				}
			}
			if e := in.effectOfCall(code, i); e != nil && e.writes[r] {
				defs = append(defs, i)
				return true
			}
		}
		return false
	}
	start := g.Block(use)
	if above(start, use-1, !guard.Always()) {
		return defs
	}
	seen := map[int]bool{}
	queue := slices.Clone(start.Preds)
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if seen[id] || l != nil && !l.Contains(id) {
			continue
		}
		seen[id] = true
		if b := g.Blocks[id]; !above(b, b.Last, false) {
			queue = append(queue, b.Preds...)
		}
	}
	return defs
}

func writesAny(in *sass.Inst, wanted map[sass.Resource]bool) bool {
	for _, r := range in.Defs(nil) {
		if wanted[r] {
			return true
		}
	}
	return false
}

// addressRegister is the base of a memory instruction, RZ where it has none.
func addressRegister(in *sass.Inst) uint8 {
	if o := in.Address(); o != nil {
		return o.Reg
	}
	return sass.RZ
}
