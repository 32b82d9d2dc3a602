package stream

import (
	"strings"
	"testing"
)

// branching is a block of so many threads, one that branches: thread t of block n loads word 64 n + t, and only threads of even blocks load it
// once more, from shared memory.
func branching(n, threads int) *Block {
	b := NewBlock((threads + warpLanes - 1) / warpLanes)
	for w := range b.Warps {
		var addr, own [warpLanes]uint64
		for l := range addr {
			addr[l], own[l] = uint64(4*(64*n+w*warpLanes+l)), uint64(4*(w*warpLanes+l))
		}
		mask := uint32(1<<min(warpLanes, threads-w*warpLanes) - 1)
		lanes := b.LanesOf(Lanes{Active: mask, Mask: mask})
		event := func(op int32, space uint8, addr *[warpLanes]uint64) Event {
			return Event{Op: op, Kind: RefAccess, Lanes: lanes, Ref: b.AddAccess(Access{Kind: load, Space: space, Size: 4}, mask, addr)}
		}
		b.Warps[w].Events = append(b.Warps[w].Events, event(0, global, &addr))
		if n%2 == 0 {
			b.Warps[w].Events = append(b.Warps[w].Events, event(0, shared, &own))
		}
	}
	return b
}

func TestGatherParts(t *testing.T) {
	for _, threads := range []int{1, 8, 24, 48} {
		const factor = 5
		g := &Gather{Factor: factor}
		shape, made, err := g.Reshape(Shape{Grid: [3]int{2 * factor, 3, 1}, Threads: threads})
		if err != nil || made != 1 || shape.Threads != factor*threads || shape.Grid != [3]int{6, 1, 1} {
			t.Fatalf("blocks of %d: %v, %d at a time, %v", threads, shape, made, err)
		}
		var blocks []*Block
		for n := range factor {
			blocks = append(blocks, branching(n, threads))
		}
		out, err := g.Apply(loadsAndShuffles{}, blocks)
		if err != nil {
			t.Fatal(err)
		}
		b := out[0]
		if want := (factor*threads + warpLanes - 1) / warpLanes; len(b.Warps) != want {
			t.Fatalf("blocks of %d: %d warps, want %d", threads, len(b.Warps), want)
		}
		loads := make(map[uint8]map[uint64]int) // how often an address was loaded
		for w := range b.Warps {
			for i := range b.Warps[w].Events {
				e := &b.Warps[w].Events[i]
				a := &b.Access[e.Ref]
				if loads[a.Space] == nil {
					loads[a.Space] = make(map[uint64]int)
				}
				for lane := range warpLanes {
					if a.Mask>>lane&1 == 0 {
						continue
					}
					loads[a.Space][b.address(a, lane)]++
					thread := w*warpLanes + lane
					n, own := thread/threads, thread%threads
					want := uint64(4 * (64*n + own))
					if a.Space == shared {
						want = uint64(4 * (threads*n + own)) // a part of shared memory for each block
					}
					if got := b.address(a, lane); got != want || b.Lanes[e.Lanes].Active != a.Mask || a.Space == shared && n%2 != 0 {
						t.Errorf("blocks of %d: thread %d accesses %d of space %d, lanes %x of %x, want %d", threads, thread, got, a.Space, a.Mask, b.Lanes[e.Lanes].Active, want)
					}
				}
			}
			if n := len(b.Warps[w].Events); n > 2 {
				t.Errorf("blocks of %d: warp %d issues %d instructions, want one for all blocks at a time", threads, w, n)
			}
		}
		if len(loads[global]) != factor*threads || len(loads[shared]) != 3*threads {
			t.Errorf("blocks of %d: %d and %d words are loaded, want %d and %d", threads, len(loads[global]), len(loads[shared]), factor*threads, 3*threads)
		}
	}
}

func TestGatherErrors(t *testing.T) {
	shuffles := branching(0, 8)
	e := shuffles.Warps[0].Events[0]
	e.Op, e.Kind, e.Ref = 1, RefNone, -1
	shuffles.Warps[0].Events = append(shuffles.Warps[0].Events, e)
	meets := branching(0, 8)
	meets.Gates = append(meets.Gates, Gate{All: true})
	for _, c := range []struct {
		block *Block
		says  string
	}{
		{shuffles, "pass values"},
		{meets, "other barriers"},
	} {
		g := &Gather{Factor: 2}
		if _, _, err := g.Reshape(Shape{Grid: [3]int{2, 1, 1}, Threads: 8}); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Apply(loadsAndShuffles{}, []*Block{c.block, branching(0, 8)}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}
