package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPlainText holds what of a text reaches its reader, however it is cut into writes.
func TestPlainText(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"a\tb\nµs 3×4 …\n", "a\tb\nµs 3×4 …\n"},
		{"\x1b[1;31mgpa run:\x1b[0m", "\x1b[1;31mgpa run:\x1b[0m"},
		{"\x1b]0;title\a \x1b[2J \x1b[8mhidden", "?]0;title? ?[2J ?[8mhidden"},
		{"\u009b2J \x9b2J \x00\x7f\b\r\xff", "?2J ?2J ?????"},
		{"user\u202e\u2066gnp.exe\u2069\u200f\u200b\ufeff\u2028", "user??gnp.exe?????"},
		{strings.Repeat("é", longestLine) + "\n", strings.Repeat("é", longestLine) + "\n"},
		{strings.Repeat("é", longestLine+1) + "x\nnext", strings.Repeat("é", longestLine) + "...\nnext"},
	} {
		if got := plainText(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
		if strings.Contains(tt.text, "\x1b") {
			continue // gpa writes a sequence as a whole
		}
		var out bytes.Buffer
		w := &plainWriter{w: &out}
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

// TestHostileNames holds that names from files reach no terminal and no message as they are, and a pipe as bytes.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	evil := "evil\x1b[2J\u202e" + strings.Repeat("x", 1000)
	file := filepath.Join(dir, "launch.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, "module: %q\nlaunches: [{kernel: k, grid: [1], block: [1]}]\n", evil), 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := invoke(t, "run", file)
	if longest := utf8.RuneCountInString(stderr); status != exitUsage || strings.ContainsAny(stderr, "\x1b\u202e") || longest > longestLine+4 {
		t.Errorf("status %d, %d characters: %q", status, longest, stderr)
	}
	for _, columns := range []int{0, 80} {
		var raw bytes.Buffer
		e := (&env{stdout: &raw, stderr: &raw, terminal: terminal{width: columns, messages: columns}}).plain()
		fmt.Fprintf(e.prints, "%s\n", evil)
		fmt.Fprintf(e.stdout, "%s\n", evil)
		if got := strings.Contains(raw.String(), "\x1b[2J\u202e"); got != (columns == 0) {
			t.Errorf("with %d columns: %q", columns, raw.String())
		}
	}
	if status := run(context.Background(), &env{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}, []string{"\x1b[2J"}); status != exitUsage {
		t.Errorf("status %d", status)
	}
}
