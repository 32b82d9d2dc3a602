package stream

import "testing"

func TestScatter(t *testing.T) {
	s := &Scatter{Parts: 2}
	shape, made, err := s.Reshape(Shape{Grid: [3]int{3, 2, 1}, Threads: 128})
	if err != nil || made != 2 || shape.Threads != 64 || shape.Grid != [3]int{6, 2, 1} {
		t.Fatalf("%v, %d at a time, %v", shape, made, err)
	}
	if _, _, err := s.Reshape(Shape{Grid: [3]int{1, 1, 1}, Threads: 96}); err == nil {
		t.Error("parts of a warp and a half")
	}
	out, err := s.Apply(loadsAndShuffles{}, []*Block{branching(1, 128)})
	if err != nil {
		t.Fatal(err)
	}
	for n, b := range out {
		b.Close()
		for w := range b.Warps {
			for i := range b.Warps[w].Events {
				a := &b.Access[b.Warps[w].Events[i].Ref]
				for lane := range warpLanes {
					if got, want := b.address(a, lane), uint64(4*(64+64*n+w*warpLanes+lane)); got != want {
						t.Errorf("block %d, warp %d, lane %d loads %d, want %d", n, w, lane, got, want)
					}
				}
			}
		}
		if len(b.Warps) != 2 || b.Events() != 2 {
			t.Errorf("block %d has %d warps and %d events, want 2 of each", n, len(b.Warps), b.Events())
		}
	}
	if _, err := s.Apply(loadsAndShuffles{}, []*Block{branching(0, 128)}); err == nil {
		t.Error("a block that uses shared memory was parted")
	}
}
