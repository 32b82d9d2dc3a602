package stream

import (
	"strings"
	"testing"
)

// TestTransposeRepeats holds that an edit which would make more instructions than anybody waits for is an error: here a warp with a long
// stretch outside of the loop becomes 1,024 warps, each of which has it.
func TestTransposeRepeats(t *testing.T) {
	for _, c := range []struct {
		outside int
		fits    bool
	}{{100, true}, {mostRepeated/1024 + 1, false}} {
		b := NewBlock(1)
		lanes := b.LanesOf(Lanes{Active: 1<<warpLanes - 1, Mask: 1<<warpLanes - 1})
		for range c.outside {
			b.Warps[0].Events = append(b.Warps[0].Events, Event{Lanes: lanes, Ref: -1})
		}
		b.Warps[0].Events = append(b.Warps[0].Events, Event{Op: 1, Lanes: lanes, Ref: -1})
		e := &Transpose{Loops: []Loop{{Header: 1, Body: []bool{1: true}}}, Width: 1024}
		out, err := e.Apply(nil, []*Block{b})
		switch {
		case c.fits && (err != nil || len(out) != 1024):
			t.Errorf("%d instructions: %d blocks, %v", c.outside, len(out), err)
		case !c.fits && (err == nil || !strings.Contains(err.Error(), "repeat")):
			t.Errorf("%d instructions: %v", c.outside, err)
		}
	}
}

// TestDealtWithoutAccess has a round of which an access of the run is none, as no lane of its warp has made it: it has no address to deal.
func TestDealtWithoutAccess(t *testing.T) {
	b := new(Block)
	var addr [warpLanes]uint64
	for i := range addr {
		addr[i] = uint64(0x100 + 4*i)
	}
	access := b.AddAccess(Access{Size: 4}, 1, &addr)
	r := &newRound{builder: &builder{old: b}, lanes: new(newWarp), parts: []part{
		{events: []Event{{Kind: RefAccess, Ref: access}, {Ref: -1}}, lanes: 1},
	}}
	if all := r.dealt(nil, 0, []int{0, 1}); len(all) != 1 || all[0] != addr[0] {
		t.Errorf("addresses %#x", all)
	}
}
