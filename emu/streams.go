package emu

import (
	"errors"
	"fmt"

	"gpa/emu/stream"
)

// Streams says that the launch is timed by the streams of instructions that its warps execute, after edits of them; without edits, as
// they are. The edits take place in the order of the fields; package stream says what each does. A launch whose blocks cannot be
// executed one by one, and one whose streams an edit does not fit, are errors.
type Streams struct {
	// Behind are launches that have been executed directly before, which are one with this one: block by block, where they have the same
	// shape ([stream.Fused]), or joint by joint.
	Behind []*Tape
	Joints []stream.Joint // as many as launches in Behind, or none
	Cut    *Cut           // nil for none
	// Regroup is the shape of a block whose x and y change places ([stream.Regroup]), zero for no change.
	Regroup [2]int
	Narrow  []InstAt // [stream.Narrow]
	Keep    []InstAt // [stream.Keep]
	Share   []InstAt // [stream.Share]
	Solo    []InstAt // [stream.Solo]
	Private []InstAt // [stream.Private]
	Once    []InstAt // [stream.Once]
	Relieve map[InstAt]stream.Relief
	Hoist   []InstAt // [stream.Hoist]
	// HoistWords is the most registers for what they load that [stream.Hoist] takes, 0 for any number.
	HoistWords int
	Vectors    [][]InstAt // [stream.Vectors]
	Together   [][]InstAt // [stream.Together]
	Deal       [][]InstAt // [stream.Deal]
	Exchange   [][]InstAt // [stream.Exchange]
	Tile       []LoopLoads
	Prefetch   []LoopLoads
	Widen      []Widen
	Roll       *Roll // nil for none, as of Transpose, Spread and Divide
	Transpose  *Transpose
	Spread     *Spread
	Divide     *Divide
	Merge      []stream.Merge // one after another
	Window     []InstAt       // [stream.Keep], of what is merged
	Gather     int            // [stream.Gather]: so many blocks in one, 0 for no change
	Scatter    int            // [stream.Scatter]: so many blocks of one, 0 for no change
}

// A Loop is the instructions of a loop.
type Loop struct {
	Header InstAt
	Body   []InstAt // all, the header included
	Called []InstAt // of functions that it calls, others perhaps as well
}

// Cut leaves one of Every rounds of a loop: see [stream.Cut].
type Cut struct {
	Loop  Loop
	Every int
}

// LoopLoads are loads of a loop and so many of its rounds: those of a tile in shared memory ([stream.Tile]), or by which the loads are
// issued earlier ([stream.Prefetch]). A tile may be without a loop; its places take Index instructions more for each 32 words.
type LoopLoads struct {
	Loads  []InstAt
	Loop   Loop
	Rounds int
	Index  int
}

// Widen makes vectors of the accesses of a loop: see [stream.Widen].
type Widen struct {
	Arrays   [][]InstAt
	Loop     Loop
	Overhead []InstAt
	Factor   int
	Nest     bool
}

// Roll makes one loop of the copies that a compiler has made of its rounds: see [stream.Roll].
type Roll struct {
	Copies                         [][]InstAt
	Anchor, First, Width, Unrolled int
}

// Transpose divides the rounds of loops among neighbouring lanes: see [stream.Transpose].
type Transpose struct {
	Loops          []Loop
	Width, Threads int
	Combine, Scan  bool
	Own            bool
	Results        int
	Added          []InstAt
}

// Spread makes threads of the rounds of loops that few threads go through: see [stream.Spread].
type Spread struct {
	Loops                   []Loop
	Workers, Parts, Threads int
	Beside, Combine         bool
	Results                 int
	Added                   []InstAt
}

// Divide divides the rounds of loops among blocks: see [stream.Divide].
type Divide struct {
	Loops              []Loop
	Parts              int
	Contiguous, Atomic bool
	Added              []InstAt
}

