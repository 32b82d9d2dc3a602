package patch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCorpus applies patches to the sources of the corpus: every kernel is found by its name, every line that begins with a loop is one, and
// what Unroll changes is one line.
func TestCorpus(t *testing.T) {
	names, err := filepath.Glob("../../kernels/*/*/*.cu")
	if err != nil || len(names) < 100 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s := NewSource(text)
		if strings.Contains(string(text), "__global__ void") && len(s.Functions("")) == 0 {
			t.Errorf("%s: no function is found", name)
		}
		for i, line := range strings.Split(string(text), "\n") {
			trimmed := strings.TrimSpace(line)
			if !strings.HasPrefix(trimmed, "for (") && !strings.HasPrefix(trimmed, "while (") {
				continue
			}
			if !s.LoopHeader(i + 1) {
				t.Errorf("%s:%d: no loop is found", name, i+1)
				continue
			}
			patched, err := s.Unroll(i+1, 3)
			if err != nil {
				t.Errorf("%s:%d: %v", name, i+1, err)
				continue
			}
			checkOneLine(t, Diff("a", "b", text, patched))
		}
	}
}

// checkOneLine holds that a diff adds one line, a pragma, and takes away none or another pragma.
func checkOneLine(t *testing.T, diff string) {
	t.Helper()
	added := 0
	for _, line := range strings.Split(diff, "\n")[2:] {
		switch {
		case strings.HasPrefix(line, "+"):
			added++
			if strings.TrimSpace(line[1:]) != "#pragma unroll 3" {
				t.Errorf("%s", diff)
			}
		case strings.HasPrefix(line, "-") && !strings.HasPrefix(strings.TrimSpace(line[1:]), "#pragma unroll"):
			t.Errorf("%s", diff)
		}
	}
	if added != 1 {
		t.Errorf("%s", diff)
	}
}
