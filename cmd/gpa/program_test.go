//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gpa/cubin"
	"gpa/emu/cuda/solib/solibtest"
)

// A program for gpa run -- and gpa profile -- is this test's own, started once more.
const programVariable = "GPA_TEST_PROGRAM"

func init() { otherProgram = asProgram }

// asProgram runs one of the programs that tests run on the emulated GPU.
func asProgram(name string) {
	runtime.LockOSThread() // contexts are current to threads
	if err := programs[name](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

var programs = map[string]func() error{
	"idle":   func() error { fmt.Println("nothing to do"); return nil },
	"status": func() error { os.Exit(7); return nil },
	"vectors": func() error {
		return vectors("vecadd", 3)
	},
	"transposition": func() error {
		return launches("transpose_naive", 2, [2]uint64{7, 32}, []uint64{4 * 200 * 150, 4 * 200 * 150}, 200, 150)
	},
	"fault": func() error { return vectors("vecadd", -1) },
}

// vectors adds vectors some times, with a kernel of the corpus; with -1 beyond the end of its buffers.
func vectors(kernel string, times int) error {
	const n = 1024
	size := uint64(4 * n)
	if times < 0 {
		size, times = 4, 1
	}
	return launches(kernel, times, [2]uint64{8, 128}, []uint64{size, size, size}, n)
}

// launches runs a kernel of the corpus over buffers of so many bytes, full of twos, and prints the second word of the last. Numbers follow as
// parameters.
func launches(kernel string, times int, shape [2]uint64, sizes []uint64, numbers ...uint64) error {
	library, err := solibtest.Load(os.Getenv("NUMBA_CUDA_DRIVER"))
	if err != nil {
		return err
	}
	image, err := cubin.ReadFile("../../kernels/basic/" + kernel + "/" + kernel + ".sm_80.cubin")
	if err != nil {
		return err
	}
	memory := make([]uint64, 32)
	at := func(i int) uint64 { return uint64(uintptr(unsafe.Pointer(&memory[i]))) }
	name := append([]byte(kernel), 0)
	call := func(function string, args ...uint64) {
		v, callErr := library.Call(function, args...)
		if callErr == nil && uint32(v) != 0 {
			callErr = fmt.Errorf("%s: %d", function, uint32(v))
		}
		if err == nil {
			err = callErr
		}
	}
	call("cuInit", 0)
	call("cuDevicePrimaryCtxRetain", at(0), 0)
	call("cuCtxSetCurrent", memory[0])
	call("cuModuleLoadData", at(1), uint64(uintptr(unsafe.Pointer(&image[0]))))
	call("cuModuleGetFunction", at(2), memory[1], uint64(uintptr(unsafe.Pointer(&name[0]))))
	parameters, values := memory[16:], 3
	for _, size := range sizes {
		call("cuMemAlloc_v2", at(values), size)
		call("cuMemsetD32_v2", memory[values], 0x40000000, size/4)
		parameters[values-3] = at(values)
		values++
	}
	last := memory[values-1]
	for _, n := range numbers {
		memory[values] = n
		parameters[values-3] = at(values)
		values++
	}
	for range times {
		call("cuLaunchKernel", memory[2], shape[0], 1, 1, shape[1], 1, 1, 0, 0, at(16), 0)
	}
	call("cuCtxSynchronize")
	results := make([]byte, sizes[len(sizes)-1])
	call("cuMemcpyDtoH_v2", uint64(uintptr(unsafe.Pointer(&results[0]))), last, uint64(len(results)))
	if err == nil {
		fmt.Printf("%#x\n", binary.LittleEndian.Uint32(results[4:]))
	}
	return err
}

// runProgram runs gpa with one of the programs.
func runProgram(t *testing.T, name string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	c := gpaProcess(t, append(args, "--", os.Args[0])...)
	// The program's code runs on a goroutine that cannot be stopped.
	c.Env = append(c.Env, programVariable+"="+name, "GODEBUG=asyncpreemptoff=1", "XDG_RUNTIME_DIR="+t.TempDir())
	var out, err bytes.Buffer
	c.Stdout, c.Stderr = &out, &err
	c.Run()
	return out.String(), err.String(), c.ProcessState.ExitCode()
}

func TestProgramRuns(t *testing.T) {
	stdout, stderr, status := runProgram(t, "vectors", "run")
	if status != 0 || stdout != "0x40800000\n" {
		t.Errorf("status %d, output %q, messages %q", status, stdout, stderr)
	}
	for _, want := range []string{"3 launches of 1 kernels on NVIDIA A100", "vecadd"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in %q", want, stderr)
		}
	}
}

// A profile of a program is a table of its kernels, then blame and advice; the same each time.
func TestProgramProfile(t *testing.T) {
	stdout, stderr, status := runProgram(t, "vectors", "profile")
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{"0x40800000", "3 launches of 1 kernels", "long_scoreboard", "hottest lines"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in %s", want, stdout)
		}
	}
	if again, _, _ := runProgram(t, "vectors", "profile"); again != stdout {
		t.Errorf("another report:\n%s\n%s", stdout, again)
	}
	// The third launch does what the two before did.
	alike, stderr, _ := runProgram(t, "vectors", "profile", "--kernels", "0")
	if row := strings.Fields(alike[strings.LastIndex(alike, "vecadd"):]); row[1] != "3" || row[3] != "2" || !strings.Contains(stderr, "1 of the program's launches were not timed") {
		t.Errorf("%v, %s", row, stderr)
	}
	each, stderr, _ := runProgram(t, "vectors", "profile", "--kernels", "0", "--each-launch")
	if row := strings.Fields(each[strings.LastIndex(each, "vecadd"):]); row[3] != "3" || row[4] != strings.Fields(alike[strings.LastIndex(alike, "vecadd"):])[4] || strings.Contains(stderr, "not timed") {
		t.Errorf("%v, %s", row, stderr)
	}
	killed, stderr, status := runProgram(t, "vectors", "profile", "--kernels", "0", "--launch-count", "1", "--kill")
	if status != 0 || strings.Contains(killed, "0x40800000") || !strings.Contains(stderr, "was ended after 1 launches") {
		t.Errorf("status %d: %s%s", status, killed, stderr)
	}
	selected, _, _ := runProgram(t, "vectors", "profile", "--kernel", "^vec", "--launch-skip", "1", "--launch-count", "1", "--kernels", "0")
	row := strings.Fields(selected[strings.LastIndex(selected, "vecadd"):])
	if row[1] != "3" || row[3] != "1" {
		t.Errorf("launches and profiled launches: %v", row)
	}
	for _, flags := range [][]string{{"--profile-from-start", "off"}, {"--nvtx", "training"}, {"--launch-skip", "3"}} {
		none, stderr, _ := runProgram(t, "vectors", append([]string{"profile"}, flags...)...)
		if strings.Contains(none, "hottest lines") || !strings.Contains(stderr, "none of the program's 3 launches was selected") {
			t.Errorf("%v: %s%s", flags, none, stderr)
		}
	}
	if none, _, _ := runProgram(t, "vectors", "profile", "--kernel", "nothing"); strings.Contains(none, "hottest lines") || !strings.Contains(none, "0x40800000") {
		t.Errorf("%s", none)
	}
}