// edits translates the edits for a program. Accesses that are supposed to be gone are none for those behind.
func (s *Streams) edits(p *program) (list []stream.Edit, err error) {
	if s.Cut != nil {
		loops, err := p.loops([]Loop{s.Cut.Loop})
		if err != nil {
			return nil, err
		}
		list = append(list, &stream.Cut{Loop: loops[0], Every: s.Cut.Every})
	}
	if gone := p.gone(); len(gone) > 0 {
		list = append(list, &stream.Omit{Accesses: gone})
	}
	if s.Regroup != [2]int{} {
		list = append(list, &stream.Regroup{X: s.Regroup[0], Y: s.Regroup[1]})
	}
	accesses, err := s.accessEdits(p)
	if err != nil {
		return nil, err
	}
	list = append(list, accesses...)
	if len(s.Tile) > 0 { // of what is merged then
		list = append(list, s.merges(true)...)
	}
	for i := range s.Tile {
		ops, loop, err := p.loopLoads(&s.Tile[i])
		if err != nil {
			return nil, err
		}
		list = append(list, &stream.Tile{Loads: ops, Loop: loop, Rounds: s.Tile[i].Rounds, Index: s.Tile[i].Index})
	}
	for i := range s.Prefetch {
		ops, loop, err := p.loopLoads(&s.Prefetch[i])
		if err != nil {
			return nil, err
		}
		list = append(list, &stream.Prefetch{Loads: ops, Loop: loop, Rounds: s.Prefetch[i].Rounds})
	}
	for i := range s.Widen {
		x, err := p.widen(&s.Widen[i])
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	if r := s.Roll; r != nil {
		copies, err := p.opLists(r.Copies)
		if err != nil {
			return nil, err
		}
		list = append(list, &stream.Roll{Copies: copies, Anchor: r.Anchor, First: r.First, Width: r.Width, Unrolled: r.Unrolled})
	}
	if t := s.Transpose; t != nil {
		loops, added, err := p.divided(t.Loops, t.Added)
		if err != nil {
			return nil, err
		}
		list = append(list, &stream.Transpose{Added: added, Loops: loops, Width: t.Width, Threads: t.Threads, Combine: t.Combine, Results: t.Results, Scan: t.Scan, Own: t.Own})
	}
	if x := s.Spread; x != nil {
		loops, added, err := p.divided(x.Loops, x.Added)
		if err != nil {
			return nil, err
		}
		list = append(list, &stream.Spread{Added: added, Loops: loops, Workers: x.Workers, Parts: x.Parts, Threads: x.Threads, Beside: x.Beside, Combine: x.Combine, Results: x.Results})
	}
	if d := s.Divide; d != nil {
		loops, added, err := p.divided(d.Loops, d.Added)
		if err != nil {
			return nil, err
		}
		list = append(list, &stream.Divide{Loops: loops, Parts: d.Parts, Contiguous: d.Contiguous, Atomic: d.Atomic, Added: added})
	}
	if len(s.Merge) > 0 && (len(s.Prefetch) > 0 || len(s.Widen) > 0 || s.Roll != nil || s.Transpose != nil || s.Spread != nil || s.Divide != nil) {
		return nil, errors.New("streams that were edited before cannot be merged")
	}
	if len(s.Tile) == 0 {
		list = append(list, s.merges(false)...)
	}
	if len(s.Window) > 0 {
		ops, err := p.opSet(s.Window)
		if err != nil {
			return nil, err
		}
		list = append(list, &stream.Keep{Loads: ops})
	}
	if s.Gather > 0 {
		list = append(list, &stream.Gather{Factor: s.Gather})
	}
	if s.Scatter > 0 {
		list = append(list, &stream.Scatter{Parts: s.Scatter})
	}
	return list, nil
}

// divided finds the loops whose rounds are divided and the stores that become atomic additions then.
func (p *program) divided(loops []Loop, added []InstAt) (list []stream.Loop, set map[int32]bool, err error) {
	if list, err = p.loops(loops); err == nil {
		set, err = p.opSet(added)
	}
	return list, set, err
}

// accessEdits are the edits of single accesses and of groups of them, which leave threads and loops as they are.
func (s *Streams) accessEdits(p *program) (list []stream.Edit, err error) {
	for _, x := range []struct {
		at   []InstAt
		edit func(map[int32]bool) stream.Edit
	}{
		{s.Narrow, func(ops map[int32]bool) stream.Edit { return &stream.Narrow{Accesses: ops} }},
		{s.Keep, func(ops map[int32]bool) stream.Edit { return &stream.Keep{Loads: ops} }},
		{s.Share, func(ops map[int32]bool) stream.Edit { return &stream.Share{Accesses: ops} }},
		{s.Solo, func(ops map[int32]bool) stream.Edit { return &stream.Solo{Barriers: ops} }},
		{s.Hoist, func(ops map[int32]bool) stream.Edit {
			return &stream.Hoist{Loads: ops, Words: s.HoistWords, Gone: p.gone()}
		}},
		{s.Once, func(ops map[int32]bool) stream.Edit { return &stream.Once{Stores: ops} }},
		{s.Private, func(ops map[int32]bool) stream.Edit { return &stream.Private{Atomics: ops} }},
	} {
		if len(x.at) == 0 {
			continue
		}
		ops, err := p.opSet(x.at)
		if err != nil {
			return nil, err
		}
		list = append(list, x.edit(ops))
	}
	if len(s.Relieve) > 0 {
		x := &stream.Relieve{Ops: make(map[int32]stream.Relief, len(s.Relieve))}
		for at, by := range s.Relieve {
			o, err := p.opAt(at)
			if err != nil {
				return nil, err
			}
			x.Ops[o.index] = by
		}
		list = append(list, x)
	}
	for _, x := range []struct {
		groups [][]InstAt
		edit   func([][]int32) stream.Edit
	}{
		{s.Vectors, func(groups [][]int32) stream.Edit { return &stream.Vectors{Groups: groups} }},
		{s.Together, func(groups [][]int32) stream.Edit { return &stream.Together{Groups: groups} }},
		{s.Deal, func(groups [][]int32) stream.Edit { return &stream.Deal{Groups: groups} }},
		{s.Exchange, func(groups [][]int32) stream.Edit { return &stream.Exchange{Groups: groups} }},
	} {
		if len(x.groups) == 0 {
			continue
		}
		groups, err := p.opLists(x.groups)
		if err != nil {
			return nil, err
		}
		list = append(list, x.edit(groups))
	}
	return list, nil
}

// merges are the edits by which threads are merged.
func (s *Streams) merges(inOrder bool) (list []stream.Edit) {
	for _, m := range s.Merge {
		m.InOrder = inOrder
		list = append(list, &m)
	}
	return list
}

// gone are the instructions that are supposed to be.
func (p *program) gone() map[int32]bool {
	ops := make(map[int32]bool)
	for i := range p.ops {
		if p.ops[i].t.gone() {
			ops[p.ops[i].index] = true
		}
	}
	return ops
}

// compares reports whether an edit compares what instructions of different threads compute.
func (s *Streams) compares() bool { return len(s.Merge) > 0 }

// opSet finds instructions.
func (p *program) opSet(list []InstAt) (map[int32]bool, error) {
	ops := make(map[int32]bool, len(list))
	for _, at := range list {
		o, err := p.opAt(at)
		if err != nil {
			return nil, err
		}
		ops[o.index] = true
	}
	return ops, nil
}

// loops translates loops.
func (p *program) loops(list []Loop) (loops []stream.Loop, err error) {
	for i := range list {
		header, err := p.opAt(list[i].Header)
		if err != nil {
			return nil, err
		}
		body, err := p.opSet(list[i].Body)
		if err != nil {
			return nil, err
		}
		called, err := p.opSet(list[i].Called)
		if err != nil {
			return nil, err
		}
		if !body[header.index] {
			return nil, fmt.Errorf("the header of a loop, at %#x, is no part of it", list[i].Header.PC)
		}
		loops = append(loops, stream.Loop{Header: header.index, Body: p.flags(body), Called: p.flags(called)})
	}
	return loops, nil
}

// flags lists a set of instructions by their index.
func (p *program) flags(ops map[int32]bool) []bool {
	list := make([]bool, len(p.ops))
	for op := range ops {
		list[op] = true
	}
	return list
}

func (p *program) opLists(groups [][]InstAt) (out [][]int32, err error) {
	for _, g := range groups {
		var ops []int32
		for _, at := range g {
			o, err := p.opAt(at)
			if err != nil {
				return nil, err
			}
			ops = append(ops, o.index)
		}
		out = append(out, ops)
	}
	return out, nil
}

func (p *program) widen(w *Widen) (*stream.Widen, error) {
	loops, err := p.loops([]Loop{w.Loop})
	if err != nil {
		return nil, err
	}
	out := &stream.Widen{Loop: loops[0], Factor: w.Factor, Nest: w.Nest}
	if out.Overhead, err = p.opSet(w.Overhead); err != nil {
		return nil, err
	}
	for _, a := range w.Arrays {
		ops, err := p.opSet(a)
		if err != nil {
			return nil, err
		}
		out.Arrays = append(out.Arrays, ops)
	}
	return out, nil
}

func (p *program) loopLoads(l *LoopLoads) (ops map[int32]bool, loop stream.Loop, err error) {
	if len(l.Loop.Body) > 0 {
		loops, err := p.loops([]Loop{l.Loop})
		if err != nil {
			return nil, stream.Loop{}, err
		}
		loop = loops[0]
	}
	ops, err = p.opSet(l.Loads)
	return ops, loop, err
}
