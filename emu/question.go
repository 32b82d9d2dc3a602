package emu

import "gpa/cubin/sass"

// Code asks for what may not be there yet, a phase of a transaction barrier, columns of tensor memory or registers, until it is there. An
// edited stream has one such question, and when it is issued what the code does where the answer is no.

// mostBetween is how many instructions a warp executes at most between two questions for the same.
const mostBetween = 32

// behind returns what a warp issues behind a question whose answer is known: as far as nothing else decides about it, and up to the first
// instruction that is more than a way to wait.
func (p *program) behind(o *op, answer bool) (list []*op) {
	at := o.index + 1
	for len(list) < mostBetween && int(at) < len(p.ops) && p.ops[at].code == o.code {
		x := &p.ops[at]
		list = append(list, x)
		prop := x.inst.Op.Properties()
		switch {
		case x.asks:
			return list
		case prop.Flow == sass.FlowNext && (prop.Reads|prop.Writes)&^sass.SpaceConstant == 0 && (prop.Sync < sass.SyncGroup || prop.Sync == sass.SyncMemory):
			at++
		case x.inst.Op == sass.BRA:
			taken, known := x.takenIf(o.pd, answer)
			if !known {
				return list
			}
			if at++; taken {
				at = x.target
			}
		default:
			return list
		}
	}
	return list
}

// takenIf reports whether a branch is taken where a predicate has a value; known is false where others decide as well.
func (o *op) takenIf(pd uint8, value bool) (taken, known bool) {
	taken = true
	for _, c := range [...]predicate{{o.guard, o.guardNot}, o.pp, o.pq} {
		switch c.reg {
		case sass.PT:
			taken = taken && !c.not
		case pd:
			taken = taken && value != c.not
		default:
			return false, false
		}
	}
	return taken, true
}

// roundOf returns what a warp issues behind a question that it has asked in vain, up to the next one. Where the code does not tell it asks the same
// again after a while.
func (p *program) roundOf(o *op) []*op {
	list := p.behind(o, false)
	if n := len(list); n > 0 && list[n-1].asks && list[n-1].inst.Op == o.inst.Op {
		return list
	}
	again := *o
	again.t.stall = max(again.t.stall, askAgain)
	return []*op{&again}
}

// askAgain is after how many cycles a warp asks again where its code does not tell: about what a query of shared memory and a branch take.
const askAgain = 40

// A rejoining is how the code comes together again behind two questions that have been answered with yes.
type rejoining struct {
	first, other []*op // behind the one, and behind the other
}

// rejoin returns it for a question and one that the code asks in its place later on, nil where the code does not tell.
func (p *program) rejoin(first, other *op) *rejoining {
	if first.index == other.index {
		return new(rejoining)
	}
	a, b := p.behind(first, true), p.behind(other, true)
	for i := range a {
		for j := range b {
			if a[i] == b[j] {
				return &rejoining{a[:i], b[:j]}
			}
		}
	}
	return nil
}

// A questions is what an edited stream's warps issue beside what is in it, by instructions that ask.
type questions struct {
	rounds map[int32][]*op
	joins  map[[2]int32]*rejoining // of the one in the stream and the last one
}

func (p *program) questions() questions {
	q := questions{make(map[int32][]*op), make(map[[2]int32]*rejoining)}
	for i := range p.ops {
		if o := &p.ops[i]; o.asks {
			q.rounds[o.index] = p.roundOf(o)
		}
	}
	for first := range q.rounds {
		for last := first; ; {
			round := q.rounds[last]
			next := round[len(round)-1].index
			at := [2]int32{first, next}
			if q.joins[at] != nil {
				break
			}
			if q.joins[at] = p.rejoin(&p.ops[first], &p.ops[next]); q.joins[at] == nil {
				break
			}
			last = next
		}
	}
	return q
}
