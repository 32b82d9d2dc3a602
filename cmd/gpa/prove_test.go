package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gpa/cubin"
	"gpa/reports"
)

// The test binary is a compiler where this variable names a folder. It knows sources by the factor N of their #pragma unroll: N.cubin is what
// it makes of them, N.error what it says instead, and of N.hang it makes nothing, without an end.
const asCompiler = "GPA_TEST_COMPILER"

func fakeCompiler(folder string, args []string) int {
	source, err := os.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	factor := "0"
	if m := regexp.MustCompile(`#pragma unroll (\d+)`).FindSubmatch(source); m != nil {
		factor = string(m[1])
	}
	name := filepath.Join(folder, factor)
	if _, err := os.Stat(name + ".hang"); err == nil {
		time.Sleep(time.Hour)
	}
	if said, err := os.ReadFile(name + ".error"); err == nil {
		fmt.Fprintf(os.Stderr, "%s", said)
		return 1
	}
	data, err := os.ReadFile(name + ".cubin")
	if err == nil {
		err = os.WriteFile(args[1], data, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}

// A workshop is a kernel with its source and a compiler that knows some versions of it.
type workshop struct {
	kernel, versions, temporary string
	compiler                    string
}

// newWorkshop has taps_rolled. Its versions are those that NVRTC makes; the unrolled one comes from the kernel's partner, under its name.
func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	w := &workshop{t.TempDir(), t.TempDir(), t.TempDir(), os.Args[0] + " {in} {out} {arch} {flags}"}
	const rolled, unrolled = "taps_rolled", "taps_unrolled"
	if err := os.CopyFS(w.kernel, os.DirFS(filepath.Join("../../kernels/tuning", rolled))); err != nil {
		t.Fatal(err)
	}
	data, err := cubin.ReadFile(filepath.Join(w.kernel, rolled+".sm_80.cubin.gz"))
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, "1.cubin", data)
	text, stderr, status := invoke(t, "disasm", filepath.Join("../../kernels/tuning", unrolled, unrolled+".sm_80.cubin.gz"), "--asm")
	if status != exitDone {
		t.Fatal(stderr)
	}
	good := strings.ReplaceAll(text, unrolled, rolled)
	w.assemble(t, "8.cubin", good)
	const product = "FMUL R6, R6, c[0x0][0x174]"
	w.assemble(t, "4.cubin", replaced(t, good, product, strings.Replace(product, "FMUL", "FADD", 1))) // computes something else
	w.write(t, "2.error", []byte("note: in a function\ntaps_rolled.cu(7): error: this will \x1b[31mnot do\n"))
	t.Setenv(asCompiler, w.versions)
	t.Setenv("TMPDIR", w.temporary)
	return w
}

func replaced(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("there is no %q", old)
	}
	return strings.Replace(text, old, new, 1)
}

func (w *workshop) write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.versions, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// assemble makes a version of text SASS.
func (w *workshop) assemble(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "text.sass")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := invoke(t, "asm", file, "-o", filepath.Join(w.versions, name)); status != exitDone {
		t.Fatal(stderr)
	}
}

// proof runs gpa profile --prove and returns the patches by name.
func (w *workshop) proof(t *testing.T, args ...string) (*reports.Proof, map[string]*reports.Patch) {
	t.Helper()
	stdout, stderr, status := invoke(t, append([]string{"profile", w.kernel, "--arch", "sm_80", "--prove", "--json", "--try", "0", "--compiler", w.compiler}, args...)...)
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var report struct{ Proof *reports.Proof }
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || report.Proof == nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	patches := make(map[string]*reports.Patch)
	for _, p := range report.Proof.Patches {
		patches[p.Change] = p
	}
	return report.Proof, patches
}

