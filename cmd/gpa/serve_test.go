//go:build linux && (amd64 || arm64)

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Programs of a shell find the GPU of a server by what gpa env prints, until the server is interrupted.
func TestServe(t *testing.T) {
	folder := "XDG_RUNTIME_DIR=" + t.TempDir()
	gpa := func(args ...string) *exec.Cmd {
		c := gpaProcess(t, args...)
		c.Env = append(c.Env, folder)
		return c
	}
	if out, err := gpa("env").CombinedOutput(); err == nil || !strings.Contains(string(out), "no server is running: start gpa serve") {
		t.Errorf("%v: %s", err, out)
	}
	server := gpa("serve")
	said, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer server.Process.Kill()
	lines := bufio.NewReader(said)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "serving NVIDIA A100") {
		t.Fatalf("%v: %s", err, line)
	}
	if out, err := gpa("serve").CombinedOutput(); err == nil || !strings.Contains(string(out), "a server is running") {
		t.Errorf("%v: %s", err, out)
	}
	variables, err := gpa("env").Output()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c := exec.Command("sh", "-c", string(variables)+"exec "+os.Args[0])
		c.Env = append(os.Environ(), programVariable+"=vectors", "GODEBUG=asyncpreemptoff=1")
		if out, err := c.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("0x40800000")) {
			t.Errorf("%v: %s", err, out)
		}
	}
	if err := server.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	table, err := io.ReadAll(lines)
	if ended := server.Wait(); err != nil || ended != nil || !strings.Contains(string(table), "6 launches of") {
		t.Errorf("%v, %v: %s", err, ended, table)
	}
}
