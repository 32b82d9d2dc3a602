package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/kernels"
)

// invoke runs a command line and returns what it printed and its exit status.
func invoke(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(context.Background(), &env{stdout: &out, stderr: &err}, args)
	return out.String(), err.String(), status
}

// copyKernel puts the files of a built-in kernel into a new folder, for a test to spoil them.
func copyKernel(t *testing.T, name string) string {
	t.Helper()
	folder, err := kernels.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, folder); err != nil {
		t.Fatal(err)
	}
	decompress(t, dir)
	return dir
}

// decompress makes plain cubins of the compressed ones in a folder.
func decompress(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+cubin.Compressed))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := cubin.ReadFile(name)
		if err == nil {
			err = os.WriteFile(strings.TrimSuffix(name, cubin.Compressed), data, 0o600)
		}
		if err == nil {
			err = os.Remove(name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// edit replaces text in the file, which must contain it.
func edit(t *testing.T, file, old, new string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("%s does not contain %q", file, old)
	}
	data = bytes.Replace(data, []byte(old), []byte(new), 1)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// spoilCubin changes the bytes of vecadd's cubin.
func spoilCubin(change func([]byte) []byte) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		name := filepath.Join(dir, "vecadd.sm_70.cubin")
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, change(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func spoilLaunch(old, new string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) { edit(t, filepath.Join(dir, "launch.yaml"), old, new) }
}

// Bad input gives one clear line on standard error that names the file and what is wrong, exit status 2, and no output,
// whole or half.
func TestBadInput(t *testing.T) {
	const yaml = "launch.yaml"
	tests := []struct {
		name  string
		spoil func(t *testing.T, dir string)
		want  []string // in the message
	}{
		{"empty cubin", spoilCubin(func([]byte) []byte { return nil }), []string{"vecadd.sm_70.cubin", "empty"}},
		{"truncated cubin", spoilCubin(func(b []byte) []byte { return b[:len(b)/2] }), []string{"vecadd.sm_70.cubin"}},
		{"header only", spoilCubin(func(b []byte) []byte { return b[:64] }), []string{"vecadd.sm_70.cubin"}},
		{"text for a cubin", spoilCubin(func([]byte) []byte { return []byte("hello\n") }), []string{"vecadd.sm_70.cubin", "not a cubin"}},
		{"another machine's ELF", spoilCubin(func(b []byte) []byte { b[18] = 62; return b }), []string{"vecadd.sm_70.cubin", "not a cubin"}},
		{"architecture unknown", spoilCubin(func(b []byte) []byte { b[48] = 35; return b }), []string{"vecadd.sm_70.cubin", "sm_35"}},
		{"cubin missing", spoilLaunch("vecadd.sm_70.cubin", "gone.cubin"), []string{yaml, "gone.cubin"}},
		{"kernel unknown", spoilLaunch("kernel: vecadd", "kernel: vecsub"), []string{yaml, "vecsub"}},
		{"argument missing", spoilLaunch("- {buffer: a}\n", "\n"), []string{yaml, "arguments"}},
		{"argument type", spoilLaunch("{i32: ", "{i64: "), []string{yaml, "i64"}},
		{"grid 0", spoilLaunch("grid: [", "grid: [0, "), []string{yaml, "grid"}},
		{"block too large", spoilLaunch("block: [256]", "block: [1025]"), []string{yaml + ":", "launches[0]", "1024"}},
		{"block too large in all", spoilLaunch("block: [256]", "block: [64, 64]"), []string{yaml + ":", "4096"}},
		{"too much shared memory", spoilLaunch("block: [256]", "block: [256]\n    shared: 1000000"), []string{yaml + ":", "shared"}},
		{"syntax", spoilLaunch("launches:", "launches"), []string{yaml}},
		{"unknown key", spoilLaunch("block:", "blocks:"), []string{yaml, "blocks"}},
		{"npy missing", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, expectedFile(t, dir))); err != nil {
				t.Fatal(err)
			}
		}, []string{yaml, ".npy"}},
		{"npy cut off", func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, expectedFile(t, dir)), 1000); err != nil {
				t.Fatal(err)
			}
		}, []string{yaml, ".npy", "shape"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := copyKernel(t, "vecadd")
			test.spoil(t, dir)
			for _, verb := range []string{"run", "profile"} {
				result := filepath.Join(t.TempDir(), "out")
				stdout, stderr, status := invoke(t, verb, filepath.Join(dir, yaml), "--out", result)
				checkRefused(t, verb, stdout, stderr, status)
				for _, want := range test.want {
					if !strings.Contains(stderr, want) {
						t.Errorf("%s: %q does not say %q", verb, stderr, want)
					}
				}
				if _, err := os.Stat(result); err == nil {
					t.Errorf("%s: there is output", verb)
				}
			}
		})
	}
}

