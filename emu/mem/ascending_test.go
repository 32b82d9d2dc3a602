package mem

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawAccess draws the addresses of an access: a stride, with some of the lanes elsewhere.
func drawAccess(t *rapid.T) (a *[32]uint64, mask uint32, size int) {
	size = rapid.SampledFrom([]int{1, 2, 4, 8, 16}).Draw(t, "size")
	stride := rapid.SampledFrom([]uint64{0, 1, 4, 12, 16, 32, 128, 132, 1024}).Draw(t, "stride")
	odd := rapid.Uint32().Draw(t, "odd") & rapid.Uint32().Draw(t, "of them") & rapid.Uint32().Draw(t, "few")
	start := rapid.Uint64Range(0, 1<<16).Draw(t, "start")
	a = addresses(func(l int) uint64 {
		at := start + uint64(l)*stride
		if odd>>l&1 != 0 {
			at += rapid.Uint64Range(0, 300).Draw(t, "elsewhere")
		}
		return at &^ uint64(size-1)
	})
	mask = rapid.SampledFrom([]uint32{fullWarp, rapid.Uint32().Draw(t, "mask")}).Draw(t, "lanes")
	return a, mask, size
}

// The lines of lanes with a stride are those that looking up the line of each gives.
func TestAscendingLanes(t *testing.T) {
	var quick, slow Coalescer
	rapid.Check(t, func(t *rapid.T) {
		a, mask, size := drawAccess(t)
		quick.Add(a, mask, size)
		slow.n = 0
		clear(slow.table[:])
		for lane, at := range a {
			if mask>>lane&1 != 0 {
				slow.addLane(at, size)
			}
		}
		if !slices.Equal(quick.Lines(), slow.Lines()) {
			t.Fatalf("lines %v, want %v", quick.Lines(), slow.Lines())
		}
	})
}

// The passes of an access are the most words of a bank that a group of lanes needs.
func TestPassesOfAny(t *testing.T) {
	var b Banks
	rapid.Check(t, func(t *rapid.T) {
		a, mask, size := drawAccess(t)
		group := 32
		if size > 4 {
			group = 128 / size
		}
		want, ideal := 0, 0
		for first := 0; first < 32; first += group {
			banks := make(map[uint64]map[uint64]bool)
			most := 0
			for lane := first; lane < first+group; lane++ {
				for i := uint64(0); mask>>lane&1 != 0 && i < uint64(max(size/4, 1)); i++ {
					word := a[lane]/4 + i
					if banks[word%32] == nil {
						banks[word%32] = make(map[uint64]bool)
					}
					banks[word%32][word] = true
					most = max(most, len(banks[word%32]))
				}
			}
			want += most
			ideal += min(most, 1)
		}
		if passes, best := b.Passes(a, mask, size, false); passes != want || best != ideal {
			t.Fatalf("%d passes of %d, want %d of %d", passes, best, want, ideal)
		}
	})
}

func BenchmarkPasses(b *testing.B) {
	rows := addresses(func(l int) uint64 { return uint64(l) * 1024 })
	var banks Banks
	for b.Loop() {
		banks.Passes(rows, fullWarp, 4, false)
	}
}
