package advisor

import (
	"cmp"
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// ifConversion matches conditions of several operands, as in a && b || c, each of which is a branch: threads come to what follows by
// different operands and go on apart, and the loads of the operands are under way one after the other. Worked out without branches
// (the if-conversion of compilers), the operands are all read at the same time, and one branch chooses.
type ifConversion struct{}

func (ifConversion) Name() string { return "if-conversion" }
func (ifConversion) Class() Class { return StallElimination }

func (ifConversion) Match(in *Input) []*Match {
	var matches []*Match
	in.eachUnstructured(func(v *visits) {
		for _, head := range v.frontiers.Order {
			if operands := in.operands(v, head); len(operands) > 0 {
				matches = append(matches, in.flattened(v, head, operands)...)
				return // those of the outermost condition
			}
		}
	})
	return matches
}

// operands returns the nodes of a condition's operands besides the first, which is in head: blocks without side effects that end in a
// branch, and to which only operands lead. Some node must be the target of several of them: otherwise they are nested conditions.
func (in *Input) operands(v *visits, head int) []int {
	if head >= len(v.fn.Blocks) || len(v.shape.Succs[head]) != 2 || in.ofLibrary(v.code, in.codes[v.code].graph.Blocks[v.fn.Blocks[head]].Last) {
		return nil
	}
	all := []int{head}
	for grown := true; grown; {
		grown = false
		for _, node := range v.frontiers.Order {
			inside := func(p int) bool { return slices.Contains(all, p) }
			if !inside(node) && in.isOperand(v, node) && in.sameCondition(v, head, node) && !slices.ContainsFunc(v.preds[node], func(p int) bool { return !inside(p) }) {
				all, grown = append(all, node), true
			}
		}
	}
	if !v.meet(all) {
		return nil
	}
	return all[1:]
}

// ofLibrary reports whether an instruction's line has a mathematical function, which brings branches of its own.
func (in *Input) ofLibrary(code, i int) bool {
	n := blamer.Node{Code: code, Inst: i}
	at := in.frame(n)
	if a := in.accurateLines(code)[at]; a != nil && a.longer {
		return true
	}
	f := in.Func(n)
	return f != nil && slices.ContainsFunc(f.Calls, func(c cfg.Call) bool {
		return in.frame(blamer.Node{Code: code, Inst: c.Inst}) == at && slices.ContainsFunc(c.Callees, func(k int) bool {
			return in.codes[code].graph.Funcs[k].Function.Kind == cubin.InternalFunction
		})
	})
}

// conditionLines is the number of source lines that one condition is taken to have at most.
const conditionLines = 3

// sameCondition reports whether the branches of two nodes are so close in the source that they belong to one condition.
func (in *Input) sameCondition(v *visits, x, y int) bool {
	g := in.codes[v.code].graph
	a := in.frame(blamer.Node{Code: v.code, Inst: g.Blocks[v.fn.Blocks[x]].Last})
	b := in.frame(blamer.Node{Code: v.code, Inst: g.Blocks[v.fn.Blocks[y]].Last})
	return a.File == b.File && max(a.Line, b.Line)-min(a.Line, b.Line) < conditionLines
}

// isOperand reports whether a node does nothing but work out whether to branch, in the same loop as its predecessors.
func (in *Input) isOperand(v *visits, node int) bool {
	if node >= len(v.fn.Blocks) || len(v.shape.Succs[node]) != 2 || len(v.preds[node]) == 0 || v.inner[node] != v.inner[v.preds[node][0]] {
		return false
	}
	g := in.codes[v.code].graph
	for _, inst := range g.Insts(g.Blocks[v.fn.Blocks[node]]) {
		switch {
		case inst.Op.Properties().Flow == sass.FlowJump, inst.Op.Properties().Sync == sass.SyncConvergence:
		case effectOf(&inst)&^(loadGlobal|accessShared) != 0:
			return false
		}
	}
	return true
}

// meet reports whether several of the nodes, at least three, lead to one outside.
func (v *visits) meet(nodes []int) bool {
	if len(nodes) < 3 {
		return false
	}
	for to := range v.preds {
		n := 0
		for _, p := range v.preds[to] {
			if slices.Contains(nodes, p) {
				n++
			}
		}
		if n > 1 && !slices.Contains(nodes, to) {
			return true
		}
	}
	return false
}

// flattened is the match of a condition: executions that go, and waits for operands that others wait for anyway.
func (in *Input) flattened(v *visits, head int, operands []int) []*Match {
	c := newCollector(in)
	idom := v.shape.Dominators()
	for node := range v.fn.Blocks {
		above := node
		for above >= 0 && above != head {
			above = idom[above]
		}
		if above == head {
			in.addFewer(c, v, node, max(0, v.again(node)))
		}
	}
	in.addRedirects(c, v, operands)
	in.addOverlapped(c, v, head, operands)
	matches := c.finish()
	for _, m := range matches {
		m.Spares = IssueSlots | SharedMemory
		m.Change = in.convertedChange(v, head, operands)
		at := in.nodePlaces(v, operands, 2)
		m.Suggestions = []string{
			fmt.Sprintf("Each of the %d operands of the condition at %s is a branch: threads part there, and each waits for its operand by itself. Read all operands first and combine them with & and | "+
				"instead of && and ||, so that the loads are under way together and one branch chooses.", len(operands)+1, at),
			"Not where an operand guards another one, as in p && p->x, or where the first one nearly always decides.",
		}
	}
	return matches
}

// convertedChange has threads come together where thread frontiers let them, and the loads of operands under way at the same time.
func (in *Input) convertedChange(v *visits, head int, operands []int) *Change {
	change := &Change{Model: frontierModel}
	free := in.freeLoads(v, head, operands)
	for _, n := range sortedKeys(free) {
		if free[n] {
			change.Overlapped = append(change.Overlapped, Overlapped{n, float64(len(operands))})
		}
	}
	return change
}

// frontierModel is the re-convergence model of thread frontiers, by the name that launches take it by.
const frontierModel = "tf-stack"

// addRedirects enters what the branches to the operands take, as far as they remain once threads come together.
func (in *Input) addRedirects(c *collector, v *visits, operands []int) {
	for _, node := range operands {
		n := blamer.Node{Code: v.code, Inst: in.codes[v.code].graph.Blocks[v.fn.Blocks[node]].First}
		took := in.redirect(n).all()
		c.addShare(in.functionScope(n), &blamer.Blame{Def: n, Use: n, Detail: blamer.InstructionFetch, Count: took, Latency: took}, 1-v.again(node))
	}
}

// addOverlapped enters the waits for the loads of operands, as far as they remain once threads come together: all but the longest,
// of those whose address needs no other operand.
func (in *Input) addOverlapped(c *collector, v *visits, head int, operands []int) {
	var waits []*blamer.Blame
	shares := map[*blamer.Blame]float64{}
	loads := in.freeLoads(v, head, operands)
	for _, node := range append([]int{head}, operands...) {
		b := in.codes[v.code].graph.Blocks[v.fn.Blocks[node]]
		for i := b.First; i <= b.Last; i++ {
			for _, w := range in.byUse[blamer.Node{Code: v.code, Inst: i}] {
				if w.Detail == blamer.GlobalMemory && loads[w.Def] {
					waits = append(waits, w)
					shares[w] = 1 - v.again(node)
				}
			}
		}
	}
	if len(waits) == 0 {
		return
	}
	longest := slices.MaxFunc(waits, func(x, y *blamer.Blame) int {
		return cmp.Compare(x.Count*shares[x], y.Count*shares[y])
	})
	for _, w := range waits {
		if w != longest {
			c.addShare(in.functionScope(w.Use), w, shares[w])
		}
	}
}

// freeLoads returns the loads of operands whose address does not depend on what another operand loads.
func (in *Input) freeLoads(v *visits, head int, operands []int) map[blamer.Node]bool {
	free, loaded := map[blamer.Node]bool{}, map[sass.Resource]bool{}
	for _, n := range in.conditionLoads(v.code, in.codes[v.code].graph.Blocks[v.fn.Blocks[head]]) {
		free[n] = true
		for _, r := range withoutCounters(in.Inst(n).Defs(nil)) {
			loaded[r] = true
		}
	}
	for _, node := range v.frontiers.Order {
		if !slices.Contains(operands, node) {
			continue
		}
		b := in.codes[v.code].graph.Blocks[v.fn.Blocks[node]]
		for i := b.First; i <= b.Last; i++ {
			n := blamer.Node{Code: v.code, Inst: i}
			inst := in.Inst(n)
			depends := slices.ContainsFunc(withoutCounters(inst.Uses(nil)), func(r sass.Resource) bool { return loaded[r] })
			free[n] = inst.Op == sass.LDG && !depends
			for _, r := range withoutCounters(inst.Defs(nil)) {
				loaded[r] = depends || inst.Op == sass.LDG
			}
		}
	}
	return free
}

// conditionLoads returns the loads of a block whose results the condition of its branch is worked out from, but for those of addresses.
func (in *Input) conditionLoads(code int, b *cfg.Block) []blamer.Node {
	var loads []blamer.Node
	needed := withoutCounters(in.Inst(blamer.Node{Code: code, Inst: b.Last}).Uses(nil))
	for i := b.Last - 1; i >= b.First; i-- {
		n := blamer.Node{Code: code, Inst: i}
		inst := in.Inst(n)
		defs := withoutCounters(inst.Defs(nil))
		made := func(r sass.Resource) bool { return slices.Contains(defs, r) }
		if !slices.ContainsFunc(needed, made) {
			continue
		}
		needed = slices.DeleteFunc(needed, made)
		if inst.Op == sass.LDG {
			loads = append(loads, n)
		} else {
			needed = append(needed, withoutCounters(inst.Uses(nil))...)
		}
	}
	return loads
}
