package mem

import (
	"testing"

	"gpa/emu/arch"
)

// TestTLB touches more pages than the last level holds.
func TestTLB(t *testing.T) {
	m := v100(t)
	tlb := newLastTLB(NewConfig(m, 0, false))
	pages := uint64(m.TLB.Entries.Int())
	perPage := uint64(m.TLB.Page.Int() / 128)
	var held, beyond int64
	for n := range pages {
		held += tlb.delay(n * perPage)
	}
	for n := range pages {
		held += tlb.delay(n*perPage + 5)
	}
	for range 2 {
		for n := range pages * 2 {
			beyond += tlb.delay(n * perPage)
		}
	}
	if held != 0 {
		t.Errorf("pages that are held cost %d cycles", held)
	}
	if beyond == 0 {
		t.Error("twice the pages that are held cost nothing")
	}
}

// TestFirstTLB holds that an SM pays for pages that its first level does not hold, each SM for itself, and for no page that it holds.
func TestFirstTLB(t *testing.T) {
	m, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	d := NewDevice(NewConfig(m, 0, false))
	pages := m.TLB.FirstEntries.Int()
	perPage := m.TLB.Page.Int() / 128
	touch := func(sm int32, pages int) (cycles int64) {
		for n := range pages {
			cycles += d.translate(&request{sm: sm, line: uint64(n * perPage)})
		}
		return cycles
	}
	miss := m.TLB.FirstMiss.Cycles()
	for _, tt := range []struct {
		name  string
		sm    int32
		pages int
		want  int64
	}{
		{"the first time", 0, pages, int64(pages) * miss},
		{"pages that are held", 0, pages, 0},
		{"another SM", 1, pages, int64(pages) * miss},
		{"more pages than are held", 0, 2 * pages, int64(pages) * miss},
		{"the same in turn", 0, 2 * pages, 2 * int64(pages) * miss},
	} {
		if got := touch(tt.sm, tt.pages); got != tt.want {
			t.Errorf("%s: %d cycles, want %d", tt.name, got, tt.want)
		}
	}
}
