package stream

import (
	"fmt"

	"gpa/cubin/sass"
)

// A Program names the instructions of events.
type Program interface {
	// Inst returns the instruction of an op.
	Inst(op int32) *sass.Inst
}

// A Shape is that of a launch: its grid in blocks and the threads of a block.
type Shape struct {
	Grid    [3]int
	Threads int
}

// An Edit changes the streams of blocks. It takes some blocks of a launch together and makes of them one block or several.
type Edit interface {
	// Reshape returns the shape that a launch has after the edit, and how many blocks the edit makes at a time.
	Reshape(Shape) (s Shape, made int, err error)
	// Inputs returns the numbers of the blocks of a launch of a shape that the n-th group of new blocks is made of.
	Inputs(s Shape, n int) []int
	// Apply makes the new blocks. It may change those that it is given.
	Apply(p Program, blocks []*Block) ([]*Block, error)
}

// A Source gives the blocks of a launch, each once.
type Source interface {
	Block(n int) (*Block, error)
}

// A Stage is a launch after an edit.
type Stage struct {
	Shape Shape

	edit    Edit
	program Program
	from    Source
	before  Shape
	made    int
	ready   map[int]*Block
}

// NewStage returns what an edit makes of a launch of some shape.
func NewStage(e Edit, p Program, from Source, shape Shape) (*Stage, error) {
	after, made, err := e.Reshape(shape)
	if err != nil {
		return nil, err
	}
	return &Stage{Shape: after, edit: e, program: p, from: from, before: shape, made: made, ready: make(map[int]*Block)}, nil
}

// Block returns the n-th block of the edited launch. The others that are made with it are kept until they are asked for.
func (s *Stage) Block(n int) (*Block, error) {
	if b := s.ready[n]; b != nil {
		delete(s.ready, n)
		return b, nil
	}
	group := n / s.made
	var in []*Block
	for _, i := range s.edit.Inputs(s.before, group) {
		b, err := s.from.Block(i)
		if err != nil {
			return nil, err
		}
		in = append(in, b)
	}
	out, err := s.edit.Apply(s.program, in)
	if err != nil {
		return nil, err
	}
	if len(out) != s.made {
		return nil, fmt.Errorf("%d blocks become %d, not %d", len(in), len(out), s.made)
	}
	for i, b := range out {
		b.Close()
		s.ready[group*s.made+i] = b
	}
	b := s.ready[n]
	delete(s.ready, n)
	return b, nil
}

// Kept is the number of events of blocks that have been made and not been asked for.
func (s *Stage) Kept() (n int) {
	for _, b := range s.ready {
		n += b.Events()
	}
	return n
}

// single is what edits have in common that change blocks one by one.
type single struct{}

func (single) Reshape(s Shape) (Shape, int, error) { return s, 1, nil }
func (single) Inputs(_ Shape, n int) []int         { return []int{n} }

// A Loop is the instructions of a loop.
type Loop struct {
	Header int32  // the first of every round
	Body   []bool // by instruction: whether it is part of the loop, as the header is
	// Called: by instruction: whether it is part of a function that the loop calls. Where a warp comes to it from the loop, it is in a round.
	Called []bool
}

// A segment is events of a warp that follow each other: rounds of a loop, or what lies between loops.
type segment struct {
	loop        int // index, -1 between loops
	first, last int // events [first, last)
	rounds      []int
}

// round returns the events of the r-th round.
func (s *segment) round(r int) (first, last int) {
	if r+1 < len(s.rounds) {
		return s.rounds[r], s.rounds[r+1]
	}
	return s.rounds[r], s.last
}

// segments cuts the events of a warp at the ends of loops and of their rounds.
func segments(events []Event, loops []Loop) []segment {
	var list []segment
	for i := range events {
		op := events[i].Op
		k := loopOf(op, loops)
		if n := len(list); k < 0 && n > 0 && list[n-1].loop >= 0 && loops[list[n-1].loop].calls(op) {
			k = list[n-1].loop
		}
		if n := len(list); n == 0 || list[n-1].loop != k {
			list = append(list, segment{loop: k, first: i})
		}
		s := &list[len(list)-1]
		s.last = i + 1
		if k >= 0 && (op == loops[k].Header && (i == 0 || events[i-1].Op != op) || len(s.rounds) == 0) { // merged threads may each have it
			s.rounds = append(s.rounds, i)
		}
	}
	return list
}

// calls reports whether an instruction is part of a function that the loop calls.
func (l *Loop) calls(op int32) bool { return int(op) < len(l.Called) && l.Called[op] }

// loopOf is the index of the loop that an instruction is part of, -1 for none.
func loopOf(op int32, loops []Loop) int {
	for k := range loops {
		if body := loops[k].Body; int(op) < len(body) && body[op] {
			return k
		}
	}
	return -1
}

// The kinds and spaces of accesses as package emu numbers them.
const (
	load   = 1
	store  = 2
	atomic = 3

	global = 0
	shared = 1
	local  = 2
	// Constant is the space of loads from constant banks, whose kind is none.
	Constant = 3
)
