package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa"
	"gpa/cubin"
	"gpa/cubin/sass"
)

// commandsOn are the command lines that read a kernel's folder or its cubin.
func commandsOn(dir, module, out string) [][]string {
	saved := filepath.Join(out, gpa.SavedFile)
	return [][]string{
		{"run", dir}, {"check", dir}, {"profile", dir, "--out", out, "--html", filepath.Join(out, "page.html")},
		{"profile", dir, "--try", "2"}, {"profile", dir, "--timing", "none"},
		{"advise", saved}, {"report", saved, "--html", filepath.Join(out, "again.html")},
		{"compare", dir, dir}, {"reconverge", dir, "--timing", "none"}, {"export", saved},
		{"pprof", "-top", filepath.Join(out, "profile.pb.gz")},
		{"disasm", module}, {"cfg", module}, {"rewrite", "--check", module}, {"rewrite", "--restructure", module},
		{"rewrite", "--reorder", module}, {"rewrite", "--reconverge", "tf", module}, {"rewrite", "--census", module},
	}
}

// TestUnknownWords makes the instructions of a kernel unknown in turn and runs every command on it. None panics, and a word that no
// thread comes to changes nothing of what a run says.
func TestUnknownWords(t *testing.T) {
	t.Parallel()
	file, err := cubin.Open(filepath.Join(copyKernel(t, "vecadd"), "vecadd.sm_70.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	code := file.Codes[0]
	step := 1
	if testing.Short() {
		step = 7
	}
	for i := 0; i < len(code.Insts); i += step {
		dir, out := copyKernel(t, "vecadd"), t.TempDir()
		module := filepath.Join(dir, "vecadd.sm_70.cubin")
		blank(t, module, code.Insts[i].Word)
		ended := i > lastRun(code)
		for _, args := range commandsOn(dir, module, out) {
			stdout, stderr, status := gpaWithin(t, args...)
			if status == exitPanic || ended && args[0] == "run" && status != exitDone {
				t.Errorf("instruction %d: gpa %s: status %d: %s%s", i, strings.Join(args, " "), status, stderr, stdout)
			}
		}
	}
}

// lastRun is the index of the last EXIT, behind which the compiler puts words that no thread runs.
func lastRun(c *cubin.Code) int {
	last := 0
	for i := range c.Insts {
		if c.Insts[i].Op == sass.EXIT {
			last = i
		}
	}
	return last
}

// gpaWithin runs a command that may take some seconds.
func gpaWithin(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, messages bytes.Buffer
	status = run(t.Context(), &env{stdout: &out, stderr: &messages}, args)
	return out.String(), messages.String(), status
}

// blank overwrites a word of a cubin, which must be there once at least, by one that is no instruction.
func blank(t *testing.T, name string, w sass.Word) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	old := appendWord(nil, w)
	at := bytes.Index(data, old)
	if at < 0 {
		t.Fatalf("%s has no word %#x", name, w)
	}
	copy(data[at:], bytes.Repeat([]byte{0xff}, sass.InstSize))
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func appendWord(to []byte, w sass.Word) []byte {
	for _, half := range []uint64{w.Lo, w.Hi} {
		for i := range 8 {
			to = append(to, byte(half>>(8*i)))
		}
	}
	return to
}

// A panic of a command is one line that names the arguments and asks for a report, and status 3.
func TestPanicIsOneLine(t *testing.T) {
	broken := command{name: "broken", raw: func(context.Context, *env, []string) error {
		panic(errors.New("index\nout of range"))
	}}
	var stdout, stderr bytes.Buffer
	status := broken.run(t.Context(), &env{stdout: &stdout, stderr: &stderr}, []string{"odd.cubin"})
	message := stderr.String()
	if status != exitPanic || strings.Count(message, "\n") != 1 || !strings.Contains(message, "odd.cubin") || !strings.Contains(message, "report") {
		t.Errorf("status %d: %q", status, message)
	}
}
