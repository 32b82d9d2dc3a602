package advisor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// frame returns where an instruction is in the source, the innermost inlined function; the zero Frame where the module
// has no lines.
func (in *Input) frame(n blamer.Node) cubin.Frame {
	c := in.Module.Codes[n.Code]
	if frames := c.Frames(c.Insts[n.Inst].PC); len(frames) > 0 {
		return frames[0]
	}
	return cubin.Frame{}
}

// ownFrame returns where an instruction is in what the user wrote: code of the toolkit's headers is where it is called, and the compiler's own functions,
// which have no lines, are where they are called most.
func (in *Input) ownFrame(n blamer.Node) cubin.Frame {
	c := in.Module.Codes[n.Code]
	const deepest = 4 // functions that call each other
	for depth := 0; ; depth++ {
		pc := c.Insts[n.Inst].PC
		frames := c.Frames(pc)
		if len(frames) > 0 && frames[cubin.OwnFrame(frames)].Line > 0 {
			return frames[cubin.OwnFrame(frames)]
		}
		if f := c.FunctionAt(pc); f != nil && f.Kind == cubin.InternalFunction && depth < deepest {
			if call, found := in.mostCalled(n.Code, f); found {
				n = call
				continue
			}
		}
		if len(frames) > 0 {
			return frames[cubin.OwnFrame(frames)]
		}
		return cubin.Frame{}
	}
}

// mostCalled is the call of a function of its section that is executed most.
func (in *Input) mostCalled(code int, f *cubin.Function) (call blamer.Node, found bool) {
	most := 0.0
	for _, pc := range in.Module.Codes[code].Calls(f) {
		n := blamer.Node{Code: code, Inst: int(pc / sass.InstSize)}
		if k := in.counts(n).executions; k > most {
			most, call, found = k, n, true
		}
	}
	return call, found
}

// place names an instruction's source line as file:line, the instruction itself as function+offset where its line is unknown.
func (in *Input) place(n blamer.Node) string { return in.placeOf(in.ownFrame(n), n) }

// scopePlace names the source line at which a scope begins, its first instruction where that is unknown.
func (in *Input) scopePlace(s Scope) string { return in.placeOf(in.scopeFrame(s), in.scopeEntry(s)) }

func (in *Input) placeOf(f cubin.Frame, n blamer.Node) string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
	}
	c, name := in.Module.Codes[n.Code], "?"
	pc := c.Insts[n.Inst].PC
	if fn := c.FunctionAt(pc); fn != nil {
		name = fn.Demangled
	}
	return fmt.Sprintf("%s+0x%04x", name, pc)
}

// scopeEntry is the first instruction of a scope.
func (in *Input) scopeEntry(s Scope) blamer.Node {
	switch {
	case s.Loop != nil:
		return blamer.Node{Code: s.Code, Inst: in.codes[s.Code].graph.Blocks[s.Loop.Header].First}
	case s.Func != nil:
		return blamer.Node{Code: s.Code, Inst: in.codes[s.Code].graph.Blocks[s.Func.Entry].First}
	}
	return blamer.Node{Code: s.Code} // a launch without samples has no graph
}

// places names the source lines of nodes, each once, at most n of them.
func (in *Input) places(nodes []blamer.Node, n int) string {
	var names []string
	for _, node := range nodes {
		name := in.place(node)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if len(names) == n {
			break
		}
	}
	return strings.Join(names, ", ")
}

// scopeFrame returns where a scope begins in the source.
func (in *Input) scopeFrame(s Scope) cubin.Frame {
	switch {
	case s.Loop != nil:
		return in.loopFrame(s.Code, s.Loop)
	case s.Func != nil, s.Kind == KernelScope && s.Code < len(in.Module.Codes) && len(in.Module.Codes[s.Code].Insts) > 0:
		return in.ownFrame(in.scopeEntry(s))
	}
	return cubin.Frame{}
}

// loopFrame returns the source line of a loop statement. Compilers give the branch that closes the loop the line of the
// statement or that of the body's end, and move the condition; the first of the lines of the header and of the closing
// branches, within the function of the closing branch, is the best guess.
func (in *Input) loopFrame(code int, l *cfg.Loop) cubin.Frame {
	g := in.codes[code].graph
	header := g.Blocks[l.Header]
	at := in.ownFrame(blamer.Node{Code: code, Inst: header.First})
	for _, p := range header.Preds {
		if !l.Contains(p) {
			continue
		}
		f := in.ownFrame(blamer.Node{Code: code, Inst: g.Blocks[p].Last})
		if f.Line > 0 && (at.Line == 0 || f.File != at.File || f.Function != at.Function || f.Line < at.Line) {
			at = f
		}
	}
	return at
}

// lineOps are the opcodes that a source line was compiled to.
type lineOps struct{ i2f, rcp, f2i, lg2, ex2 bool }

// integerDivision reports whether the line holds the sequence by which the compiler divides 32-bit integers: the
// reciprocal of the divisor, converted upwards, in floating point, converted back and corrected. Conversions of the program around a
// division of floats are none.
func (l lineOps) integerDivision() bool { return l.i2f && l.rcp && l.f2i }

// power reports whether the line holds that of a power of floats.
func (l lineOps) power() bool { return l.lg2 && l.ex2 }

// lineOps looks at the instructions around one that have its line. Without lines it looks at its block.
func (in *Input) lineOps(n blamer.Node) lineOps {
	at := in.frame(n)
	code := in.Module.Codes[n.Code]
	var ops lineOps
	b := in.Block(n)
	if b == nil {
		return ops
	}
	const around = 64 // instructions; a division with the code scheduled between takes fewer
	for i := max(0, n.Inst-around); i < min(len(code.Insts), n.Inst+around); i++ {
		if at.Line > 0 && in.frame(blamer.Node{Code: n.Code, Inst: i}) != at || at.Line == 0 && (i < b.First || i > b.Last) {
			continue
		}
		switch inst := &code.Insts[i]; inst.Op {
		case sass.I2F:
			ops.i2f = ops.i2f || isReciprocalSeed(inst)
		case sass.F2I:
			ops.f2i = true
		case sass.MUFU:
			fn := inst.Mod(sass.MufuFn)
			ops.rcp, ops.lg2, ops.ex2 = ops.rcp || fn == sass.MufuRCP, ops.lg2 || fn == sass.MufuLG2, ops.ex2 || fn == sass.MufuEX2
		}
	}
	return ops
}

// callSites returns the calls of the function that an instruction belongs to.
func (in *Input) callSites(n blamer.Node) []blamer.Node {
	b := in.Block(n)
	if b == nil {
		return nil
	}
	var sites []blamer.Node
	for _, f := range in.codes[n.Code].graph.Funcs {
		for _, call := range f.Calls {
			if slices.Contains(call.Callees, b.Func) {
				sites = append(sites, blamer.Node{Code: n.Code, Inst: call.Inst})
			}
		}
	}
	return sites
}

// isDependency reports whether a detailed reason is a memory or execution dependency.
func isDependency(d blamer.DetailedReason) bool {
	switch d {
	case blamer.LocalMemory, blamer.ConstantMemory, blamer.GlobalMemory, blamer.TextureMemory,
		blamer.SharedMemory, blamer.Arithmetic, blamer.WAR, blamer.Scheduling:
		return true
	}
	return false
}

// isStall reports whether a blame is of stalls that a change of the code could remove: not of warps that were ready and
// waited for their turn.
func isStall(b *blamer.Blame) bool { return b.Detail != blamer.NotSelected }
