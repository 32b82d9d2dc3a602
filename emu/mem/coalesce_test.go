package mem

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func addresses(f func(lane int) uint64) *[32]uint64 {
	var a [32]uint64
	for l := range a {
		a[l] = f(l)
	}
	return &a
}

const fullWarp = 1<<32 - 1

func TestCoalescer(t *testing.T) {
	tests := []struct {
		name                  string
		addr                  *[32]uint64
		mask                  uint32
		size                  int
		lines, sectors, ideal int
	}{
		{"coalesced", addresses(func(l int) uint64 { return 0x1000 + uint64(l)*4 }), fullWarp, 4, 1, 4, 4},
		{"coalesced 64 bits", addresses(func(l int) uint64 { return 0x1000 + uint64(l)*8 }), fullWarp, 8, 2, 8, 8},
		{"coalesced 128 bits", addresses(func(l int) uint64 { return 0x1000 + uint64(l)*16 }), fullWarp, 16, 4, 16, 16},
		{"bytes", addresses(func(l int) uint64 { return 0x1000 + uint64(l) }), fullWarp, 1, 1, 1, 1},
		{"off by a word", addresses(func(l int) uint64 { return 0x1004 + uint64(l)*4 }), fullWarp, 4, 2, 5, 4},
		{"descending", addresses(func(l int) uint64 { return 0x1000 + uint64(31-l)*4 }), fullWarp, 4, 1, 4, 4},
		{"broadcast", addresses(func(int) uint64 { return 0x1000 }), fullWarp, 4, 1, 1, 1},
		{"stride 2", addresses(func(l int) uint64 { return 0x1000 + uint64(l)*8 }), fullWarp, 4, 2, 8, 4},
		{"stride 32", addresses(func(l int) uint64 { return 0x1000 + uint64(l)*128 }), fullWarp, 4, 32, 32, 4},
		{"half of the lanes", addresses(func(l int) uint64 { return 0x1000 + uint64(l)*4 }), 0xffff, 4, 1, 2, 2},
		{"one lane", addresses(func(int) uint64 { return 0x1010 }), 1 << 9, 4, 1, 1, 1},
		{"none", addresses(func(int) uint64 { return 0x1010 }), 0, 4, 0, 0, 0},
	}
	var c Coalescer
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c.Add(tt.addr, tt.mask, tt.size)
			if len(c.Lines()) != tt.lines || c.Sectors != tt.sectors || c.Ideal != tt.ideal {
				t.Errorf("got %d lines, %d sectors, %d ideal; want %d, %d, %d",
					len(c.Lines()), c.Sectors, c.Ideal, tt.lines, tt.sectors, tt.ideal)
			}
		})
	}
}

// TestCoalescerAgainstSets compares with a plain count of distinct bytes, sectors and lines.
func TestCoalescerAgainstSets(t *testing.T) {
	var c Coalescer
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 4, 8, 16}).Draw(t, "size")
		span := rapid.SampledFrom([]uint64{64, 512, 8192}).Draw(t, "span")
		stride := rapid.SampledFrom([]uint64{0, 4, 16, 128}).Draw(t, "stride")
		mask := rapid.Uint32().Draw(t, "mask")
		a := addresses(func(l int) uint64 {
			return (uint64(l)*stride + rapid.Uint64Range(0, span).Draw(t, "address")) &^ uint64(size-1)
		})
		bytes, sectors, lines := map[uint64]bool{}, map[uint64]bool{}, map[uint64]bool{}
		for l := range a {
			if mask>>l&1 == 0 {
				continue
			}
			for i := range uint64(size) {
				bytes[a[l]+i] = true
			}
			sectors[a[l]/sectorBytes] = true
			lines[a[l]>>lineShift] = true
		}
		c.Add(a, mask, size)
		ideal := (len(bytes) + sectorBytes - 1) / sectorBytes
		if len(c.Lines()) != len(lines) || c.Sectors != len(sectors) || c.Ideal != ideal {
			t.Fatalf("got %d lines, %d sectors, %d ideal; want %d, %d, %d",
				len(c.Lines()), c.Sectors, c.Ideal, len(lines), len(sectors), ideal)
		}
	})
}

