package stream

import (
	"slices"
	"strings"
	"testing"
)

// unrolled is a warp of one lane that goes through a loop of five rounds: two together twice, instructions 1 to 5, and one that is left, 7 and 8.
// Instruction 6 lies between, and 9, which stores, behind. Element k lies at address at(k).
func unrolled(at func(k int) uint64) *Block {
	b := NewBlock(1)
	lanes := b.LanesOf(Lanes{Active: 1, Mask: 1})
	plain := func(op int32) {
		b.Warps[0].Events = append(b.Warps[0].Events, Event{Op: op, Lanes: lanes, Ref: -1})
	}
	access := func(op int32, kind uint8, addr uint64) {
		ref := b.AddAccess(Access{Kind: kind, Space: global, Size: 4}, 1, &[warpLanes]uint64{addr})
		b.Warps[0].Events = append(b.Warps[0].Events, Event{Op: op, Lanes: lanes, Ref: ref, Kind: RefAccess})
	}
	for round := range 2 {
		access(1, load, at(2*round+1)) // the compiler has loaded the second element first
		access(2, load, at(2*round))
		plain(3)
		plain(4)
		plain(5)
	}
	plain(6)
	access(7, load, at(4))
	plain(8)
	access(9, store, 1<<20)
	return b
}

// TestRoll makes five rounds of what a compiler had made two of, and one left over; what is done once in two rounds is done in the first two.
func TestRoll(t *testing.T) {
	r := &Roll{Copies: [][]int32{{1, 2, 7}, {3, 4, 8}, {5}}, Anchor: 0, Width: 8, Unrolled: 2}
	blocks, err := r.Apply(nil, []*Block{unrolled(func(k int) uint64 { return uint64(4 * k) })})
	if err != nil {
		t.Fatal(err)
	}
	var ops []int32
	for _, e := range blocks[0].Warps[0].Events {
		ops = append(ops, e.Op)
	}
	if want := []int32{6, 1, 3, 5, 1, 3, 5, 1, 3, 1, 3, 1, 3, 9}; !slices.Equal(ops, want) {
		t.Errorf("instructions %v, want %v", ops, want)
	}
	loop := Loop{Header: 1, Body: []bool{1: true, 2: true, 3: true, 4: true, 5: true, 7: true, 8: true}}
	if s := segments(blocks[0].Warps[0].Events, []Loop{loop}); len(s) != 3 || len(s[1].rounds) != 5 {
		t.Errorf("segments %+v", s)
	}
}

// TestRollMembers holds that loads from a structure are no rounds of a loop.
func TestRollMembers(t *testing.T) {
	r := &Roll{Copies: [][]int32{{1, 2, 7}, {3, 4, 8}, {5}}, Anchor: 0, Width: 8, Unrolled: 2}
	_, err := r.Apply(nil, []*Block{unrolled(func(k int) uint64 { return uint64(k/2*1000 + 4*(k%2)) })})
	if err == nil || !strings.Contains(err.Error(), "rounds") {
		t.Errorf("%v", err)
	}
}