// clean holds that nothing is left in the folder for temporary files and that the kernel's source is as it was.
func (w *workshop) clean(t *testing.T) {
	t.Helper()
	if left, err := os.ReadDir(w.temporary); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	files, err := os.ReadDir(w.kernel)
	before, err2 := os.ReadDir("../../kernels/tuning/taps_rolled")
	if err != nil || err2 != nil || len(files) != len(before) {
		t.Errorf("%d files beside the kernel: %v, %v", len(files), err, err2)
	}
	now, err := os.ReadFile(filepath.Join(w.kernel, "taps_rolled.cu"))
	was, err2 := os.ReadFile("../../kernels/tuning/taps_rolled/taps_rolled.cu")
	if err != nil || err2 != nil || string(now) != string(was) {
		t.Errorf("the source has changed: %v, %v", err, err2)
	}
}

func TestProve(t *testing.T) {
	w := newWorkshop(t)
	proof, patches := w.proof(t)
	if proof.Base != proof.Given || proof.Versions != 4 || proof.Runs != 3 {
		t.Errorf("%+v", proof)
	}
	if p := patches["#pragma unroll 8 at taps_rolled.cu:7"]; p == nil || p.Outcome != reports.Proved || p.Speedup < 1.2 || p.Outputs != "outputs equal" || !strings.Contains(p.Diff, "\n-#pragma unroll 1\n+#pragma unroll 8\n") {
		t.Errorf("%+v", p)
	}
	if p := patches["#pragma unroll 4 at taps_rolled.cu:7"]; p == nil || p.Outcome != reports.OutputsDiffer || p.Speedup < 1.2 || !strings.Contains(p.Why, "elements of out differ") {
		t.Errorf("%+v", p)
	}
	if p := patches["#pragma unroll 2 at taps_rolled.cu:7"]; p == nil || p.Outcome != reports.NotCompiled || !strings.Contains(p.Why, "taps_rolled.cu(7): error: this will") || strings.Contains(p.Why, "\x1b") {
		t.Errorf("%+v", p)
	}
	if proof.Patches[0].Outcome != reports.Proved {
		t.Errorf("first is %+v", proof.Patches[0])
	}
	w.clean(t)

	_, patches = w.proof(t, "--rtol", "1e9") // within any tolerance
	if p := patches["#pragma unroll 4 at taps_rolled.cu:7"]; p == nil || p.Outcome != reports.Proved || p.Outputs != "outputs equal: out within rtol 1e+09, atol 0" {
		t.Errorf("%+v", p)
	}
	proof, _ = w.proof(t, "--patches", "1")
	if len(proof.Patches) != 1 || proof.Skipped != 2 {
		t.Errorf("%+v", proof)
	}
}

// TestProveFinding: a version with equal outputs that gains and reads local memory that nobody has written is not recommended.
func TestProveFinding(t *testing.T) {
	w := newWorkshop(t)
	text, stderr, status := invoke(t, "disasm", filepath.Join(w.versions, "8.cubin"), "--asm")
	if status != exitDone {
		t.Fatal(stderr)
	}
	lines := strings.Split(text, "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "MOV R1, c[0x0][0x28]") })
	lines = slices.Insert(lines, at+1, "    [B------:R-:W0:-:S02] LDL RZ, [R1+-0x10] ;")
	padding := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "NOP ;") })
	w.assemble(t, "8.cubin", strings.Join(slices.Delete(lines, padding, padding+1), "\n"))
	_, patches := w.proof(t)
	if p := patches["#pragma unroll 8 at taps_rolled.cu:7"]; p == nil || p.Outcome != reports.NewFinding || p.Speedup < 1.2 || !strings.Contains(p.Why, "uninitialised read") {
		t.Errorf("%+v", p)
	}
}

