package convergence

import (
	"slices"

	"gpa/cubin/cfg"
	"gpa/emu/activity"
)

// An Activity says where the lanes of warps were, as Gupta and Datta have it.
type Activity struct {
	Model    string // the row that was watched
	Scopes   []Scope
	Branches []activity.BranchUse // by section and address
}

// Total returns the slots of the kernel and all that it calls.
func (a *Activity) Total() *activity.Slots { return &a.Scopes[0].Slots }

// ScopeKind is what a scope is.
type ScopeKind string

// The kinds of scopes.
const (
	KernelScope   ScopeKind = "kernel"   // with all that it calls
	FunctionScope ScopeKind = "function" // with what was inlined into it, at all places where it was itself inlined
	LoopScope     ScopeKind = "loop"
)

// A Scope is a part of a kernel and the lanes of the instructions that it issued.
type Scope struct {
	Kind     ScopeKind
	Function string // demangled; of a loop the innermost function that its header comes from
	File     string // empty where the cubin does not tell
	Line     int    // first one of a function; of a loop its header's
	Depth    int    // of a loop, 1 for an outermost one
	activity.Slots
}

// An instruction is one of a section.
type instruction struct{ code, inst int }

// A region is a scope and its instructions.
type region struct {
	Scope
	insts []instruction
}

// regions lists the scopes of functions: the kernel, the functions by address, the loops of each, outermost first.
func regions(kernel string, functions []function) []region {
	all := region{Scope: Scope{Kind: KernelScope, Function: kernel}}
	var named, loops []region
	for _, f := range functions {
		var insts []instruction
		for _, id := range f.fn.Blocks {
			insts = appendBlock(insts, f, id)
		}
		all.insts = append(all.insts, insts...)
		named = nameRegions(named, f, insts)
		loops = loopRegions(loops, f)
	}
	for i := range named {
		if named[i].Function == kernel {
			all.File, all.Line = named[i].File, named[i].Line
		}
	}
	return slices.Concat([]region{all}, named, loops)
}

// appendBlock appends the instructions of a block.
func appendBlock(list []instruction, f function, id int) []instruction {
	b := f.graph.Blocks[id]
	for i := b.First; i <= b.Last; i++ {
		list = append(list, instruction{f.graph.Code.Index, i})
	}
	return list
}

// nameRegions adds instructions to the functions that they come from, by their inline stacks.
func nameRegions(list []region, f function, insts []instruction) []region {
	for _, at := range insts {
		var seen []string
		for _, frame := range f.graph.Code.Frames(f.graph.Code.Insts[at.inst].PC) {
			if slices.Contains(seen, frame.Function) { // recursion
				continue
			}
			seen = append(seen, frame.Function)
			i := slices.IndexFunc(list, func(r region) bool { return r.Function == frame.Function })
			if i < 0 {
				i = len(list)
				list = append(list, region{Scope: Scope{Kind: FunctionScope, Function: frame.Function, File: frame.File, Line: frame.Line}})
			}
			r := &list[i]
			if r.insts = append(r.insts, at); frame.Line > 0 && (r.Line == 0 || frame.Line < r.Line) {
				r.File, r.Line = frame.File, frame.Line
			}
		}
	}
	return list
}

// loopRegions adds the loops of a function.
func loopRegions(list []region, f function) []region {
	for _, l := range f.graph.Loops {
		if f.graph.Funcs[l.Func] != f.fn || l.Gather {
			continue
		}
		header := f.graph.Blocks[l.Header]
		frame := f.graph.Code.Line(f.graph.Code.Insts[header.First].PC)
		r := region{Scope: Scope{Kind: LoopScope, Function: frame.Function, File: frame.File, Line: frame.Line, Depth: depth(l)}}
		for _, id := range l.Blocks {
			r.insts = appendBlock(r.insts, f, id)
		}
		list = append(list, r)
	}
	return list
}

// depth counts the loops around a loop and itself, without those that only gather lanes.
func depth(l *cfg.Loop) int {
	n := 0
	for ; l != nil; l = l.Parent {
		if !l.Gather {
			n++
		}
	}
	return n
}

// measure returns the scopes with what has been counted of their instructions.
func (k *kernelFacts) measure(m *activity.Branches) []Scope {
	list := make([]Scope, len(k.regions))
	for i := range k.regions {
		list[i] = k.regions[i].Scope
		for _, at := range k.regions[i].insts {
			list[i].Slots.Add(m.Slots(at.code, at.inst))
		}
	}
	return list
}

// add adds what the same kernel did in another launch.
func (a *Activity) add(o *Activity) {
	for i := range a.Scopes {
		a.Scopes[i].Slots.Add(&o.Scopes[i].Slots)
	}
	for i := range a.Branches {
		a.Branches[i].Add(&o.Branches[i])
	}
}

// clone returns a copy that can be added to.
func (a *Activity) clone() *Activity {
	return &Activity{Model: a.Model, Scopes: slices.Clone(a.Scopes), Branches: slices.Clone(a.Branches)}
}
