package stream

import (
	"fmt"
	"testing"

	"gpa/cubin/sass"
)

// A program of loads.
type loadsOnly struct{}

func (loadsOnly) Inst(int32) *sass.Inst { return &sass.Inst{Op: sass.LDG} }

// TestTogether makes vectors of words wherever they stand, but not past barriers, of other lanes, or of two executions.
func TestTogether(t *testing.T) {
	all := uint32(1<<warpLanes - 1)
	type word struct {
		op   int32
		at   uint64 // of lane 0; the lanes are 16 bytes apart
		mask uint32
	}
	for _, c := range []struct {
		name  string
		words []word // op -1 is a barrier
		want  string // sizes of what is left
	}{
		{"four words, another vector between", []word{{0, 0, all}, {1, 4, all}, {2, 4096, all}, {3, 12, all}, {4, 8, all}}, "[16 4]"},
		{"two words", []word{{0, 8, all}, {1, 12, all}}, "[8]"},
		{"two words that begin anywhere", []word{{0, 4, all}, {1, 8, all}}, "[4 4]"},
		{"other lanes", []word{{0, 0, all}, {1, 4, all >> 1}}, "[4 4]"},
		{"a barrier between", []word{{0, 0, all}, {-1, 0, 0}, {1, 4, all}}, "[4 4]"},
		{"the next round", []word{{0, 0, all}, {0, 4, all}}, "[4 4]"},
	} {
		b := NewBlock(1)
		lanes := b.LanesOf(Lanes{Active: all, Mask: all})
		for _, x := range c.words {
			e := Event{Op: x.op, Kind: RefAccess, Lanes: lanes}
			if x.op < 0 {
				e = Event{Op: 9, Kind: RefSync, Lanes: lanes, Ref: b.AddSync(Sync{Arrives: b.addGate(), Waits: -1})}
			} else {
				var addr [warpLanes]uint64
				for l := range addr {
					addr[l] = x.at + uint64(16*l)
				}
				e.Ref = b.AddAccess(Access{Kind: load, Space: global, Size: 4}, x.mask, &addr)
			}
			b.Warps[0].Events = append(b.Warps[0].Events, e)
		}
		if _, err := (&Together{Groups: [][]int32{{0, 1, 2, 3, 4}}}).Apply(loadsOnly{}, []*Block{b}); err != nil {
			t.Fatal(err)
		}
		var sizes []uint8
		for _, e := range b.Warps[0].Events {
			if e.Kind == RefAccess {
				sizes = append(sizes, b.Access[e.Ref].Size)
			}
		}
		if got := fmt.Sprint(sizes); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
