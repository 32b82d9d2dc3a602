package gpa

import (
	"os"
	"path/filepath"
	"slices"
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
	beside := NewSources(result)
	both := beside.Before(given)
	for _, tt := range []struct {
		finder Sources
		name   string
		want   string
	}{
		{beside, "a.cu", "beside the result"}, {beside, "/home/somebody/a.cu", "beside the result"}, {beside, `C:\work\src\b.cu`, "below it"},
		{beside, "../../src/b.cu", "below it"}, {beside, "inside.cu", "below it"}, {both, "/home/somebody/a.cu", "given"}, {both, "/x/c.cu", "c"},
		{both, "src/b.cu", "below it"}, {beside, outside + "/secret", ""}, {beside, "../outside/secret", ""}, {beside, "link.cu", ""},
		{beside, "up.cu", ""}, {beside, "folder/secret", ""}, {beside, "/etc/passwd", ""}, {beside, "src", ""}, {beside, "..", ""}, {beside, "", ""},
	} {
		if got := string(tt.finder.Read(tt.name)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	missing, where := beside.Missing()
	if first := strings.Join(missing[:3], ", "); !strings.HasSuffix(first, "/secret, ../outside/secret, link.cu") || len(missing) != 8 || !slices.Equal(where, []string{result}) {
		t.Errorf("missing: %q below %q", missing, where)
	}
}
