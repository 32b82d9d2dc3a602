package advisor

import (
	"fmt"
	"maps"
	"slices"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// restrictPointers matches the stalls of loads that stand behind a store, and of those that read again what was read before it:
// the compiler cannot know that the store goes elsewhere. Without that doubt the value stays in a register, and the other loads
// move up in front of the store.
type restrictPointers struct{}

func (restrictPointers) Name() string { return "restrict-pointers" }
func (restrictPointers) Class() Class { return LatencyHiding }

func (restrictPointers) Match(in *Input) []*Match {
	again, behind := in.reloads()
	each := in.loadedEachRound()
	maps.Copy(again, each)
	assumed := in.dropWritten(again)
	assumed = in.dropWritten(behind) || assumed
	c := newCollector(in)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if (again[b.Def] || behind[b.Def]) && (b.Detail == blamer.GlobalMemory || b.Detail == blamer.MemoryThrottle) {
			c.add(in.innermost(b.Def), b)
		}
	}
	for _, n := range sortedKeys(again) {
		if issued := in.codes[n.Code].issued[n.Inst]; issued > 0 {
			c.add(in.innermost(n), &blamer.Blame{Def: n, Use: n, Detail: blamer.NotSelected, Count: issued})
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.Spares = L2 | IssueSlots
		m.hide(in.hiddenWithout(m.Scope, again) - in.hidden(m.Scope, freedom{}))
		m.Gone = in.issuedAt(again, m.Scope)
		m.Suggestions = in.restrictSuggestions(m, again, each)
		m.Change = in.loadedFirst(m, again, behind)
		if assumed {
			m.assume(assumedUnwritten)
		}
	}
	return matches
}

// dropWritten leaves the loads of memory to which nobody stores during the launch but the thread that loads, and reports whether that is
// assumed of any. What a thread has stored itself through the same pointer the compiler knows.
func (in *Input) dropWritten(loads map[blamer.Node]bool) (assumed bool) {
	for n := range loads {
		written, known := in.written(n)
		if written && !in.ownMemory(n) {
			delete(loads, n)
		}
		assumed = assumed || !known && in.counts(n).executions > 0
	}
	return assumed
}

// loadedFirst is the change by which what is loaded again is not, and the other loads of a stretch of code come first in it.
func (in *Input) loadedFirst(m *Match, again, behind map[blamer.Node]bool) *Change {
	var loads []blamer.Node
	for _, n := range sortedKeys(behind) {
		if s := in.innermost(n); !again[n] && s.Code == m.Scope.Code && s.Loop == m.Scope.Loop {
			loads = append(loads, n)
		}
	}
	return in.hoisted(loads).with(&Change{Gone: sortedKeys(again)})
}

// hoisted is the change by which loads come first in their stretches of code, with the registers that compilers spend on that.
func (in *Input) hoisted(loads []blamer.Node) *Change {
	c := &Change{Streams: &Streams{Hoisted: loads}}
	if len(loads) > 0 {
		words := 0
		for _, n := range loads {
			words += in.words(n)
		}
		c.Streams.HoistWords = hoistedWords
		c.Registers = min(in.mostRegisters(), in.Launch.Facts.Registers+min(words, hoistedWords))
	}
	return c
}

// hoistedWords is how many registers compilers fill with values that are loaded early in a stretch of code: NVRTC 12.9 has 11 to 12 words
// under way in the unrolled loops column_restrict of emu/testdata/layouts.cu, with the 32 registers that all threads of an SM can have.
const hoistedWords = 12

func (in *Input) restrictSuggestions(m *Match, again, each map[blamer.Node]bool) []string {
	declare := "If the pointers never overlap, declare them const T *__restrict__ and T *__restrict__; then "
	if m.Scope.Loop != nil {
		if own := slices.DeleteFunc(sortedKeys(each), func(n blamer.Node) bool { return !again[n] || in.Loop(n) != m.Scope.Loop }); len(own) > 0 {
			return []string{
				fmt.Sprintf("What is read at %s is the same in every round of the loop, and is loaded again in each, as a store or an atomic operation there might have changed it. Read it into local variables before the loop: the fields of a structure behind a pointer, too, and the pointers in it.", in.places(own, 3)),
				"What the compiler computes from it, as the reciprocal for a division by it, then is before the loop as well. Not where other threads change it meanwhile.",
			}
		}
	}
	if len(again) > 0 {
		return []string{
			fmt.Sprintf("The value at %s is loaded again after a store that might have changed it. %sit stays in a register, and other loads need not wait for the store either.",
				in.places(sortedKeys(again), 3), declare),
			"Or keep it in a local variable across the store. Not where the arrays do overlap.",
		}
	}
	return []string{
		fmt.Sprintf("The loads at %s stand behind stores that might change what they read, so that they are under way one after the other. %sthe compiler loads first and stores afterwards.",
			in.places(m.defs(), 3), declare),
		"Or load into local variables before the first store. Not where the arrays do overlap.",
	}
}

// reloads returns the loads of what was read before, and those that stand behind the same stores.
func (in *Input) reloads() (again, behind map[blamer.Node]bool) {
	again, behind = map[blamer.Node]bool{}, map[blamer.Node]bool{}
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		for _, b := range s.graph.Blocks {
			insts := in.Module.Codes[code].Insts[b.First : b.Last+1]
			list := reloads(insts)
			for _, i := range list {
				again[blamer.Node{Code: code, Inst: b.First + i}] = true
			}
			for i := range insts {
				if insts[i].Op == sass.LDG && stored(insts[:i]) {
					behind[blamer.Node{Code: code, Inst: b.First + i}] = true
				}
			}
		}
	}
	return again, behind
}

