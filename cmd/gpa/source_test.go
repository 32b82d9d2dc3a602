package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSourceFolders holds that nothing but what lies below the folders is read, whatever a line table names.
func TestSourceFolders(t *testing.T) {
	dir := t.TempDir()
	outside, result, given := filepath.Join(dir, "outside"), filepath.Join(dir, "result"), filepath.Join(dir, "given")
	for name, text := range map[string]string{
		outside + "/secret": "secret", result + "/a.cu": "beside the result", result + "/src/b.cu": "below it", given + "/a.cu": "given", given + "/x/c.cu": "c",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link.cu": outside + "/secret", "up.cu": "../outside/secret", "folder": outside, "inside.cu": "src/b.cu"} {
		if err := os.Symlink(to, filepath.Join(result, name)); err != nil {
			t.Fatal(err)
		}
	}
	beside := newSourceFinder(result)
	both := beside.before(given)
	for _, tt := range []struct {
		finder sourceFinder
		name   string
		want   string
	}{
		{beside, "a.cu", "beside the result"}, {beside, "/home/somebody/a.cu", "beside the result"}, {beside, `C:\work\src\b.cu`, "below it"},
		{beside, "../../src/b.cu", "below it"}, {beside, "inside.cu", "below it"}, {both, "/home/somebody/a.cu", "given"}, {both, "/x/c.cu", "c"},
		{both, "src/b.cu", "below it"}, {beside, outside + "/secret", ""}, {beside, "../outside/secret", ""}, {beside, "link.cu", ""},
		{beside, "up.cu", ""}, {beside, "folder/secret", ""}, {beside, "/etc/passwd", ""}, {beside, "src", ""}, {beside, "..", ""}, {beside, "", ""},
	} {
		if got := string(tt.finder.read(tt.name)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	var told strings.Builder
	beside.tell(&told)
	if got := told.String(); !strings.Contains(got, "/secret, ../outside/secret, link.cu and 5 more") || !strings.Contains(got, result) {
		t.Errorf("told: %s", got)
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
	if _, stderr, status := gpa(t, "asm", module+".sass", "-o", module); status != exitDone {
		t.Fatal(stderr)
	}
	page, out := filepath.Join(dir, "page.html"), filepath.Join(dir, "out")
	run := []string{"profile", module, "--grid", "1", "--block", "32", "--arg", "f32[64]", "--html", page, "--out", out}
	stdout, stderr, status := gpa(t, run...)
	if status != exitDone || !strings.Contains(stderr, "sources not found below "+filepath.Dir(module)+": "+secret) {
		t.Fatalf("status %d: %s", status, stderr)
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	listed, _, _ := gpa(t, "pprof", "-list=k", out)
	if strings.Contains(stdout+stderr+string(html)+listed, "secret text") {
		t.Error("a file from elsewhere is in a report")
	}
	if _, stderr, status = gpa(t, append(run, "--source", dir)...); status != exitDone || strings.Contains(stderr, "not found") {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if html, err = os.ReadFile(page); err != nil || !strings.Contains(string(html), "secret text") {
		t.Errorf("with --source the text is missing: %v", err)
	}
}
