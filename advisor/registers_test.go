package advisor

import (
	"strings"
	"testing"

	"gpa/blamer/sasstest"
)

// A compiler is told of the size of blocks where a change takes most of the registers that such a block has room for.
func TestBoundRegisters(t *testing.T) {
	merged := func(axis MergeAxis, factor int) *Streams {
		return &Streams{Merged: []Merged{{Axis: axis, Factor: factor}}}
	}
	for _, c := range []struct {
		name      string
		threads   int
		registers int
		streams   *Streams
		says      string
	}{
		{"a full block", 1024, 60, merged(MergeX, 4), "room for 64 registers a thread: declare __launch_bounds__(1024)"},
		{"a full block, few registers", 1024, 40, merged(MergeX, 4), ""},
		{"a full block that becomes a quarter of one", 1024, 60, merged(MergeStrided, 4), ""},
		{"half a block", 512, 120, nil, "room for 128 registers a thread: declare __launch_bounds__(512)"},
		{"a block that is no power of two", 768, 80, nil, "room for 80 registers a thread: declare __launch_bounds__(768)"},
		{"a small block", 128, 250, nil, ""},
	} {
		p := sasstest.New(t, "FADD R2, R2, R3 ; // selected=1\n EXIT ;")
		p.Launch.Block = [3]int{c.threads, 1, 1}
		in := inputOf(t, p)
		const text = "Let a thread take more."
		m := &Match{Suggestions: []string{text, "Not where."}, Change: &Change{Registers: c.registers, Streams: c.streams}}
		in.boundRegisters(m)
		first := m.Suggestions[0]
		if c.says == "" && first != text || !strings.Contains(first, c.says) || !strings.HasPrefix(first, text) {
			t.Errorf("%s: %q, want %q", c.name, first, c.says)
		}
	}
}