// expectedFile is the name of the .npy that vecadd's output is compared with.
func expectedFile(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*expected*.npy"))
	if err != nil || len(names) != 1 {
		t.Fatalf("expected files: %v, %v", names, err)
	}
	return filepath.Base(names[0])
}

func checkRefused(t *testing.T, verb, stdout, stderr string, status int) {
	t.Helper()
	if status != exitUsage {
		t.Errorf("%s: exit status %d, stderr %q", verb, status, stderr)
	}
	if stdout != "" {
		t.Errorf("%s: standard output %q", verb, stdout)
	}
	if n := strings.Count(strings.TrimSuffix(stderr, "\n"), "\n"); n > 0 && !strings.HasSuffix(stderr, "--help shows the arguments and flags\n") {
		t.Errorf("%s: more than one line: %q", verb, stderr)
	}
}

func TestBadCommandLine(t *testing.T) {
	const saxpy = "../../kernels/basic/saxpy/saxpy"
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"prfile"}, `there is no command "prfile"`},
		{[]string{"run"}, "the kernel is missing"},
		{[]string{"run", "no-such-kernel"}, "neither a built-in kernel nor a file"},
		{[]string{"run", "vecadd", "saxpy"}, "one argument, not 2"},
		{[]string{"run", "vecadd", "--no-such-flag"}, "unknown flag"},
		{[]string{"run", "vecadd", "--grid", "4"}, "go with a cubin"},
		{[]string{"run", "vecadd", "--grid", "0"}, "not a positive number"},
		{[]string{"run", "vecadd", "--arch", "k80"}, "k80"},
		{[]string{"profile", "vecadd", "--period", "100"}, "--period"},
		{[]string{"profile", "vecadd", "--timing", "slow"}, "slow"},
		{[]string{"advise", "no-such-file"}, "no-such-file"},
		{[]string{"disasm"}, "the cubin is missing"},
		{[]string{"disasm", "command.go"}, "command.go"},
		// What to do next.
		{[]string{"prfile"}, "did you mean profile?"},
		{[]string{"profile", "vecadd", "--perod", "64"}, "did you mean --period?"},
		{[]string{"run", "hotsopt"}, "did you mean hotspot?"},
		{[]string{"run", "../../kernels/basic/vecad"}, "did you mean ../../kernels/basic/vecadd?"},
		{[]string{"run", "../../kernels/basic"}, "there are kernels in ../../kernels/basic/atomics"},
		{[]string{"run", saxpy + ".cu", "--arch", "k80"}, "k80"},
		{[]string{"run", "command.go"}, "not a cubin"},
		{[]string{"run", saxpy + ".sm_70.cubin"}, "saxpy(4, 4, 8, 8)"},
		{[]string{"run", saxpy + ".sm_70.cubin", "--grid", "1", "--block", "32"}, "their sizes are 4, 4, 8, 8 bytes"},
		{[]string{"run", "vecadd", "--arch", "sm_60"}, "gh200, b200, rtx5090, sm_70, sm_75"},
		{[]string{"report", "vecadd"}, "gpa profile vecadd --out DIR"},
		{[]string{"report", "no-such-result"}, "gpa profile KERNEL --out DIR"},
		{[]string{"compare", "vecadd", "."}, "neither a saved result nor a kernel"},
		{[]string{"compare", "vecadd", "saxpy", "--optimizer", "loop-unroling"}, "did you mean loop-unrolling?"},
		{[]string{"disasm", saxpy + ".sm_70.cubin", "--function", "sapxy"}, "did you mean saxpy?"},
		{[]string{"disasm", saxpy + ".sm_70.cubin", "--arch", "sm_80"}, "is for sm_70, not sm_80"},
		{[]string{"pprof", "-nosuch", "vecadd"}, "not defined: -nosuch"},
		{[]string{"pprof", "-top", "hotsopt"}, "did you mean hotspot?"},
		{[]string{"pprof", "-top"}, "a kernel or a profile is missing"},
	}
	for _, test := range tests {
		stdout, stderr, status := invoke(t, test.args...)
		checkRefused(t, strings.Join(test.args, " "), stdout, stderr, status)
		if !strings.Contains(stderr, test.want) {
			t.Errorf("%v: %q does not say %q", test.args, stderr, test.want)
		}
	}
}

