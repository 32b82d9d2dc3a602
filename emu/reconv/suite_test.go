package reconv

import (
	"fmt"
	"hash/fnv"
	"math/bits"
	"slices"
	"testing"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A graph is a control-flow graph to run: successors by block, the fall-through first; the last block is the exit. Blocks
// in bars wait at a CTA barrier when they begin.
type graph struct {
	succs [][]int
	bars  []int
}

// code makes a section in which each block is one instruction, after the BAR of those that wait: NOP, BRA, @P0 BRA, BRX
// or EXIT. It returns the first instruction of each block too.
func (g graph) code() (code *cubin.Code, first []int) {
	at := 0
	for b := range g.succs {
		first = append(first, at)
		if at++; slices.Contains(g.bars, b) {
			at++
		}
	}
	code = &cubin.Code{Name: "g", IndirectTargets: make(map[uint64][]uint64)}
	code.Functions = []cubin.Function{{Name: "g", Demangled: "g", Size: uint64(at) * sass.InstSize}}
	for b, succs := range g.succs {
		if slices.Contains(g.bars, b) {
			code.Insts = append(code.Insts, inst(sass.BAR, len(code.Insts)))
		}
		code.Insts = append(code.Insts, g.branch(code, b, succs, first))
	}
	return code, first
}

func inst(op sass.Op, at int) sass.Inst {
	return sass.Inst{Op: op, PC: uint64(at) * sass.InstSize, Guard: sass.Guard{Reg: sass.PT}}
}

// branch makes the last instruction of a block.
func (g graph) branch(code *cubin.Code, b int, succs, first []int) sass.Inst {
	in := inst(sass.BRX, len(code.Insts))
	next := slices.Index(succs, b+1)
	switch {
	case len(succs) == 0:
		in.Op = sass.EXIT
	case len(succs) == 1 && next == 0:
		in.Op = sass.NOP
	case len(succs) == 1 || len(succs) == 2 && next >= 0:
		in.Op = sass.BRA
		to := succs[0]
		if len(succs) == 2 {
			in.Guard, to = sass.Guard{Reg: 0}, succs[1-next]
		}
		in.Operands = []sass.Operand{{Kind: sass.KindTarget, Source: true, Imm: uint64(first[to]) * sass.InstSize}}
	default:
		for _, to := range succs {
			code.IndirectTargets[in.PC] = append(code.IndirectTargets[in.PC], uint64(first[to])*sass.InstSize)
		}
	}
	return in
}

// program makes the program of the graph.
func (g graph) program() (*Program, *cubin.Code, []int) {
	code, first := g.code()
	return &Program{Bases: []int32{0}, Size: int32(len(code.Insts)) + 1, Graphs: func() ([]*cfg.Graph, error) {
		graph, err := cfg.Build(&cubin.File{Name: "g.cubin", Codes: []*cubin.Code{code}}, code)
		return []*cfg.Graph{graph}, err
	}}, code, first
}

// plan prepares a model for the graph.
func (g graph) plan(t testing.TB, m Model) Plan {
	t.Helper()
	p, _, _ := g.program()
	plan, err := m.Prepare(p)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// ordered prepares TF-STACK, or TF-SANDY, with priorities of the test's choice.
func (g graph) ordered(t testing.TB, order []int, sandy bool) Plan {
	t.Helper()
	p, _, first := g.program()
	l, err := newLayout(p)
	if err != nil {
		t.Fatal(err)
	}
	var nodes []int
	for _, b := range order {
		nodes = append(nodes, int(l.node[first[b]]))
	}
	o := l.lay(nodes)
	if !sandy {
		return &tfPlan{priorityOrder: o, compareCycles: 1}
	}
	plan, err := newSandyPlan(o)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// A chooser decides where a lane goes from a block on its n-th visit.
type chooser func(lane, block, n int) int

// onPaths sends each lane along a path.
func onPaths(paths ...[]int) chooser {
	at := make([]int, len(paths))
	return func(lane, _, _ int) int {
		at[lane]++
		return paths[lane][at[lane]]
	}
}

// random decides by a hash of the lane, the block and the visit, and after a few visits goes the shortest way out.
func (g graph) random(seed uint64) chooser {
	const patience = 6
	distance := g.distances()
	return func(lane, block, n int) int {
		succs := g.succs[block]
		if n >= patience {
			return slices.MinFunc(succs, func(a, b int) int { return distance[a] - distance[b] })
		}
		h := fnv.New64a()
		fmt.Fprint(h, seed, lane, block, n)
		return succs[h.Sum64()>>7%uint64(len(succs))]
	}
}

// distances returns how far each block is from the exit.
func (g graph) distances() []int {
	d := make([]int, len(g.succs))
	for range g.succs {
		for b, succs := range g.succs {
			for _, to := range succs {
				if d[to] > 0 || to == len(g.succs)-1 {
					if d[b] == 0 || d[to]+1 < d[b] {
						d[b] = d[to] + 1
					}
				}
			}
		}
	}
	return d
}

// An execution is what a run did: the blocks that were executed, with the lanes, and each lane's way.
type execution struct {
	log    []Group // PC is the block
	traces [][]int
	stats  Stats
	stuck  []Waiting
}

// blocks returns the number of blocks executed before the exit.
func (e *execution) blocks(g graph) int {
	n := 0
	for _, b := range e.log {
		if int(b.PC) < len(g.succs)-1 {
			n++
		}
	}
	return n
}

// A player runs a graph on the state of one warp, which is the whole CTA.
type player struct {
	g       graph
	code    *cubin.Code
	block   []int // by instruction
	first   []int
	choose  chooser
	state   State
	checks  []bool
	arrived int // threads at the CTA barrier
	execution
}

// play runs lanes through the graph.
func (g graph) play(plan Plan, lanes int, choose chooser) *execution {
	code, first := g.code()
	p := &player{g: g, code: code, first: first, choose: choose, checks: plan.Checks(), block: make([]int, len(code.Insts))}
	for b, at := range first {
		for i := at; i < len(code.Insts); i++ {
			p.block[i] = b
		}
	}
	p.traces = make([][]int, lanes)
	p.state = plan.New(0, all>>(32-lanes))
	const most = 1 << 16
	for range most {
		if p.state.Live() == 0 {
			break
		}
		if r := p.state.Running(); r.Lanes == 0 && !p.release() {
			p.stuck = p.state.Waiting()
			break
		} else if r.Lanes != 0 {
			p.step(r)
		}
	}
	p.stats = p.state.Stats()
	return &p.execution
}

// release opens the CTA barrier if all threads are there.
func (p *player) release() bool {
	if p.arrived == 0 || p.arrived < bits.OnesCount32(p.state.Live()) {
		return p.state.Unblock()
	}
	p.arrived = 0
	return p.state.Resume(0)
}

// step runs one instruction, and straight code up to the next one that the state is told about.
func (p *player) step(r Group) {
	in, b := &p.code.Insts[r.PC], p.block[r.PC]
	next := r.PC + 1
	if int(r.PC) == p.first[b] {
		p.log = append(p.log, Group{int32(b), r.Lanes})
	}
	if in.Op == sass.BAR {
		p.arrived += bits.OnesCount32(r.Lanes)
		p.state.Hold(0, r.Lanes, next)
		p.release()
		return
	}
	var targets [32]int32
	taken := uint32(0)
	for m := r.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		visits := 0
		for _, x := range p.traces[lane] {
			if x == b {
				visits++
			}
		}
		p.traces[lane] = append(p.traces[lane], b)
		if in.Op == sass.EXIT {
			continue
		}
		to := p.choose(lane, b, visits)
		if targets[lane] = int32(p.first[to]); in.Op != sass.BRA || targets[lane] != next {
			taken |= 1 << lane
		}
	}
	switch {
	case in.Op == sass.EXIT:
		p.state.Exit(r.Lanes, next)
	case in.Op == sass.BRX:
		p.state.Indirect(r.Lanes, &targets, next)
	case in.Op == sass.BRA && taken != 0:
		p.state.Branch(taken, targets[bits.TrailingZeros32(taken)], next)
	default: // as the machine does in straight code
		if p.checks != nil && p.checks[next] {
			p.state.Arrive(next)
		} else {
			p.straight(next)
		}
	}
}

// straight runs on from an instruction at which the state is not told anything.
func (p *player) straight(next int32) {
	r := p.state.Running()
	r.PC = next
	p.step(r)
}
