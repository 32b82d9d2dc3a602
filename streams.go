package gpa

import (
	"gpa/advisor"
	"gpa/blamer"
	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/stream"
)

// streams translates edits of streams for the emulator.
func streams(m *cubin.File, s *advisor.Streams) *emu.Streams {
	if s == nil {
		return nil
	}
	t := streamTranslator{m}
	out := &emu.Streams{Narrow: t.all(s.Narrowed), Keep: t.all(s.Kept), Share: t.all(s.Shared), Solo: t.all(s.Solo), Private: t.all(s.Private), Once: t.all(s.Once), Hoist: t.all(s.Hoisted), HoistWords: s.HoistWords, Window: t.all(s.Windowed), Gather: s.Gathered, Scatter: s.Scattered, Regroup: s.Regrouped}
	if len(s.Relieved) > 0 {
		out.Relieve = make(map[emu.InstAt]stream.Relief, len(s.Relieved))
		for _, x := range s.Relieved {
			out.Relieve[t.at(x.At)] = stream.Relief{Among: x.By, Group: x.Group}
		}
	}
	for _, g := range s.Vectors {
		out.Vectors = append(out.Vectors, t.all(g))
	}
	for _, g := range s.Together {
		out.Together = append(out.Together, t.all(g))
	}
	for _, g := range s.Dealt {
		out.Deal = append(out.Deal, t.all(g))
	}
	for _, g := range s.Exchanged {
		out.Exchange = append(out.Exchange, t.all(g))
	}
	for _, x := range s.Staged {
		staged := emu.LoopLoads{Loads: t.all(x.Loads), Rounds: x.Rounds, Index: x.Index}
		if len(x.Loop.Body) > 0 {
			staged.Loop = t.loop(x.Loop)
		}
		out.Tile = append(out.Tile, staged)
	}
	for _, x := range s.Prefetched {
		out.Prefetch = append(out.Prefetch, emu.LoopLoads{Loads: t.all(x.Loads), Loop: t.loop(x.Loop), Rounds: x.Rounds})
	}
	for _, x := range s.Widened {
		w := emu.Widen{Loop: t.loop(x.Loop), Overhead: t.all(x.Overhead), Factor: x.Factor, Nest: x.Nest}
		for _, a := range x.Arrays {
			w.Arrays = append(w.Arrays, t.all(a))
		}
		out.Widen = append(out.Widen, w)
	}
	if x := s.Rolled; x != nil {
		out.Roll = &emu.Roll{Anchor: x.Anchor, First: x.First, Width: x.Width, Unrolled: x.Unrolled}
		for _, c := range x.Copies {
			out.Roll.Copies = append(out.Roll.Copies, t.all(c))
		}
	}
	if x := s.Transposed; x != nil {
		out.Transpose = &emu.Transpose{Loops: t.loops(x.Loops), Width: x.Width, Threads: x.Threads, Combine: x.Combined, Results: x.Results, Scan: x.Scanned, Own: x.Own, Added: t.all(x.Added)}
	}
	if x := s.Spread; x != nil {
		out.Spread = &emu.Spread{Loops: t.loops(x.Loops), Workers: x.Workers, Parts: x.Parts, Threads: x.Threads, Beside: x.Beside, Combine: x.Combined, Results: x.Results, Added: t.all(x.Added)}
	}
	if x := s.Divided; x != nil {
		out.Divide = &emu.Divide{Loops: t.loops(x.Loops), Parts: x.Parts, Contiguous: x.Contiguous, Atomic: x.Atomic, Added: t.all(x.Added)}
	}
	for _, x := range s.Merged {
		out.Merge = append(out.Merge, stream.Merge{Factor: x.Factor, Axis: mergeAxes[x.Axis], Folded: x.Folded, Loads: x.Loads})
	}
	return out
}

// mergeAxes are the emulator's names of the axes.
var mergeAxes = [...]stream.Axis{
	advisor.MergeWarps: stream.Warps, advisor.MergeStrided: stream.Strided, advisor.MergeLanes: stream.Threads,
	advisor.MergeX: stream.GridX, advisor.MergeY: stream.GridY, advisor.MergeZ: stream.GridZ, advisor.MergeGridLanes: stream.GridThreads,
}

// A streamTranslator finds the addresses of instructions.
type streamTranslator struct{ module *cubin.File }

func (t streamTranslator) at(n blamer.Node) emu.InstAt {
	return emu.InstAt{Code: n.Code, PC: t.module.Codes[n.Code].Insts[n.Inst].PC}
}

func (t streamTranslator) all(nodes []blamer.Node) []emu.InstAt {
	var list []emu.InstAt
	for _, n := range nodes {
		list = append(list, t.at(n))
	}
	return list
}

func (t streamTranslator) loop(l advisor.Loop) emu.Loop {
	return emu.Loop{Header: t.at(l.Header), Body: t.all(l.Body), Called: t.all(l.Called)}
}

func (t streamTranslator) loops(loops []advisor.Loop) []emu.Loop {
	var list []emu.Loop
	for _, l := range loops {
		list = append(list, t.loop(l))
	}
	return list
}
