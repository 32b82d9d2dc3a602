package rewrite

import (
	"fmt"

	"gpa/cubin/sass"
)

// A latencyTable holds the cycles that must lie between the issue of an instruction of fixed latency and the issue of one
// that depends on it. No counter guards such a dependence: the stall counts between the two have to add up to it.
//
// NVIDIA publishes no such figures. Those here are the least sums of stall counts that its compiler leaves on any path
// between producer and consumer, over the machine code of this repository's kernels; most of them occur hundreds of
// times, always with the same least sum. They agree with what is published: four cycles for arithmetic on Volta (Jia et
// al. 2018, table 4.1) and about twelve for a predicate as a guard.
type latencyTable struct {
	same    int // register, from ALU to ALU and from FMA to FMA
	cross   int // register, from ALU to FMA and back
	other   int // register, to the other pipes but the LSU's
	memory  int // register, to LSU and TEX
	slow    int // register, from FP16, CS2R and LEPC to any pipe, at least
	guard   int // predicate as guard, or as an operand of other pipes than ALU and FMA
	data    int // predicate as an operand, from ALU to ALU and from FMA to FMA
	carry   int // predicate as an operand, from ALU to FMA and back
	barrier int // convergence barrier
	uniform int // uniform register or uniform predicate
	counter int // from an instruction that takes a dependence counter to one that waits for it
}

// latencies returns the table of an architecture.
func latencies(arch sass.Arch) (*latencyTable, error) {
	if arch == sass.SM70 {
		return &latencyTable{
			same: 4, cross: 5, other: 6, memory: 8, slow: 6, guard: 12, data: 4, carry: 5, barrier: 6, counter: 2,
		}, nil
	}
	return nil, fmt.Errorf("sm_%d: the latencies that stall counts must cover are not known", arch)
}

// between returns how many cycles after p, of fixed latency, instruction q may read resource r.
func (t *latencyTable) between(p, q *sass.Inst, r sass.Resource) int {
	switch {
	case r >= sass.ResConvBar:
		return t.barrier
	case r >= sass.ResUPred || r >= sass.ResUReg && r < sass.ResPred:
		return t.uniform
	case r >= sass.ResPred:
		return t.predicate(p, q, uint8(r-sass.ResPred))
	}
	return max(t.register(p.Form.Pipe, q), t.slowest(p))
}

// predicate returns the latency of a predicate that p writes and q reads.
func (t *latencyTable) predicate(p, q *sass.Inst, reg uint8) int {
	switch to := q.Form.Pipe; {
	case !q.Guard.Uniform && q.Guard.Reg == reg, to != sass.PipeALU && to != sass.PipeFMA:
		return t.guard
	case to != p.Form.Pipe:
		return t.carry
	}
	return t.data
}

// register returns the latency of a register from a pipe to q.
func (t *latencyTable) register(from sass.Pipe, q *sass.Inst) int {
	switch to := q.Form.Pipe; {
	case to == sass.PipeLSU && q.Op != sass.MATCH, to == sass.PipeTEX:
		return t.memory
	case to != sass.PipeALU && to != sass.PipeFMA:
		return t.other
	case to != from:
		return t.cross
	}
	return t.same
}

// slowest returns the least latency of a producer's register, whatever reads it.
func (t *latencyTable) slowest(p *sass.Inst) int {
	if p.Form.Pipe == sass.PipeFP16 || p.Op == sass.CS2R || p.Op == sass.LEPC {
		return t.slow
	}
	return t.same
}

// most returns the longest latency of the table.
func (t *latencyTable) most() int {
	return max(t.same, t.cross, t.other, t.memory, t.slow, t.guard, t.data, t.carry, t.barrier, t.uniform, t.counter)
}

// overwrite returns how many cycles after p, of fixed latency, an instruction q of fixed latency may write the same
// register: its result must not come first.
func (t *latencyTable) overwrite(p, q *sass.Inst) int { return max(1, t.slowest(p)-t.slowest(q)+1) }
