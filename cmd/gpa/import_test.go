package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa"
	"gpa/kernels"
	"gpa/profiler"
	"gpa/reports"
)

// advised is the part of a report that an imported profile has to agree with.
func advised(t *testing.T, text string) reports.ProfiledLaunch {
	t.Helper()
	var r reports.ProfileReport
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Launches) == 0 {
		t.Fatal("no launch")
	}
	l := r.Launches[0]
	l.Blame.Agreement, l.Blame.AgreementPlain = nil, nil // the emulator's knowledge is not exported
	return l
}

// TestImportRoundTrip exports the profile of every built-in kernel of one launch as Nsight Compute's CSV and imports it with the
// launch facts: the same blame and the same advice, but for what needs to know when SMs were busy.
func TestImportRoundTrip(t *testing.T) {
	for _, name := range kernels.Names() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			direct := asMeasured(t, name, dir)
			want := advised(t, direct)
			var all reports.ProfileReport
			if err := json.Unmarshal([]byte(direct), &all); err != nil || len(all.Launches) != 1 {
				t.Skip("several launches share a name in the form")
			}
			csv, stderr, status := invoke(t, "export", dir)
			if status != exitDone {
				t.Fatal(stderr)
			}
			file := filepath.Join(dir, "samples.csv")
			if err := os.WriteFile(file, []byte(csv), 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := savedProfile(dir)
			if err != nil {
				t.Fatal(err)
			}
			facts := &p.Launches[0].Facts
			imported, stderr, status := invoke(t, "import", file, "--json", "--cubin", cubinOf(t, name), "--grid", join(want.Grid), "--block", join(want.Block),
				"--period", fmt.Sprint(want.SamplingPeriod), "--cycles", fmt.Sprint(want.Cycles), "--l2-bytes", fmt.Sprint(facts.L2Bytes),
				"--dram-read-bytes", fmt.Sprint(facts.DRAMReadBytes), "--dram-written-bytes", fmt.Sprint(facts.DRAMWrittenBytes))
			if status != exitDone {
				t.Fatal(stderr)
			}
			got := advised(t, imported)
			same(t, "blame", got.Blame, want.Blame)
			same(t, "samples", got.Samples, want.Samples)
			same(t, "advice", got.Advice, want.Advice)
			same(t, "lines", got.Lines, want.Lines)
		})
	}
}

// asMeasured profiles a kernel into a folder, takes out what only an emulated launch has (what-if runs, the record of dependences), and
// returns the result as JSON.
func asMeasured(t *testing.T, name, dir string) string {
	t.Helper()
	if _, stderr, status := invoke(t, "profile", name, "--try", "0", "--out", dir); status != exitDone {
		t.Fatal(stderr)
	}
	p, err := savedProfile(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range p.Launches {
		l.Record, l.Tries = nil, nil
	}
	var saved bytes.Buffer
	if err := profiler.Save(&saved, p); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gpa.SavedName(dir), saved.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	direct, stderr, status := invoke(t, "report", dir, "--json")
	if status != exitDone {
		t.Fatal(stderr)
	}
	return direct
}

func join(v [3]int) string { return fmt.Sprintf("%d,%d,%d", v[0], v[1], v[2]) }

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	g, err1 := json.Marshal(got)
	w, err2 := json.Marshal(want)
	if err1 != nil || err2 != nil || string(g) != string(w) {
		t.Errorf("%s\n got %s\nwant %s", what, g, w)
	}
}

// cubinOf finds the cubin of a built-in kernel.
func cubinOf(t *testing.T, name string) string {
	t.Helper()
	files, err := filepath.Glob("../../kernels/*/" + name + "/" + name + ".sm_70.cubin.gz")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return files[0]
}