// A capture is a folder that other commands take. It does what the launch in the program did: the same memory, the same cycles.
func TestProgramCapture(t *testing.T) {
	out := filepath.Join(t.TempDir(), "captures")
	stdout, stderr, status := runProgram(t, "vectors", "capture", "--launch-skip", "1", "--out", out)
	if status != 0 || stdout != "0x40800000\n" || !strings.Contains(stderr, "captures in "+out+": 2") {
		t.Fatalf("status %d, output %q, messages %q", status, stdout, stderr)
	}
	stdout, stderr, status = invoke(t, "run", filepath.Join(out, "0003-vecadd"))
	if status != 0 || strings.Count(stdout, "4096 values as expected") != 3 {
		t.Errorf("status %d, output %q, messages %q", status, stdout, stderr)
	}
	replayed, _, _ := invoke(t, "profile", "--try", "0", filepath.Join(out, "0002-vecadd"))
	profiled, _, _ := runProgram(t, "vectors", "profile", "--launch-skip", "1", "--launch-count", "1")
	cycles := regexp.MustCompile(`([0-9,]+) cycles, .*`)
	if a, b := cycles.FindString(replayed), cycles.FindString(profiled); a == "" || a != b {
		t.Errorf("%q in the replay, %q in the program", a, b)
	}
	if data, err := os.ReadDir(filepath.Join(out, "data")); err != nil || len(data) != 3 { // the module, the operands, the sums
		t.Errorf("%v, %v", data, err)
	}
	_, stderr, status = runProgram(t, "vectors", "capture", "--out", out)
	if status != exitUsage || !strings.Contains(stderr, "not empty") {
		t.Errorf("status %d, messages %q", status, stderr)
	}
}

