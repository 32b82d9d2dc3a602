package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// What integer divisions of the program, and those of the compiler, divide by.

// divisorOf says which parameter of the kernel the integer divisions at some instructions divide by, as in " (the kernel's parameter 3)"; "" where that is
// not one, or not one alone.
func (in *Input) divisorOf(nodes []blamer.Node) string {
	found := -1
	for _, n := range nodes {
		at := in.frame(n)
		for i := range in.Module.Codes[n.Code].Insts {
			seed := blamer.Node{Code: n.Code, Inst: i}
			if !isReciprocalSeed(in.Inst(seed)) || in.frame(seed) != at {
				continue
			}
			p := in.parameterIn(seed, 2)
			if p < 0 || found >= 0 && p != found {
				return ""
			}
			found = p
		}
	}
	if found < 0 {
		return ""
	}
	return fmt.Sprintf(" (the kernel's parameter %d)", found+1)
}

// parameterIn is the number of the kernel's parameter that is the operand of an instruction, itself or by way of so many instructions that move it or take
// its absolute value; -1 where it is none.
func (in *Input) parameterIn(n blamer.Node, depth int) int {
	inst := in.Inst(n)
	for k := range inst.Operands {
		if o := &inst.Operands[k]; o.Source && o.Kind == sass.KindConst && o.Bank == 0 {
			return in.parameterAt(int(o.Offset))
		}
	}
	if depth == 0 {
		return -1
	}
	if defs := in.operandsFrom(n); len(defs) == 1 && (moves(in.Inst(defs[0])) || in.Inst(defs[0]).Op == sass.IABS) {
		return in.parameterIn(defs[0], depth-1)
	}
	return -1
}

// parameterAt is the number of the launch's parameter at an offset of constant bank 0, -1 where there is none.
func (in *Input) parameterAt(offset int) int {
	k, err := in.Module.Kernel(in.Launch.Kernel)
	if err != nil {
		return -1
	}
	i := slices.IndexFunc(k.Params, func(p cubin.Param) bool { return k.ParamBase+p.Offset == offset })
	if i < 0 {
		return -1
	}
	return k.Params[i].Ordinal
}

// stepsByValue reports whether what a loop compares to know its end grows from round to round by a value that the compiler does not know, for which it has
// to divide to know the number of rounds.
func (in *Input) stepsByValue(code int, l *cfg.Loop) bool {
	f := in.flowOf(code, l)
	needed := f.needs(f.exits()...)
	return slices.ContainsFunc(f.cycles(), func(cycle []int) bool {
		return f.isInduction(cycle) && slices.ContainsFunc(cycle, func(n int) bool { return needed[n] && n >= 0 && f.addsValue(n, cycle) })
	})
}

// addsValue reports whether an instruction of a cycle adds a value that is no number in the code.
func (f *registerFlow) addsValue(n int, cycle []int) bool {
	if slices.ContainsFunc(f.inst(n).Operands, func(o sass.Operand) bool { return o.Source && o.Kind == sass.KindConst }) {
		return true
	}
	return slices.ContainsFunc(f.from[n], func(e flowEdge) bool {
		return !slices.Contains(cycle, e.node) && !f.isCarry(e) && !isPredicate(e.resource)
	})
}
