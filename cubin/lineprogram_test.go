package cubin

import (
	"slices"
	"strings"
	"testing"
)

// Rows are in the order of addresses, so that the row of a call may come behind those of what was inlined there. None is inlined at itself.
func TestInlinedAtRows(t *testing.T) {
	for _, c := range []struct {
		contexts, want []uint32
		err            string
	}{
		{[]uint32{0, 1, 2}, []uint32{0, 1, 2}, ""},
		{[]uint32{3, 0, 2}, []uint32{3, 0, 2}, ""},
		{[]uint32{0, 4, 1}, nil, "inlined at row 4 of 3"},
		{[]uint32{1}, []uint32{0}, ""},
		{[]uint32{3, 1, 2}, []uint32{3, 0, 2}, ""},
		{[]uint32{2, 1, 2, 0, 4}, []uint32{2, 0, 2, 0, 4}, ""},
	} {
		b := &lineBuilder{}
		for _, at := range c.contexts {
			b.rows = append(b.rows, lineRow{context: at})
		}
		b.checkInlined()
		if c.err != "" {
			if b.err == nil || !strings.Contains(b.err.Error(), c.err) {
				t.Errorf("%v: the error is %v, want %s", c.contexts, b.err, c.err)
			}
			continue
		}
		var got []uint32
		for i := range b.rows {
			got = append(got, b.rows[i].context)
		}
		if b.err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v become %v, want %v (%v)", c.contexts, got, c.want, b.err)
		}
	}
}