// Advice is tried on what the costliest launch found in memory, which the program has changed since: the same comes out as for its capture.
func TestProgramTries(t *testing.T) {
	out := filepath.Join(t.TempDir(), "captures")
	if _, stderr, status := runProgram(t, "transposition", "capture", "--launch-count", "1", "--out", out); status != 0 {
		t.Fatal(stderr)
	}
	tries := func(text string) (list []float64) {
		var report struct {
			Launches []struct {
				Advice []struct {
					Tried float64 `json:"tried_speedup"`
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &report); err != nil || len(report.Launches) != 1 {
			t.Fatalf("%v: %s", err, text)
		}
		for _, a := range report.Launches[0].Advice {
			list = append(list, a.Tried)
		}
		return list
	}
	alone, _, _ := invoke(t, "profile", "--all", "--json", filepath.Join(out, "0001-transpose_naive"))
	inside, _, _ := runProgram(t, "transposition", "profile", "--launch-count", "1", "--all", "--json")
	a, b := tries(alone), tries(inside)
	if !slices.ContainsFunc(a, func(x float64) bool { return x > 1 }) || !slices.Equal(a, b) {
		t.Errorf("tried on the capture %v, in the program %v", a, b)
	}
}

// A fault is an error of the program, and gpa says what it was.
func TestProgramFault(t *testing.T) {
	stdout, stderr, status := runProgram(t, "fault", "run")
	if status != 1 || stdout != "" || !strings.Contains(stderr, "cuCtxSynchronize: 700") || !strings.Contains(stderr, "gpa: out of bounds in kernel vecadd") ||
		!strings.Contains(stderr, "of allocation") {
		t.Errorf("status %d, output %q, messages %q", status, stdout, stderr)
	}
}

// gpa check finds what runs off an allocation by a byte, which hardware lets pass.
func TestProgramCheck(t *testing.T) {
	stdout, stderr, status := runProgram(t, "vectors", "check")
	if status != 0 || !strings.Contains(stdout, "nothing found") {
		t.Errorf("status %d, output %q, messages %q", status, stdout, stderr)
	}
	stdout, stderr, status = runProgram(t, "fault", "check")
	if status != 1 || !strings.Contains(stdout, "out of bounds") || !strings.Contains(stdout, "vecadd.cu:") {
		t.Errorf("status %d, output %q, messages %q", status, stdout, stderr)
	}
}

func TestProgramBadUse(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"run", "--", "/no/such/program"}, exitUsage, `there is no program "/no/such/program"`},
		{[]string{"run", "--", text}, exitUsage, "cannot be executed"},
		{[]string{"run", "--"}, exitUsage, "there is no program behind --"},
		{[]string{"profile", "--"}, exitUsage, "there is no program behind --"},
		{[]string{"profile", "--kernel", "(", "--", "true"}, exitUsage, "--kernel"},
		{[]string{"profile", "--grid", "5", "--", "true"}, exitUsage, "go with a cubin"},
		{[]string{"profile", "--timing", "none", "--", "true"}, exitUsage, "gpa run"},
		{[]string{"profile", "--launch-skip", "-1", "--", "true"}, exitUsage, "negative"},
		{[]string{"run", "--save", "x", "--", "true"}, exitUsage, "not with a program"},
		{[]string{"capture", "--out", "x", "vecadd"}, exitUsage, "takes a program"},
		{[]string{"capture", "--", "true"}, exitUsage, "--out is missing"},
		{[]string{"run", "--arch", "gtx480", "--", "true"}, exitUsage, "gtx480"},
	} {
		_, stderr, status := invoke(t, tt.args...)
		if status != tt.status || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: status %d, %q", tt.args, status, stderr)
		}
	}
	stdout, stderr, status := runProgram(t, "idle", "profile")
	if status != 0 || stdout != "nothing to do\n" || !strings.Contains(stderr, "launched no kernel: it made no CUDA call") {
		t.Errorf("status %d, output %q, messages %q", status, stdout, stderr)
	}
	if _, _, status := runProgram(t, "status", "run"); status != 7 {
		t.Errorf("status %d", status)
	}
}

// The library is one that loaders and C callers accept: Python's ctypes, with threads and a fork.
func TestProgramOfPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	c := gpaProcess(t, "run", "--", python, "testdata/driver.py")
	out, err := c.Output()
	if err != nil || string(out) != "700 b'CUDA_ERROR_ILLEGAL_ADDRESS'\nthreads 4\nmanaged b'AAAA'\nchild 0 b'BBBB'\ncalled [77]\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// A source with a function main runs as a program, with the arguments behind --; with a launch of its own it is a kernel like others.
func TestCompiledProgram(t *testing.T) {
	home := fakeNvcc(t)
	source := filepath.Join(home, "src", "k.cu")
	if err := os.WriteFile(source, []byte("int main(int argc, char **argv) {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := gpaProcess(t, "run", source, "--", "--size", "5")
	c.Env = append(c.Env, "XDG_RUNTIME_DIR="+t.TempDir())
	var out, messages bytes.Buffer
	c.Stdout, c.Stderr = &out, &messages
	if err := c.Run(); err != nil || out.String() != "program: --size 5\n" || !strings.Contains(messages.String(), "launched no kernel") {
		t.Errorf("%v: %q, %q", err, out.String(), messages.String())
	}
	stdout, stderr, status := invoke(t, "run", source, "--grid", "4", "--block", "256", "--arg", "i32:1024", "--arg", "f32:2", "--arg", "f32[1024]", "--arg", "f32[1024]")
	if status != exitDone || !strings.Contains(stdout, "k.cu: 1 launch") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}