func TestPasses(t *testing.T) {
	word := func(stride uint64) *[32]uint64 {
		return addresses(func(l int) uint64 { return uint64(l) * stride * 4 })
	}
	tests := []struct {
		name          string
		addr          *[32]uint64
		mask          uint32
		size          int
		atomic        bool
		passes, ideal int
	}{
		{"consecutive words", word(1), fullWarp, 4, false, 1, 1},
		{"broadcast", word(0), fullWarp, 4, false, 1, 1},
		{"stride 2", word(2), fullWarp, 4, false, 2, 1},
		{"stride 3", word(3), fullWarp, 4, false, 1, 1},
		{"stride 32", word(32), fullWarp, 4, false, 32, 1},
		{"stride 33", word(33), fullWarp, 4, false, 1, 1},
		{"bytes of the same words", addresses(func(l int) uint64 { return uint64(l) }), fullWarp, 1, false, 1, 1},
		{"64 bits", word(2), fullWarp, 8, false, 2, 2},
		{"64 bits, reversed halves", addresses(func(l int) uint64 { return uint64(l^15) * 8 }), fullWarp, 8, false, 2, 2},
		{"64 bits, stride 4 words", word(4), fullWarp, 8, false, 4, 2},
		{"64 bits, one half active", word(2), 0xffff, 8, false, 1, 1},
		{"128 bits", word(4), fullWarp, 16, false, 4, 4},
		{"128 bits, stride 8 words", word(8), fullWarp, 16, false, 8, 4},
		{"atomics on one word", word(0), fullWarp, 4, true, 32, 1},
		{"atomics on own words", word(1), fullWarp, 4, true, 1, 1},
		{"none active", word(1), 0, 4, false, 0, 0},
	}
	var b Banks
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			passes, ideal := b.Passes(tt.addr, tt.mask, tt.size, tt.atomic)
			if passes != tt.passes || ideal != tt.ideal {
				t.Errorf("got %d passes, %d ideal; want %d, %d", passes, ideal, tt.passes, tt.ideal)
			}
		})
	}
}

func TestMultiplicity(t *testing.T) {
	a := addresses(func(l int) uint64 { return uint64(l % 5) })
	for mask, want := range map[uint32]int{fullWarp: 7, 0: 0, 1: 1, 1 | 1<<5 | 1<<6: 2} {
		if got := Multiplicity(a, mask); got != want {
			t.Errorf("mask %#x: got %d, want %d", mask, got, want)
		}
	}
}

func BenchmarkCoalescer(b *testing.B) {
	for name, a := range map[string]*[32]uint64{
		"coalesced": addresses(func(l int) uint64 { return 0x1000 + uint64(l)*4 }),
		"rows":      addresses(func(l int) uint64 { return uint64(l) * 1024 }),
		"scattered": addresses(func(l int) uint64 { return uint64(l) * 0x9E3779B97F4A7C15 >> 20 &^ 3 }),
	} {
		b.Run(name, func(b *testing.B) {
			var c Coalescer
			for b.Loop() {
				c.Add(a, fullWarp, 4)
			}
		})
	}
}

// TestWords holds that the words of a line are those of which every byte is accessed.
func TestWords(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		var l Line
		var want uint32
		for word := range sectorsPerLine * sectorWords {
			bytes := random.Uint32() & 0xf
			if random.IntN(2) == 0 {
				bytes = 0xf
			}
			l.Bytes[word/sectorWords] |= bytes << (word % sectorWords * 4)
			if bytes == 0xf {
				want |= 1 << word
			}
		}
		if got := l.words(); got != want {
			t.Fatalf("bytes %08x: words %08x, want %08x", l.Bytes, got, want)
		}
	}
}

// TestRepeated holds that lanes which access what others of the warp access change nothing: an access whose halves, quarters or
// eighths repeat is that of the first of them.
func TestRepeated(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var all, some Coalescer
	var banks Banks
	for range 2000 {
		n, size := 1<<random.IntN(6), 1<<random.IntN(3)
		var addr [32]uint64
		for i := range addr {
			if addr[i] = addr[i%n]; i < n {
				addr[i] = uint64(random.IntN(4096) * size)
			}
		}
		mask := uint32(1<<n - 1)
		all.Add(&addr, 1<<32-1, size)
		some.Add(&addr, mask, size)
		if all.Sectors != some.Sectors || all.Ideal != some.Ideal || !slices.Equal(all.Lines(), some.Lines()) {
			t.Fatalf("%d lanes of %d bytes: %d sectors, %d, %v; repeated %d, %d, %v", n, size, some.Sectors, some.Ideal, some.Lines(), all.Sectors, all.Ideal, all.Lines())
		}
		passes, ideal := banks.Passes(&addr, 1<<32-1, size, false)
		if p, i := banks.Passes(&addr, mask, size, false); p != passes || i != ideal {
			t.Fatalf("%d lanes of %d bytes: %d passes, %d; repeated %d, %d", n, size, p, i, passes, ideal)
		}
	}
}

// BenchmarkBlockOf16 measures what is worked out of the addresses of a load in a naive matrix product whose blocks are 16 threads wide:
// each half of the warp goes down a column.
func BenchmarkBlockOf16(b *testing.B) {
	addr := addresses(func(lane int) uint64 { return 1<<40 + uint64(lane%16)*256 })
	var c Coalescer
	var banks Banks
	for b.Loop() {
		c.Add(addr, 1<<32-1, 4)
		banks.Passes(addr, 1<<32-1, 4, false)
	}
}
