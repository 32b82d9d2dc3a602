package stream

import "testing"

// TestNarrow holds that elements of half the size lie side by side as the large ones did, and that other accesses stay.
func TestNarrow(t *testing.T) {
	b := NewBlock(1)
	var strided, scattered [warpLanes]uint64
	for l := range warpLanes {
		strided[l], scattered[l] = uint64(4096+8*l), uint64(4096+8*(l*l))
	}
	all := ^uint32(0)
	lanes := b.LanesOf(Lanes{Active: all, Mask: all})
	for i, addr := range []*[warpLanes]uint64{&strided, &scattered, &strided} {
		b.Warps[0].Events = append(b.Warps[0].Events, Event{Op: int32(i), Kind: RefAccess, Lanes: lanes, Ref: b.AddAccess(Access{Kind: load, Space: global, Size: 8}, all, addr)})
	}
	if _, err := (&Narrow{Accesses: map[int32]bool{0: true, 1: true}}).Apply(loadsAndShuffles{}, []*Block{b}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		size uint8
		addr func(lane int) uint64
	}{
		{4, func(l int) uint64 { return uint64(2048 + 4*l) }},
		{4, func(l int) uint64 { return uint64(2048 + 4*l*l) }},
		{8, func(l int) uint64 { return uint64(4096 + 8*l) }},
	} {
		a := &b.Access[b.Warps[0].Events[i].Ref]
		for l := range warpLanes {
			if got := b.address(a, l); got != want.addr(l) || a.Size != want.size {
				t.Errorf("access %d, lane %d: %d bytes at %d, want %d at %d", i, l, a.Size, got, want.size, want.addr(l))
			}
		}
	}
}
