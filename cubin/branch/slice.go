package branch

import (
	"fmt"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A value is what an instruction has written, or what a node finds where its predecessors have left different values (the
// phi function of static single assignment). Numbers of values index slicer.values; value 0 is what nobody has written.
type value struct {
	inst     *sass.Inst // nil for a phi and for value 0
	own      Origins
	operands []int32
	address  []int32 // of what memory returns: where it was read
	leaves   bool    // a phi behind a loop that writes its resource
}

// A slicer follows values through a program. The graph of values has the backward slice of each of them: what can be
// reached from it.
type slicer struct {
	super     *cfg.Supergraph
	graphs    []*cfg.Graph
	params    int // offset of the parameters in constant bank 0
	reachable []bool
	preds     [][]int
	order     []int // reachable nodes, in reverse post-order
	values    []value
	written   [][]int32 // by node: values of its instructions
	phis      []map[sass.Resource]int32
	decisions [][]int32    // by node: values that its last instruction decides by where control goes on
	in        []*registers // by node, nil before it has been reached
	out       []*registers
	loops     []*loop
	ways      []wayOut
	guards    map[Place]int32   // of the block barriers that have one
	stored    map[Place][]int32 // what stores to global memory read
}

// registers are values by resource.
type registers [sass.NumRes]int32

// analyze follows the values of a kernel and of all that it calls.
func analyze(graphs []*cfg.Graph, k *cubin.Kernel) (*slicer, error) {
	super, err := cfg.NewSupergraph(graphs, k.Code.Index, int(k.Entry/sass.InstSize))
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Demangled, err)
	}
	s := newSlicer(super, graphs, k.ParamBase)
	s.solve()
	return s, nil
}

func newSlicer(super *cfg.Supergraph, graphs []*cfg.Graph, params int) *slicer {
	n := super.Shape.Len()
	s := &slicer{
		super: super, graphs: graphs, params: params, reachable: super.Shape.Reachable(), preds: make([][]int, n),
		values: make([]value, 1), written: make([][]int32, n), phis: make([]map[sass.Resource]int32, n),
		decisions: make([][]int32, n), guards: make(map[Place]int32), stored: make(map[Place][]int32),
		in: make([]*registers, n), out: make([]*registers, n),
	}
	for _, node := range super.Shape.Order() {
		if !s.reachable[node] || node == super.Shape.Exit {
			continue
		}
		s.order = append(s.order, node)
		for _, to := range super.Shape.Succs[node] {
			s.preds[to] = append(s.preds[to], node)
		}
		insts := s.insts(node)
		s.written[node] = make([]int32, len(insts))
		for i := range insts {
			s.written[node][i] = int32(len(s.values))
			s.values = append(s.values, value{inst: &insts[i], own: s.source(&insts[i])})
		}
	}
	return s
}

func (s *slicer) insts(node int) []sass.Inst {
	n := s.super.Nodes[node]
	return s.graphs[n.Graph].Code.Insts[n.First : n.Last+1]
}

// solve finds the values at the beginning of each node, then what each value is made of.
func (s *slicer) solve() {
	s.leaveLoops()
	for changed := true; changed; {
		changed = false
		for _, node := range s.order {
			if s.enter(node) {
				changed = true
				state := *s.in[node]
				s.walk(node, &state, nil)
				s.out[node] = &state
			}
		}
	}
	for _, node := range s.order {
		for r, phi := range s.phis[node] {
			for _, p := range s.preds[node] {
				s.values[phi].operands = append(s.values[phi].operands, s.out[p][r])
			}
		}
		s.link(node)
	}
	s.simplify()
	s.gate()
	s.gateLoops()
}

// link notes what the values of a node are made of, and what it decides by.
func (s *slicer) link(node int) {
	state := *s.in[node]
	s.walk(node, &state, func(v int32, operands, address []int32) {
		s.values[v].operands, s.values[v].address = operands, address
	})
	insts := s.insts(node)
	state = *s.in[node]
	for i := range insts {
		if blockBarrier(&insts[i]) && !insts[i].Guard.Always() {
			n := s.super.Nodes[node]
			s.guards[Place{n.Graph, n.First + i}] = state[guard(&insts[i])]
		}
		if p := insts[i].Op.Properties(); p.Writes&sass.SpaceGlobal != 0 {
			n := s.super.Nodes[node]
			s.stored[Place{n.Graph, n.First + i}] = values(&insts[i], &state)
		}
		if i < len(insts)-1 {
			for _, r := range s.defs(node, i, nil) {
				state[r] = s.written[node][i]
			}
		}
	}
	last := &insts[len(insts)-1]
	if !conditional(last) {
		return
	}
	for _, r := range last.Uses(nil) {
		if tracked(r) {
			s.decisions[node] = append(s.decisions[node], state[r])
		}
	}
}

