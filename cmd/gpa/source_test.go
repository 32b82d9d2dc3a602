package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa"
)

// TestMissedSources holds what is said of source files that are not there.
func TestMissedSources(t *testing.T) {
	dir := t.TempDir()
	s := gpa.NewSources(dir)
	for _, name := range []string{"a.cu", "b.cu", "c.cu", "d.cu", "e.cu"} {
		s.Read(name)
	}
	var told strings.Builder
	s.Missed(&told)
	if want := "gpa: sources not found below " + dir + ": a.cu, b.cu, c.cu and 2 more (--source DIR looks below DIR)\n"; told.String() != want {
		t.Errorf("told %q, want %q", told.String(), want)
	}
}

// TestNoForeignSource holds that the name of a file elsewhere in a line table brings its text into no report.
func TestNoForeignSource(t *testing.T) {
	dir := t.TempDir()
	secret, module := filepath.Join(dir, "secret.cu"), filepath.Join(dir, "kernel", "k.cubin")
	text := ".arch sm_70\n.kernel k\n.param out, 8\n.line \"" + secret + "\", 1\nMOV R2, c[0x0][out]\nMOV R3, c[0x0][out+4]\nSTG.E.SYS [R2], R40\nEXIT\n"
	if err := os.MkdirAll(filepath.Dir(module), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{secret: "the secret text\n", module + ".sass": text} {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, stderr, status := invoke(t, "asm", module+".sass", "-o", module); status != exitDone {
		t.Fatal(stderr)
	}
	page, out := filepath.Join(dir, "page.html"), filepath.Join(dir, "out")
	run := []string{"profile", module, "--grid", "1", "--block", "32", "--arg", "f32[64]", "--html", page, "--out", out}
	stdout, stderr, status := invoke(t, run...)
	if status != exitDone || !strings.Contains(stderr, "sources not found below "+filepath.Dir(module)+": "+secret) {
		t.Fatalf("status %d: %s", status, stderr)
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	listed, _, _ := invoke(t, "pprof", "-list=k", out)
	if strings.Contains(stdout+stderr+string(html)+listed, "secret text") {
		t.Error("a file from elsewhere is in a report")
	}
	if _, stderr, status = invoke(t, append(run, "--source", dir)...); status != exitDone || strings.Contains(stderr, "not found") {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if html, err = os.ReadFile(page); err != nil || !strings.Contains(string(html), "secret text") {
		t.Errorf("with --source the text is missing: %v", err)
	}
}
