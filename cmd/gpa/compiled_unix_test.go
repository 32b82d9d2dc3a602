//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeNvcc makes a command that writes the built-in saxpy in place of a cubin, a shell script that prints its arguments in place of a program, and
// the source in place of both where that has "broken" in it. Each run of it adds a line to the file "runs".
func fakeNvcc(t *testing.T) (folder string) {
	t.Helper()
	home := copyKernel(t, "saxpy")
	script := `#!/bin/sh
echo "$@" >> '` + home + `/runs'
program=0
while [ $# -gt 0 ]; do
  case "$1" in
    -cudart) program=1 ;;
    -o) out="$2"; in="$3" ;;
    -MF) read="$2" ;;
  esac
  shift
done
if grep -q broken "$in"; then echo "$in(1): error: it is broken" >&2; exit 1; fi
printf 'out : %s \\\n  %s\n' "$in" "$PWD/head.cuh" > "$read"
if [ $program = 1 ]; then printf '#!/bin/sh\necho "program: $*"\n' > "$out"; chmod +x "$out"; exit 0; fi
cp '` + home + `/saxpy.sm_80.cubin' "$out"
`
	for name, text := range map[string]string{"bin/nvcc": script, "src/k.cu": "// Compiled in name only.\n", "src/head.cuh": "\n"} {
		if err := os.MkdirAll(filepath.Join(home, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(home, "bin")+":"+os.Getenv("PATH"))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return home
}

// compilations is how often the compiler has run.
func compilations(t *testing.T, home string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(home, "runs"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

// TestCompiledKernel profiles a source whose launch is described, and compiles again only where something has changed.
func TestCompiledKernel(t *testing.T) {
	home := fakeNvcc(t)
	source, header := filepath.Join(home, "src", "k.cu"), filepath.Join(home, "src", "head.cuh")
	args := []string{"profile", source, "--grid", "4", "--block", "256", "--arg", "i32:1024", "--arg", "f32:2", "--arg", "f32[1024]", "--arg", "f32[1024]", "--try", "0"}
	profile := func(want int) {
		t.Helper()
		stdout, stderr, status := invoke(t, args...)
		if status != exitDone || !strings.Contains(stdout, "saxpy on a100 (sm_80)") {
			t.Fatalf("status %d: %s%s", status, stdout, stderr)
		}
		if got := compilations(t, home); got != want {
			t.Errorf("compiled %d times, want %d", got, want)
		}
	}
	profile(1)
	profile(1)
	if err := os.WriteFile(header, []byte("// changed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	profile(2)
	args = append(args, "--compiler-flags", "-O1")
	profile(3)
}

// TestCompiledLaunchFile writes the launch file of a source, and runs the source by either name.
func TestCompiledLaunchFile(t *testing.T) {
	home := fakeNvcc(t)
	source := filepath.Join(home, "src", "k.cu")
	if _, stderr, status := invoke(t, "run", source); status != exitUsage || !strings.Contains(stderr, "gpa init "+source) || !strings.Contains(stderr, "saxpy(4, 4, 8, 8)") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if stdout, stderr, status := invoke(t, "init", source); status != exitDone {
		t.Fatalf("status %d: %s%s", status, stdout, stderr)
	}
	for _, name := range []string{source, filepath.Join(home, "src", "k.yaml")} {
		if stdout, stderr, status := invoke(t, "run", name); status != exitDone || !strings.Contains(stdout, "k.yaml: 1 launch") {
			t.Errorf("%s: status %d: %s%s", name, status, stdout, stderr)
		}
	}
	if _, stderr, status := invoke(t, "init", source); status != exitUsage || !strings.Contains(stderr, "is there already") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if _, stderr, status := invoke(t, "run", source, "--kernel", "saxpy"); status != exitUsage || !strings.Contains(stderr, "not with a launch file") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestCompilerRefuses tells what the compiler says.
func TestCompilerRefuses(t *testing.T) {
	home := fakeNvcc(t)
	source := filepath.Join(home, "src", "k.cu")
	if err := os.WriteFile(source, []byte("broken\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := invoke(t, "run", source); status != exitUsage || !strings.Contains(stderr, "k.cu(1): error: it is broken") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// A heard is what a command has written so far.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// TestWatch saves a source that is watched, spoils it, and mends it.
func TestWatch(t *testing.T) {
	home := fakeNvcc(t)
	source := filepath.Join(home, "src", "k.cu")
	if _, stderr, status := invoke(t, "init", source); status != exitDone {
		t.Fatal(stderr)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, messages heard
	ended := make(chan int)
	go func() {
		ended <- run(ctx, &env{stdout: &out, stderr: &messages}, []string{"watch", source, "--try", "0"})
	}()
	// The n-th save is followed by the n-th wait for one.
	for n, step := range []struct{ text, says string }{
		{"", "saxpy on a100"}, {"// another\n", "saxpy: 1.000x"}, {"broken\n", "it is broken"}, {"// mended again\n", "outputs equal"},
	} {
		if step.text != "" {
			if err := os.WriteFile(source, []byte(step.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for deadline := time.Now().Add(time.Minute); strings.Count(messages.String(), "waiting for a change of k.cu") <= n; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("after %q: %s%s", step.text, out.String(), messages.String())
			}
		}
		if all := out.String() + messages.String(); !strings.Contains(all, step.says) {
			t.Errorf("after %q it does not say %q: %s", step.text, step.says, all)
		}
	}
	stop()
	if status := <-ended; status != exitDone {
		t.Errorf("status %d", status)
	}
	if got := strings.Count(out.String(), "saxpy: 1.000x"); got != 2 {
		t.Errorf("compared %d times, want 2:\n%s", got, out.String())
	}
}
