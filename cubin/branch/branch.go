// Package branch sorts the conditional branches of machine code as Gupta and Datta do ("Characterizing performance loss
// from mapping general purpose applications onto GPU architectures"): intrinsic ones belong to the algorithm, extrinsic
// ones to its mapping onto threads and blocks. The paper's authors marked branches in the source by hand. Here a backward
// slice of the condition decides, and marks by hand are rules that override it. Begin with [Find].
package branch

import (
	"fmt"
	"slices"
	"strings"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A Type is a class of branches.
type Type uint8

// The classes.
const (
	// Uniform branches depend on nothing but parameters, sizes of the launch and constants: all threads go the same way.
	Uniform Type = iota
	// Intrinsic branches depend on data, on other threads' values, on floating-point values that a thread computes from its
	// number, or on values that change from one iteration of a loop to the next.
	Intrinsic
	// Extrinsic branches depend on thread and block numbers, by integers, and on no data.
	Extrinsic
)

// Types lists the classes.
func Types() []Type { return []Type{Intrinsic, Extrinsic, Uniform} }

// String is uniform, intrinsic or extrinsic.
func (t Type) String() string { return [...]string{"uniform", "intrinsic", "extrinsic"}[t] }

// ParseType finds a class by its name.
func ParseType(name string) (Type, error) {
	for _, t := range Types() {
		if t.String() == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("%q is no type of branches (intrinsic, extrinsic, uniform)", name)
}

// Origins is a set of what the condition of a branch depends on.
type Origins uint8

// The origins. A slice does not go beyond what memory returns.
const (
	Thread   Origins = 1 << iota // thread, lane and warp numbers
	CTA                          // block numbers
	Geometry                     // sizes of block and grid
	Param                        // kernel parameters and constant memory
	Data                         // results of loads, atomics, texture fetches, system calls
	Warp                         // shuffles, votes, matches and reductions: values of other lanes
	Float                        // comparisons of floating-point values: numbers of threads are integers
	Loop                         // itself, an iteration earlier
)

// String lists the origins.
func (o Origins) String() string {
	var list []string
	for i, name := range []string{"thread", "block", "size", "parameter", "data", "warp", "float", "loop"} {
		if o>>i&1 != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, " ")
}

// Type returns the class of a branch with these origins.
func (o Origins) Type() Type {
	switch {
	case o&(Data|Warp) != 0, o&Float != 0 && o&(Thread|CTA) != 0:
		return Intrinsic
	case o&(Thread|CTA) != 0:
		return Extrinsic
	case o&Loop != 0:
		return Intrinsic
	}
	return Uniform
}

// A Branch is a conditional branch, a conditional exit, or a jump through a register.
type Branch struct {
	Code, Inst int // section and instruction index
	PC         uint64
	Type       Type
	Origins    Origins
	Rule       *Rule // that decided the type, nil for the slice
	HasTarget  bool
	Target     uint64 // offset in the section
}

// Contradicts reports whether a rule decided otherwise than the slice would have.
func (b *Branch) Contradicts() bool { return b.Rule != nil && b.Type != b.Origins.Type() }

// Find returns the conditional branches that a kernel comes to, calls included, by section and address. Branches that
// synchronise the lanes of a warp (BRA.DIV, BRA.CONV, BRA.U of the loops that gather lanes) are not among them: the
// compiler puts them in, and they do not part lanes.
func Find(module *cubin.File, graphs []*cfg.Graph, k *cubin.Kernel) ([]Branch, error) {
	s, err := analyze(graphs, k)
	if err != nil {
		return nil, err
	}
	super, origins := s.super, s.origins()
	var list []Branch
	for node, reachable := range s.reachable {
		if !reachable || node == super.Shape.Exit {
			continue
		}
		n := super.Nodes[node]
		in := &graphs[n.Graph].Code.Insts[n.Last]
		if !conditional(in) {
			continue
		}
		b := Branch{Code: n.Graph, Inst: n.Last, PC: in.PC, Origins: s.condition(node, origins)}
		b.Type = b.Origins.Type()
		b.Target, b.HasTarget = target(in)
		list = append(list, b)
	}
	slices.SortFunc(list, func(x, y Branch) int {
		if x.Code != y.Code {
			return x.Code - y.Code
		}
		return x.Inst - y.Inst
	})
	return list, nil
}

// conditional reports whether lanes that come to an instruction together may go on by different ways.
func conditional(in *sass.Inst) bool {
	p := in.Op.Properties()
	switch {
	case p.Flow == sass.FlowIndirect:
		return !in.Guard.Never()
	case !p.Redirects():
		return false
	}
	if in.Guard.Never() || in.Op == sass.BRA && in.Mod(sass.BraMode) != sass.BraPlain {
		return false
	}
	if !in.Guard.Always() {
		return true
	}
	for i := range in.Operands {
		o := &in.Operands[i]
		switch {
		case o.Kind == sass.KindPred && o.Source && o.Reg != sass.PT:
			return true
		case in.Op == sass.CALL && o.Source && (o.Kind == sass.KindReg || o.Kind == sass.KindLabelReg) && o.Reg != sass.RZ:
			return true
		}
	}
	return false
}

// target returns where a direct branch leads.
func target(in *sass.Inst) (uint64, bool) {
	if at := in.Target(); at != nil && in.Op.Properties().Flow != sass.FlowIndirect {
		return at.Imm, true
	}
	return 0, false
}

// Addresses returns what the addresses depend on from which the loads and atomics of a kernel read, calls included, but for what
// decides whether they are executed.
func Addresses(graphs []*cfg.Graph, k *cubin.Kernel) (map[Place]Origins, error) {
	s, err := analyze(graphs, k)
	if err != nil {
		return nil, err
	}
	origins, found := s.origins(), make(map[Place]Origins)
	for _, node := range s.order {
		n := s.super.Nodes[node]
		for i, v := range s.written[node] {
			at := Place{n.Graph, n.First + i}
			for _, a := range s.values[v].address {
				found[at] |= origins[a]
			}
		}
	}
	return found, nil
}

// Arrays returns, for each load and atomic of a kernel, the pointers among the kernel's parameters that its address is computed from: bit i
// is parameter i, one of the first 64 and of 8 bytes. What was loaded says nothing of where it came from, so that an index that is data adds
// no array.
func Arrays(graphs []*cfg.Graph, k *cubin.Kernel) (map[Place]uint64, error) {
	s, err := analyze(graphs, k)
	if err != nil {
		return nil, err
	}
	arrays := make([]uint64, len(s.values))
	for v := range s.values {
		arrays[v] = pointers(s.values[v].inst, k)
	}
	for changed := true; changed; { // values depend on each other in circles: up to the least solution
		changed = false
		for v := range s.values {
			all := arrays[v]
			for _, to := range s.values[v].operands {
				all |= arrays[to]
			}
			changed = changed || all != arrays[v]
			arrays[v] = all
		}
	}
	found := make(map[Place]uint64)
	for _, node := range s.order {
		n := s.super.Nodes[node]
		for i, v := range s.written[node] {
			for _, a := range s.values[v].address {
				found[Place{n.Graph, n.First + i}] |= arrays[a]
			}
		}
	}
	return found, nil
}

// Exchanged returns the stores of a kernel to global memory of which something has come from shared memory, from where each thread reads for
// itself: what another thread has put there. What all threads read from one place, and what warps have added up or passed on by shuffles, is
// taken to be common to them.
func Exchanged(graphs []*cfg.Graph, k *cubin.Kernel) (map[Place]bool, error) {
	s, err := analyze(graphs, k)
	if err != nil {
		return nil, err
	}
	origins := s.origins()
	exchanged := make([]bool, len(s.values))
	for v := range s.values {
		if in := s.values[v].inst; in != nil && in.Op.Properties().Loads(sass.SpaceShared) {
			exchanged[v] = slices.ContainsFunc(s.values[v].address, func(a int32) bool { return origins[a]&Thread != 0 })
		}
	}
	for changed := true; changed; {
		changed = false
		for v := range s.values {
			if !exchanged[v] && !s.crosses(int32(v)) && !slices.ContainsFunc(s.values[v].operands, s.crosses) &&
				slices.ContainsFunc(s.values[v].operands, func(o int32) bool { return exchanged[o] }) {
				exchanged[v], changed = true, true
			}
		}
	}
	found := make(map[Place]bool)
	for at, values := range s.stored {
		if slices.ContainsFunc(values, func(v int32) bool { return exchanged[v] }) {
			found[at] = true
		}
	}
	return found, nil
}

// crosses reports whether a value comes from other lanes.
func (s *slicer) crosses(v int32) bool {
	in := s.values[v].inst
	return in != nil && in.Op.Properties().Crosses
}

// pointers returns the parameters of 8 bytes that an instruction has as operands.
func pointers(in *sass.Inst, k *cubin.Kernel) (set uint64) {
	if in == nil || opaque(in) {
		return 0
	}
	const pointer = 8
	for i := range in.Operands {
		o := &in.Operands[i]
		if o.Kind != sass.KindConst || o.Bank != 0 {
			continue
		}
		for n, p := range k.Params {
			if at := int(o.Offset) - k.ParamBase - p.Offset; n < 64 && p.Size == pointer && at >= 0 && at < pointer {
				set |= 1 << n
			}
		}
	}
	return set
}
