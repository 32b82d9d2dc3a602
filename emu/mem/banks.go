package mem

import "math/bits"

// Banks counts the passes that accesses to shared memory take. Shared memory has 32 banks of 4 bytes that serve one word
// each in a pass; lanes that read the same word share it. Accesses of 64 bits are served by half warps, those of 128
// bits by quarter warps (CUDA C++ Programming Guide, compute capabilities 5.x and later). It is scratch space that is
// used again and again; the zero value is ready.
type Banks struct {
	count [32]uint8      // words that a bank has to deliver
	words [32][32]uint64 // by bank, which ones
	only  [32]uint64     // by bank, the one word of distinct
}

// Passes returns the passes of an access of size bytes (1 to 16) and those that it would take without conflicts. With
// atomic, lanes at the same address take turns.
func (b *Banks) Passes(addr *[32]uint64, mask uint32, size int, atomic bool) (passes, ideal int) {
	group := 32
	if size > 4 {
		group = 32 * 4 / size
	}
	if mask == 1<<32-1 && size >= 4 && contiguous(addr, uint64(size)) {
		return 32 / group, 32 / group
	}
	if size <= 4 && !atomic {
		if mask = once(addr, mask); b.distinct(addr, mask) {
			return 1, 1
		}
	}
	lanes := uint32(1<<group - 1)
	for first := 0; first < 32; first += group {
		if m := mask & (lanes << first); m != 0 {
			passes += b.group(addr, m, size, atomic)
			ideal++
		}
	}
	return passes, ideal
}

// distinct reports whether no two of the words that the lanes access, one each, lie in the same bank. Most accesses are of
// this kind.
func (b *Banks) distinct(addr *[32]uint64, mask uint32) bool {
	var seen uint32
	last := ^uint64(0)
	for m := mask; m != 0; m &= m - 1 {
		word := addr[bits.TrailingZeros32(m)&31] / 4
		if word == last {
			continue
		}
		last = word
		bank := word % 32
		if seen>>bank&1 != 0 && b.only[bank] != word {
			return false
		}
		seen |= 1 << bank
		b.only[bank] = word
	}
	return mask != 0
}

// group returns the passes of lanes that are served together.
func (b *Banks) group(addr *[32]uint64, mask uint32, size int, atomic bool) int {
	clear(b.count[:])
	most, least := uint8(1), uint64(0) // least: all words so far are below it
	for m := mask; m != 0; m &= m - 1 {
		word := addr[bits.TrailingZeros32(m)&31] / 4
		for i := range uint64(max(size/4, 1)) {
			most = max(most, b.add(word+i, atomic || word+i >= least))
			least = max(least, word+i+1)
		}
	}
	return int(most)
}

// add asks a bank for a word and returns how many it then has to deliver. A word that is apart is not one of those before.
func (b *Banks) add(word uint64, apart bool) uint8 {
	bank := word % 32
	n := b.count[bank]
	if !apart {
		for _, w := range b.words[bank][:n] {
			if w == word {
				return n
			}
		}
	}
	b.words[bank][n] = word
	b.count[bank] = n + 1
	return n + 1
}

// Multiplicity returns the largest number of lanes at one address.
func Multiplicity(addr *[32]uint64, mask uint32) int {
	most := 0
	for rest := mask; rest != 0; {
		a := addr[bits.TrailingZeros32(rest)]
		var n int
		for m := rest; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); addr[l] == a {
				n++
				rest &^= 1 << l
			}
		}
		most = max(most, n)
	}
	return most
}