// fewestRounds is how many rounds of a loop make what is loaded once before it a small part of what is loaded in them.
const fewestRounds = 3

// loadedEachRound returns the loads of loops from an address that stays as it is in the loop, in which something is stored or changed by atomics: but for
// that the compiler would load once, before the loop.
func (in *Input) loadedEachRound() map[blamer.Node]bool {
	again := make(map[blamer.Node]bool)
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op == sass.LDG }) {
		l := in.Loop(n)
		if l == nil || !in.invariantAddress(n) || in.Inst(n).Mod(sass.Order) == sass.OrderStrong {
			continue
		}
		if rounds, known := in.TripCount(n.Code, l); !known || rounds < fewestRounds || in.hasBarrier(n.Code, l) {
			continue
		}
		in.eachInst(n.Code, l, func(i int) {
			p := in.Module.Codes[n.Code].Insts[i].Op.Properties()
			if p.Stores(sass.SpaceGlobal) || p.Atomic(sass.SpaceGlobal|sass.SpaceGeneric) {
				again[n] = true
			}
		})
	}
	return again
}

func stored(insts []sass.Inst) bool {
	return slices.ContainsFunc(insts, func(i sass.Inst) bool { return i.Op == sass.STG })
}

// hiddenWithout is how much of a scope's time goes when some of its loads do, and the others may pass stores.
func (in *Input) hiddenWithout(s Scope, gone map[blamer.Node]bool) float64 {
	sum := 0.0
	for _, t := range in.traces(s) {
		f := freedom{noAlias: true, words: hoistedWords, gone: steps{}}
		for i := range t.steps {
			f.gone[i] = len(t.steps[i].insts) == 1 && gone[blamer.Node{Code: s.Code, Inst: t.steps[i].insts[0]}]
		}
		sum += t.hidden(f)
	}
	return sum
}

// issuedAt is the number of samples in which instructions issued whose innermost scope is this one: those in loops in it belong to
// the matches of these.
func (in *Input) issuedAt(nodes map[blamer.Node]bool, s Scope) float64 {
	sum := 0.0
	for _, n := range sortedKeys(nodes) {
		own := in.innermost(n)
		if own.Frame = s.Frame; own == s {
			sum += in.codes[n.Code].issued[n.Inst]
		}
	}
	return sum
}

// innermost is the scope of the innermost loop around an instruction, of its function outside loops.
func (in *Input) innermost(n blamer.Node) Scope {
	if l := in.Loop(n); l != nil {
		return in.loopScope(n.Code, l)
	}
	return in.functionScope(n)
}

func sortedKeys[V any](m map[blamer.Node]V) []blamer.Node {
	return slices.SortedFunc(maps.Keys(m), compareNodes)
}

// reloads returns the loads of a block from an address that was loaded from before, with a store to global memory and no change
// of the address between.
func reloads(insts []sass.Inst) []int {
	var list []int
	stored := make(map[wordAccess]bool) // loaded from → whether a store came after
	for i := range insts {
		in := &insts[i]
		a, ok := wordOf(in)
		switch {
		case ok && a.op == sass.LDG:
			if after, found := stored[a]; found && after {
				list = append(list, i)
			}
			stored[a] = false
		case in.Op == sass.STG:
			for key := range stored {
				stored[key] = true
			}
		case ordersMemory(in.Op):
			clear(stored) // others may have written it
		}
		for key := range stored {
			if writesRegister(in, key.base) {
				delete(stored, key)
			}
		}
	}
	return list
}
