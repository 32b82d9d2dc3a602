package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"gpa/cubin"
	"gpa/reports/terminal"
)

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
		{"wrong late", terminal.MaxHeld + 100, wrong, exitFailed, true}, {"interrupted", 100, context.Canceled, exitFailed, true},
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
