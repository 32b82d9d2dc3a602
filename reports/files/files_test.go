//go:build unix

package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPlaces holds that a file is replaced as a whole and keeps its permissions, that new ones have those that the umask leaves,
// and that whatever is no regular file stays and is written to.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	defer unix.Umask(unix.Umask(0o027))
	for name, mode := range map[string]os.FileMode{"private": 0o600, "program": 0o755, "target": 0o644} {
		if err := os.WriteFile(at(name), []byte("what was there before and is longer"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("target", at("link")), os.Symlink("later", at("dangling")), unix.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("folder"), 0o700)); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(at("pipe"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for name, want := range map[string]fs.FileMode{
		"new": 0o640, "private": 0o600, "program": 0o755, "link": fs.ModeSymlink | 0o777, "dangling": fs.ModeSymlink | 0o777, "pipe": fs.ModeNamedPipe | 0o600,
	} {
		if err := WriteOne(at(name), []byte("now")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Lstat(at(name)); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, %v, want %v", name, info.Mode(), err, want)
		}
		if name == "pipe" {
			got := make([]byte, 10)
			if n, err := reader.Read(got); string(got[:n]) != "now" {
				t.Errorf("the pipe has %q, %v", got[:n], err)
			}
		} else if got, err := os.ReadFile(at(name)); string(got) != "now" {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if err := WriteOne("/dev/null", []byte("now")); err != nil {
		t.Error(err)
	}
	if err := Write(dir, []File{{"new", []byte("other")}, {"folder", []byte("other")}}); err == nil {
		t.Error("a folder was written to")
	}
	if got, err := os.ReadFile(at("new")); string(got) != "now" {
		t.Errorf("of two files, of which one cannot be written, one is %q, %v", got, err)
	}
	if left, _ := filepath.Glob(at(".*.*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
