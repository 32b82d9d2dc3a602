package check

import (
	"testing"

	"gpa/emu"
)

// TestMarks notes accesses to a buffer that is larger than memory: what nobody touches takes none.
func TestMarks(t *testing.T) {
	const size = 1<<36 + 5
	m := newMarks(size)
	for _, x := range []struct {
		kind  emu.AccessKind
		from  uint64
		size  int
		known bool
	}{
		{emu.Load, 0, 4, false},
		{emu.Store, markPage - 2, 4, true},
		{emu.Load, markPage - 2, 4, true},
		{emu.Load, markPage - 3, 4, false},
		{emu.Atomic, markPage, 4, false},
		{emu.Load, markPage, 4, true},
		{emu.Atomic, 7 * markPage, 4, false},
		{emu.Load, 7 * markPage, 4, true},
		{emu.Store, size - 4, 16, true},
		{emu.Load, size - 4, 16, true},
	} {
		if known := m.touch(x.kind, x.from, x.size); known != x.known {
			t.Errorf("%+v", x)
		}
	}
	// Marked are four bytes at the end of the first page, two more behind these, four in the eighth page, four at the end.
	if n, first := m.unmarked(); n != size-14 || first != 0 {
		t.Errorf("%d bytes, the first at %d", n, first)
	}
}
