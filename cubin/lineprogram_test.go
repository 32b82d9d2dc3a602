package cubin

import (
	"strings"
	"testing"
)

// Rows are in the order of addresses, so that the row of a call may come behind those of what was inlined there.
func TestInlinedAtRows(t *testing.T) {
	for _, c := range []struct {
		contexts []uint32
		err      string
	}{
		{[]uint32{0, 1, 2}, ""},
		{[]uint32{3, 0, 2}, ""},
		{[]uint32{0, 4, 1}, "inlined at row 4 of 3"},
		{[]uint32{1}, "row 1 is inlined at itself"},
		{[]uint32{3, 1, 2}, "row 1 is inlined at itself"},
	} {
		b := &lineBuilder{}
		for _, at := range c.contexts {
			b.rows = append(b.rows, lineRow{context: at})
		}
		b.checkInlined()
		switch {
		case c.err == "" && b.err != nil:
			t.Errorf("%v: %v", c.contexts, b.err)
		case c.err != "" && (b.err == nil || !strings.Contains(b.err.Error(), c.err)):
			t.Errorf("%v: the error is %v, want %s", c.contexts, b.err, c.err)
		}
	}
}
