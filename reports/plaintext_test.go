package reports

import (
	"bytes"
	"strings"
	"testing"
)

// TestPlainText holds what of a text reaches its reader, however it is cut into writes.
func TestPlainText(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"a\tb\nµs 3×4 …\n", "a\tb\nµs 3×4 …\n"},
		{"\x1b[1;31mgpa run:\x1b[0m", "\x1b[1;31mgpa run:\x1b[0m"},
		{"\x1b]0;title\a \x1b[2J \x1b[8mhidden", "?]0;title? ?[2J ?[8mhidden"},
		{"\u009b2J \x9b2J \x00\x7f\b\r\xff", "?2J ?2J ?????"},
		{"user\u202e\u2066gnp.exe\u2069\u200f\u200b\ufeff\u2028", "user??gnp.exe?????"},
		{strings.Repeat("é", LongestLine) + "\n", strings.Repeat("é", LongestLine) + "\n"},
		{strings.Repeat("é", LongestLine+1) + "x\nnext", strings.Repeat("é", LongestLine) + "...\nnext"},
	} {
		if got := plainText(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
		if strings.Contains(tt.text, "\x1b") {
			continue // gpa writes a sequence as a whole
		}
		var out bytes.Buffer
		w := &PlainWriter{W: &out}
		for i := range len(tt.text) {
			if n, err := w.Write([]byte(tt.text[i : i+1])); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if out.String() != tt.want {
			t.Errorf("%q byte by byte: %q, want %q", tt.text, out.String(), tt.want)
		}
	}
}