func TestHelp(t *testing.T) {
	stdout, _, status := invoke(t, "--help")
	if status != exitDone {
		t.Errorf("exit status %d", status)
	}
	for _, c := range commands() {
		if !strings.Contains(stdout, "\n  "+c.name) {
			t.Errorf("gpa --help lacks %s", c.name)
		}
		out, stderr, status := invoke(t, c.name, "--help")
		if status != exitDone || stderr != "" || !strings.Contains(out, "Usage: gpa "+c.name) {
			t.Errorf("gpa %s --help: status %d, %q, %q", c.name, status, out, stderr)
		}
	}
}

// A cubin runs without a launch file; its only kernel needs no name.
func TestCubinOnTheCommandLine(t *testing.T) {
	module := filepath.Join(copyKernel(t, "saxpy"), "saxpy.sm_70.cubin")
	args := []string{"run", module, "--grid", "16", "--block", "256", "--arg", "i32:4096", "--arg", "f32:2"}
	stdout, stderr, status := invoke(t, append(args, "--arg", "f32[4096]:uniform(0,1)", "--arg", "f32[4096]")...)
	if status != exitDone || !strings.Contains(stdout, "1 launch,") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	_, stderr, status = invoke(t, append(args, "--arg", "f32[4096]")...)
	if status != exitUsage || !strings.Contains(stderr, "takes 4 arguments, not 3") {
		t.Errorf("one argument less: status %d, %q", status, stderr)
	}
}

// A kernel that faults is told of on standard output and gives exit status 1.
func TestFaultStatus(t *testing.T) {
	dir := copyKernel(t, "vecadd")
	edit(t, filepath.Join(dir, "launch.yaml"), "- {i32: 32700}", "- {i32: 40000}")
	edit(t, filepath.Join(dir, "launch.yaml"), "grid: [128]", "grid: [150]")
	for _, verb := range []string{"run", "profile"} {
		stdout, stderr, status := invoke(t, verb, dir)
		if status != exitFailed || !strings.Contains(stdout, "out of bounds") || !strings.Contains(stdout, "vecadd.cu:6") {
			t.Errorf("%s: status %d\n%s\n%s", verb, status, stdout, stderr)
		}
	}
}

// Outputs other than expected give exit status 1 and name the first difference.
func TestWrongOutput(t *testing.T) {
	dir := copyKernel(t, "vecadd")
	edit(t, filepath.Join(dir, "launch.yaml"), "seed: 2", "seed: 3")
	stdout, stderr, status := invoke(t, "run", dir)
	if status != exitFailed || !strings.Contains(stdout, "the first at index 0") || !strings.Contains(stderr, "1 of 1 outputs") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}
