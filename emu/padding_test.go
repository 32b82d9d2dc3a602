package emu

import (
	"strings"
	"testing"
)

// TestPadding holds that buffers and the padding behind them keep to their part of the addresses, and that allocations of the heap do: what
// would run into another part is not there.
func TestPadding(t *testing.T) {
	p := &timedProgram{text: "EXIT"}
	m, _, _ := p.start(t, testModel(t), Options{Padding: MaxPadding, Heap: 1 << 20})
	for n := 0; ; n++ {
		at, err := m.Alloc("b", 64)
		if err != nil {
			if n < 400 || !strings.Contains(err.Error(), "448 GiB of addresses") {
				t.Errorf("buffer %d: %v", n, err)
			}
			break
		}
		if at+64 > heapBase {
			t.Fatalf("buffer %d lies at %#x", n, at)
		}
	}
	h := m.heap
	for n := range 1000 {
		at := h.alloc(64)
		if at < heapBase || at+64 > heapEnd {
			t.Fatalf("allocation %d lies at %#x", n, at)
		}
	}
	h.next = heapEnd - 32
	if at := h.alloc(64); at != 0 {
		t.Errorf("an allocation behind the last address, at %#x", at)
	}
}
