package mem

import (
	"math/bits"
	"testing"
)

// TestCondense holds that a sector that is used word by word is asked for once over all accesses, and that accesses whose bytes
// fill their sectors keep all of them.
func TestCondense(t *testing.T) {
	var c Coalescer
	asked := map[uint64]int{}
	for word := range uint64(8) { // each lane walks through a sector of its own
		var addr [32]uint64
		for lane := range addr {
			addr[lane] = uint64(lane)*4096 + word*4
		}
		c.Add(&addr, 1<<32-1, 4)
		c.Condense()
		for _, l := range c.Lines() {
			if bits.OnesCount8(l.Sectors) != 1 {
				t.Fatalf("line %#x has sectors %04b", l.Number, l.Sectors)
			}
			asked[l.Number]++
		}
	}
	if len(asked) < 30 { // one is kept of an access that singles out none
		t.Errorf("%d of 32 sectors were asked for", len(asked))
	}
	total := 0
	for _, n := range asked {
		total += n
	}
	if total > 34 {
		t.Errorf("%d requests for 32 sectors", total)
	}
	var addr [32]uint64
	for lane := range addr {
		addr[lane] = 256 + uint64(lane)*4
	}
	c.Add(&addr, 1<<32-1, 4)
	c.Condense()
	if l := c.Lines(); len(l) != 1 || l[0].Sectors != allSectors {
		t.Errorf("a full line became %v", l)
	}
}