// enter joins what the predecessors of a node have left, and reports whether that has changed.
func (s *slicer) enter(node int) bool {
	var joined registers
	first := true
	for _, p := range s.preds[node] {
		out := s.out[p]
		if out == nil {
			continue
		}
		if first && node != s.super.Shape.Entry {
			joined, first = *out, false
			continue
		}
		first = false
		for r := range joined {
			if joined[r] != out[r] {
				joined[r] = s.phi(node, sass.Resource(r))
			}
		}
	}
	for r, phi := range s.phis[node] {
		joined[r] = phi
	}
	if s.in[node] != nil && *s.in[node] == joined {
		return false
	}
	s.in[node] = &joined
	return true
}

// phi returns the value of a resource where the predecessors of a node have left different ones. A node that has one keeps
// it, so that the search ends.
func (s *slicer) phi(node int, r sass.Resource) int32 {
	if s.phis[node] == nil {
		s.phis[node] = make(map[sass.Resource]int32)
	}
	v, ok := s.phis[node][r]
	if !ok {
		v = int32(len(s.values))
		s.values = append(s.values, value{})
		s.phis[node][r] = v
	}
	return v
}

// walk executes the instructions of a node. note is told what each one's result is made of.
func (s *slicer) walk(node int, state *registers, note func(v int32, operands, address []int32)) {
	var buffer [32]sass.Resource
	insts := s.insts(node)
	for i := range insts {
		in := &insts[i]
		v := s.written[node][i]
		defs := s.defs(node, i, buffer[:0])
		if note != nil && len(defs) > 0 {
			operands, address := s.operands(in, state, defs)
			note(v, operands, address)
		}
		for _, r := range defs {
			state[r] = v
		}
	}
}

// returned is the register that a function of the device runtime returns its value in, 64 bits of it.
const returned = sass.ResReg + 4

// defs appends what an instruction writes. A call that leads to no function of the program is one of the runtime.
func (s *slicer) defs(node, i int, list []sass.Resource) []sass.Resource {
	insts := s.insts(node)
	list = insts[i].Defs(list)
	if insts[i].Op == sass.CALL && i == len(insts)-1 {
		n := s.super.Nodes[node]
		succs := s.super.Shape.Succs[node]
		if n.Last+1 < len(s.graphs[n.Graph].Code.Insts) && len(succs) == 1 && succs[0] == s.super.NodeAt(n.Graph, n.Last+1) {
			list = append(list, returned, returned+1)
		}
	}
	kept := list[:0]
	for _, r := range list {
		if tracked(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// tracked reports whether a resource holds a value of the program.
func tracked(r sass.Resource) bool { return r < sass.ResSB }

// operands lists the values that an instruction's result is made of: what it reads and, if it is conditional, what was
// there before. A load's address is no part of what it returns, and stands apart.
func (s *slicer) operands(in *sass.Inst, state *registers, defs []sass.Resource) (list, address []int32) {
	if !in.Guard.Always() {
		for _, r := range defs {
			list = append(list, state[r])
		}
	}
	read := values(in, state)
	if !opaque(in) {
		return append(list, read...), nil
	}
	if !in.Guard.Always() {
		list, read = append(list, state[guard(in)]), read[1:] // a guard is read first
	}
	return list, read
}

// values lists the values that an instruction reads.
func values(in *sass.Inst, state *registers) (list []int32) {
	for _, r := range in.Uses(nil) {
		if tracked(r) {
			list = append(list, state[r])
		}
	}
	return list
}

func guard(in *sass.Inst) sass.Resource {
	if in.Guard.Uniform {
		return sass.ResUPred + sass.Resource(in.Guard.Reg)
	}
	return sass.ResPred + sass.Resource(in.Guard.Reg)
}

// opaque reports whether what an instruction returns does not follow from its operands.
func opaque(in *sass.Inst) bool {
	p := in.Op.Properties()
	return p.Flow == sass.FlowCall || p.Accesses(^sass.SpaceConstant) || in.Form.Pipe == sass.PipeTEX
}

// source returns what an instruction brings in by itself.
func (s *slicer) source(in *sass.Inst) Origins {
	var o Origins
	switch p := in.Op.Properties(); {
	case opaque(in):
		return Data
	case p.Crosses:
		return Warp
	case p.Compares == sass.ComparesFloats:
		o = Float
	}
	for i := range in.Operands {
		switch p := &in.Operands[i]; p.Kind {
		case sass.KindSReg:
			o |= special(p.Imm)
		case sass.KindConst:
			if p.Bank == 0 && int(p.Offset) < s.params {
				o |= Geometry
			} else {
				o |= Param
			}
		}
	}
	return o
}

// special returns the origin that a special register is.
func special(index uint64) Origins {
	switch {
	case index >= sass.SRCTAIDX && index <= sass.SRCTAIDZ:
		return CTA
	case index == sass.SRNTID || index >= sass.SRLWinHI && index <= sass.SRSMemSize:
		return Geometry
	case index >= sass.SRClockLO && index <= sass.SRGlobalTimerHI || index == sass.SRPM0:
		return Data // what time it is
	case index == sass.SRZ:
		return 0
	}
	return Thread // numbers and masks of threads, lanes and warps, and where they run
}

// condition returns what decides the branch at the end of a node: what its guard, its predicates and its target are made of.
func (s *slicer) condition(node int, origins []Origins) Origins {
	var o Origins
	for _, v := range s.decisions[node] {
		o |= origins[v]
	}
	return o
}
