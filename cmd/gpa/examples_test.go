package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpa/reports"
)

// TestExamples runs the examples of all commands in one folder, as a reader would who tries them in turn.
func TestExamples(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"saxpy", "hotspot"} {
		if err := os.Rename(filepath.Join(copyKernel(t, name), name+".sm_70.cubin"), filepath.Join(folder, name+".cubin")); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	list := commands()
	// What is imported has been exported before.
	slices.SortStableFunc(list, func(a, b command) int { return late(&a) - late(&b) })
	for _, c := range list {
		for _, x := range examplesOf(c.name) {
			if c.name != "evaluate" && c.name != "tune" && !strings.Contains(x.line, ".cu ") && !strings.HasSuffix(x.line, ".cu") {
				runExample(t, x.line) // the others need a checkout or a compiler, and have tests of their own
			}
		}
	}
}

func late(c *command) int {
	if c.name == "import" {
		return 1
	}
	return 0
}

// runExample runs a command line, its output into a file where it says so.
func runExample(t *testing.T, line string) {
	line, file, redirected := strings.Cut(line, " > ")
	stdout, stderr, status := invoke(t, strings.Fields(line)[1:]...)
	if status != exitDone {
		t.Errorf("%s: status %d: %s", line, status, stderr)
	}
	if redirected {
		if err := os.WriteFile(file, []byte(stdout), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReflow(t *testing.T) {
	got := reports.Reflow("one two\nthree four\n\n  kept as\n  it is\n\nfive", 10)
	if want := "one two\nthree four\n\n  kept as\n  it is\n\nfive\n"; got != want {
		t.Errorf("%q", got)
	}
	if got := reports.Reflow("one\ntwo three", 8); got != "one two\nthree\n" {
		t.Errorf("%q", got)
	}
}

// TestHelpTexts holds that every text of help is that of a command, and that every command but version has one.
func TestHelpTexts(t *testing.T) {
	var want []string
	for _, c := range commands() {
		if c.name != "version" {
			want = append(want, c.name)
		}
	}
	want = append(want, "KERNEL", "PROGRAM", "examples", "gpa")
	entries, err := helpFiles.ReadDir("help")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".txt")
		if helpText(name) == "" || strings.Contains(helpText(name), "{KERNEL}") {
			t.Errorf("help/%s: %q", e.Name(), helpText(name))
		}
		got = append(got, name)
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("there are texts of %v, commands %v", got, want)
	}
	shown := 0
	for _, c := range commands() {
		shown += len(examplesOf(c.name))
	}
	if lines := strings.Count(helpText("examples"), "\n") + 1; shown != lines {
		t.Errorf("%d of %d examples are of a command", shown, lines)
	}
}