// TestProveSource: --source names the file, and what is no source of the kernel is told.
func TestProveSource(t *testing.T) {
	w := newWorkshop(t)
	elsewhere := filepath.Join(t.TempDir(), "mine.cu")
	if err := os.Rename(filepath.Join(w.kernel, "taps_rolled.cu"), elsewhere); err != nil {
		t.Fatal(err)
	}
	args := []string{"profile", w.kernel, "--arch", "sm_80", "--prove", "--compiler", w.compiler}
	if _, stderr, status := invoke(t, args...); status != exitUsage || !strings.Contains(stderr, "no CUDA source to change: taps_rolled.cu not found") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if stdout, stderr, status := invoke(t, append(args, "--source", elsewhere)...); status != exitDone || !strings.Contains(stdout, "proved") {
		t.Errorf("status %d: %s %s", status, stdout, stderr)
	}
	w.write(t, "1.cubin", must(os.ReadFile(filepath.Join(w.versions, "4.cubin"))))
	if _, stderr, status := invoke(t, append(args, "--source", elsewhere)...); status != exitUsage || !strings.Contains(stderr, "does not compute what the given cubin does") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

// TestTune tunes, and takes the result as a kernel.
func TestTune(t *testing.T) {
	w := newWorkshop(t)
	out := filepath.Join(t.TempDir(), "tuned")
	args := []string{"tune", w.kernel, "--arch", "sm_80", "--compiler", w.compiler, "--out", out}
	stdout, stderr, status := invoke(t, args...)
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{" 1. 1.", "#pragma unroll 8 at taps_rolled.cu:7", " tuned 1.", "\n--- taps_rolled.cu\n+++ taps_rolled.cu\n@@ -3,7 +3,7 @@\n", "\n+#pragma unroll 8\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	w.clean(t)
	if stdout, stderr, status := invoke(t, "compare", filepath.Join(w.kernel, "launch.yaml"), out, "--arch", "sm_80", "--min-speedup", "1.2"); status != exitDone {
		t.Errorf("status %d: %s %s", status, stdout, stderr)
	}
	diff := string(must(os.ReadFile(filepath.Join(out, "taps_rolled.patch"))))
	if source := string(must(os.ReadFile(filepath.Join(out, "taps_rolled.cu")))); !strings.Contains(source, "#pragma unroll 8\n") || !strings.Contains(stdout, diff) {
		t.Errorf("%s\n%s", diff, source)
	}

	// Tuned again, there is nothing to gain: the compiler makes of the new source what it is.
	stdout, stderr, status = invoke(t, "tune", out, "--json", "--compiler", w.compiler, "--source", filepath.Join(out, "taps_rolled.cu"))
	var tuned reports.Tuning
	if err := json.Unmarshal([]byte(stdout), &tuned); err != nil || status != exitDone || len(tuned.Steps) != 0 || tuned.Speedup != 1 || tuned.Diff != "" {
		t.Errorf("status %d, %v: %s %s", status, err, stdout, stderr)
	}
}

// TestTuneHangs: a compiler without an end is ended by --timeout.
func TestTuneHangs(t *testing.T) {
	w := newWorkshop(t)
	w.write(t, "1.hang", nil)
	args := []string{"tune", w.kernel, "--arch", "sm_80", "--compiler", w.compiler, "--timeout", "300ms"}
	if stdout, stderr, status := invoke(t, args...); status != exitFailed || stdout != "" || !strings.Contains(stderr, "stopped by --timeout") {
		t.Errorf("status %d: %s %s", status, stdout, stderr)
	}
	w.clean(t)
}

// TestCompiler holds what is said without one, or of one that is none.
func TestCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"} {
		t.Setenv(name, "")
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "no CUDA compiler at hand: put nvcc on PATH"},
		{[]string{"--compiler", "cc {in}"}, "{out} is missing"},
		{[]string{"--compiler", "cc '{in} {out}"}, "' has no end"},
		{[]string{"--compiler", "/no/such/compiler {in} {out}"}, "the compiler cannot be run"},
		{[]string{"--patches", "0"}, "--patches: 0 is not positive"},
		{[]string{"--rtol", "-1"}, "a tolerance is not negative"},
	} {
		for _, command := range []string{"tune", "profile"} {
			args := append([]string{command, "../../kernels/basic/vecadd"}, c.args...)
			if command == "profile" {
				args = append(args, "--prove")
			}
			if _, stderr, status := invoke(t, args...); status != exitUsage || !strings.Contains(stderr, c.want) {
				t.Errorf("%v: status %d: %s", args, status, stderr)
			}
		}
	}
}
