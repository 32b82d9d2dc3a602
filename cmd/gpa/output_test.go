//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"gpa/cubin"
)

// TestOutputPlaces holds that a file is replaced as a whole and keeps its permissions, that new ones have those that the umask leaves,
// and that whatever is no regular file stays and is written to.
func TestOutputPlaces(t *testing.T) {
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
		if err := writeFile(at(name), []byte("now")); err != nil {
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
	if err := writeFile("/dev/null", []byte("now")); err != nil {
		t.Error(err)
	}
	if err := writeFiles(dir, []outputFile{{"new", []byte("other")}, {"folder", []byte("other")}}); err == nil {
		t.Error("a folder was written to")
	}
	if got, err := os.ReadFile(at("new")); string(got) != "now" {
		t.Errorf("of two files, of which one cannot be written, one is %q, %v", got, err)
	}
	if left, _ := filepath.Glob(at(".*.*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestHeldOutput holds that a command that turns out to be wrong on the way shows no part of its result, or fails where it has.
func TestHeldOutput(t *testing.T) {
	wrong := errors.New("the input is wrong")
	for _, tt := range []struct {
		name   string
		bytes  int
		err    error
		status int
		shown  bool
	}{
		{"done", 100, nil, exitDone, true}, {"failed", 100, failure{wrong}, exitFailed, true}, {"wrong", 100, wrong, exitUsage, false},
		{"wrong late", maxHeld + 100, wrong, exitFailed, true}, {"interrupted", 100, context.Canceled, exitFailed, true},
	} {
		var out, messages bytes.Buffer
		c := command{name: "rows", setup: func(*pflag.FlagSet) action {
			return func(_ context.Context, e *env, _ []string) error {
				for range tt.bytes/100 + 1 {
					fmt.Fprintln(e.stdout, strings.Repeat("x", 99))
				}
				return tt.err
			}
		}}
		status := c.run(context.Background(), &env{stdout: &out, stderr: &messages}, nil)
		if status != tt.status || out.Len() > 0 != tt.shown || tt.err == nil != (messages.Len() == 0) {
			t.Errorf("%s: status %d, %d bytes, %s", tt.name, status, out.Len(), &messages)
		}
	}
}

// TestListCutOff holds that the list of a file that ends too early is that of the entries before, and a failure; and no list where
// there are none.
func TestListCutOff(t *testing.T) {
	data, err := cubin.ReadFile("../../kernels/basic/vecadd/vecadd.sm_70.cubin")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "lib.a")
	member := func(name string, size int) string {
		return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n", name+"/", 0, 0, 0, 0o644, size)
	}
	padded := string(data) + strings.Repeat("\n", len(data)%2)
	whole := "!<arch>\n" + member("a.o", len(data)) + padded
	for _, tt := range []struct {
		name, text string
		status     int
		rows       bool
	}{
		{"whole", whole, exitDone, true},
		{"cut off behind an entry", whole + member("b.o", 1<<20) + "short", exitFailed, true},
		{"cut off before any", "!<arch>\n" + member("a.o", 1<<20) + "short", exitUsage, false},
	} {
		if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		list, problem := cubin.Entries([]byte(tt.text))
		stdout, stderr, status := invoke(t, "disasm", "--list", file)
		if status != tt.status || stdout != "" != tt.rows {
			t.Errorf("%s: status %d, %q, %s (%d entries, %v)", tt.name, status, stdout, stderr, len(list), problem)
		}
	}
}
