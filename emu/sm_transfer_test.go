package emu

import (
	"testing"

	"gpa/emu/mem"
)

// A query is answered when the last of several copies is complete, whatever their order, and not before it was asked.
func TestTransferArrivals(t *testing.T) {
	for _, c := range []struct {
		done  []int64
		asked int64
		want  int64
	}{{[]int64{700, 900}, 100, 900}, {[]int64{900, 700}, 100, 900}, {[]int64{700, 900}, 1000, 1000}} {
		v := &resident{}
		v.counters[0].add(50, mem.Never, &op{})
		x := &transfer{pending: len(c.done), waiters: []awaited{{v: v, issued: c.asked, write: 0, number: 0}}}
		for i, done := range c.done {
			if v.counters[0].clear != mem.Never {
				t.Errorf("%v: answered after %d copies", c.done, i)
			}
			x.arrive(done)
		}
		if got := v.counters[0].clear; got != c.want {
			t.Errorf("%v, asked in %d: answered in %d, want %d", c.done, c.asked, got, c.want)
		}
	}
}

// The lines of a copy have all sectors and bytes that it touches.
func TestBulkCopyLines(t *testing.T) {
	var c bulkCopy
	for addr := uint64(96); addr < 96+64; addr += 8 {
		c.touch(addr, 8)
	}
	if len(c.lines) != 2 || c.lines[0].Sectors != 8 || c.lines[1].Sectors != 1 || c.lines[1].Number != 1 || c.lines[0].Bytes[3] != 1<<32-1 {
		t.Errorf("%+v", c.lines)
	}
}
