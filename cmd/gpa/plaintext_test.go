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

	"gpa/reports"
	"gpa/reports/terminal"
)

// TestHostileNames holds that names from files reach no terminal and no message as they are, and a pipe as bytes.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	evil := "evil\x1b[2J\u202e" + strings.Repeat("x", 1000)
	file := filepath.Join(dir, "launch.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, "module: %q\nlaunches: [{kernel: k, grid: [1], block: [1]}]\n", evil), 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := invoke(t, "run", file)
	if longest := utf8.RuneCountInString(stderr); status != exitUsage || strings.ContainsAny(stderr, "\x1b\u202e") || longest > reports.LongestLine+4 {
		t.Errorf("status %d, %d characters: %q", status, longest, stderr)
	}
	for _, columns := range []int{0, 80} {
		var raw bytes.Buffer
		e := (&env{stdout: &raw, stderr: &raw, terminal: terminal.Outputs{Width: columns, Messages: columns}}).plain()
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