// TestImportSamples exports the profile of every built-in kernel as gpa's own JSON and imports it: the same facts, blame and advice.
func TestImportSamples(t *testing.T) {
	for _, name := range kernels.Names() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			direct := asMeasured(t, name, dir)
			text, stderr, status := invoke(t, "export", "--json", dir)
			if status != exitDone {
				t.Fatal(stderr)
			}
			file := filepath.Join(dir, "samples.json")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			imported, stderr, status := invoke(t, "import", file, "--json", "--cubin", cubinOf(t, name))
			if status != exitDone {
				t.Fatal(stderr)
			}
			sameLaunches(t, imported, direct)
		})
	}
}

// TestImportForms reads the column names and numbers of other versions of Nsight Compute, and rows of CUDA source between.
func TestImportForms(t *testing.T) {
	dir := t.TempDir()
	if _, stderr, status := invoke(t, "profile", "vecadd", "--out", dir); status != exitDone {
		t.Fatal(stderr)
	}
	csv, _, _ := invoke(t, "export", dir)
	older := strings.NewReplacer(`Warp Stall Sampling (All Samples)`, `Warp Stall Sampling (All Cycles)`, `Warp Stall Sampling (Not-issued Samples)`,
		`Warp Stall Sampling (Not-issued Cycles)`, "\n0x", "\n0x7fc48541d", "stall_sleeping,", "stall_sleep,").Replace(csv)
	older = strings.ReplaceAll("==PROF== Disconnected from process 1\n"+older, "0x7fc48541d0,", "0x7fc48541d000,")
	lines := strings.Split(older, "\n")
	for i, line := range lines {
		if addr, rest, ok := strings.Cut(line, ","); ok && strings.HasPrefix(addr, "0x7fc48541d") {
			offset := strings.TrimPrefix(addr, "0x7fc48541d")
			lines[i] = fmt.Sprintf("0x7fc48541d%03s,%s", offset, rest)
		}
	}
	file := filepath.Join(dir, "older.csv")
	text := strings.Join(lines, "\n")
	text = strings.Replace(text, "\n0x7fc48541d010,", "\n-,int i = blockIdx.x;,,,,,\n0x7fc48541d010,", 1)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, stderr, status := invoke(t, "import", file, "--cubin", cubinOf(t, "vecadd"), "--grid", "128", "--block", "256", "--period", "32")
	if status != exitDone || !strings.Contains(out, "the profile lacks:\n    cycles: time") {
		t.Errorf("status %d: %s\n%s", status, stderr, out)
	}
}

// TestImportRefuses holds what does not belong together apart.
func TestImportRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, stderr, status := invoke(t, "profile", "vecadd", "--out", dir); status != exitDone {
		t.Fatal(stderr)
	}
	csv, _, _ := invoke(t, "export", dir)
	for _, c := range []struct{ name, text, cubin, says string }{
		{"another kernel's cubin", csv, cubinOf(t, "saxpy"), "has no kernel"},
		{"other code", strings.Replace(csv, "vecadd", "saxpy", 1), cubinOf(t, "saxpy"), "do not belong together"},
		{"no source page", "a,b\n1,2\n", cubinOf(t, "vecadd"), "--page source"},
		{"a broken number", strings.Replace(csv, "\n0x10,", "\n0x1g,", 1), cubinOf(t, "vecadd"), "is not an address"},
		{"a missing row", strings.Replace(csv, "\n0x20,", "\n-,", 1), cubinOf(t, "vecadd"), "bytes after the first"},
		{"nothing", "", cubinOf(t, "vecadd"), "there is no header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.csv")
			if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, stderr, status := invoke(t, "import", file, "--cubin", c.cubin, "--grid", "128", "--block", "256")
			if status != exitUsage || !strings.Contains(stderr, c.says) {
				t.Errorf("status %d: %s", status, stderr)
			}
		})
	}
}

// savedProfile reads the profile of a result.
func savedProfile(dir string) (*profiler.Profile, error) {
	r, err := gpa.Open(dir)
	if err != nil {
		return nil, err
	}
	return r.Profile, nil
}
