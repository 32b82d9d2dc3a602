package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/kernels"
	"gpa/profiler"
	"gpa/profiler/ncurep"
	"gpa/profiler/ncurep/ncureptest"
	"gpa/reports"
)

// reportOf profiles a kernel and writes the profile as a report file of Nsight Compute.
func reportOf(t *testing.T, kernel, dir string) (file, direct string) {
	t.Helper()
	direct = asMeasured(t, kernel, dir)
	p, err := savedProfile(dir)
	if err != nil {
		t.Fatal(err)
	}
	return writeReport(t, p, dir, ncureptest.Options{Device: "Tesla V100-SXM2-16GB"}), direct
}

func writeReport(t *testing.T, p *profiler.Profile, dir string, o ncureptest.Options) (file string) {
	t.Helper()
	file = filepath.Join(dir, "measured.ncu-rep")
	if err := os.WriteFile(file, ncureptest.Write(p, o), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func profileReport(t *testing.T, text string) reports.ProfileReport {
	t.Helper()
	var r reports.ProfileReport
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// sameLaunches holds what was imported to what the emulator told: but for host times, the level of timing, and the agreement with
// true producers, which no other collector knows.
func sameLaunches(t *testing.T, imported, direct string) {
	t.Helper()
	got, want := profileReport(t, imported), profileReport(t, direct)
	if len(got.Launches) != len(want.Launches) {
		t.Fatalf("%d launches, want %d", len(got.Launches), len(want.Launches))
	}
	for i := range want.Launches {
		g, w := &got.Launches[i], &want.Launches[i]
		w.Blame.Agreement, w.Blame.AgreementPlain, w.Seconds, w.Timing = nil, nil, g.Seconds, g.Timing
		same(t, "launch", g, w)
	}
}

// TestImportReport writes the profile of every built-in kernel as a report file and imports it: the same facts, blame and advice.
func TestImportReport(t *testing.T) {
	for _, name := range kernels.Names() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file, direct := reportOf(t, name, dir)
			imported, stderr, status := invoke(t, "import", file, "--json", "--launch", "all", "--out", filepath.Join(dir, "imported"))
			if status != exitDone {
				t.Fatal(stderr)
			}
			sameLaunches(t, imported, direct)
			again, stderr, status := invoke(t, "advise", filepath.Join(dir, "imported"), "--json")
			if status != exitDone || again != imported {
				t.Errorf("the saved result is told otherwise, status %d: %s", status, stderr)
			}
		})
	}
}

// TestImportReportCubin imports a report that does not hold its cubin: it has to be given, and to be the one that ran.
func TestImportReportCubin(t *testing.T) {
	dir := t.TempDir()
	whole, direct := reportOf(t, "vecadd", dir)
	p, err := savedProfile(dir)
	if err != nil {
		t.Fatal(err)
	}
	without := writeReport(t, p, t.TempDir(), ncureptest.Options{Device: "Tesla V100-SXM2-16GB", WithoutCubin: true})
	const ran, other = "../../kernels/basic/vecadd/vecadd.sm_70.cubin", "../../kernels/basic/saxpy/saxpy.sm_70.cubin"
	imported, stderr, status := invoke(t, "import", without, "--cubin", ran, "--json")
	if status != exitDone {
		t.Fatal(stderr)
	}
	sameLaunches(t, imported, direct)
	for _, c := range []struct {
		name string
		args []string
		says string
	}{
		{"none given", []string{without}, "give the one that ran as --cubin"},
		{"another one", []string{without, "--cubin", other}, "no kernel"},
		{"of no use", []string{whole, "--cubin", ran}, "the report holds the cubin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, stderr, status := invoke(t, append([]string{"import"}, c.args...)...)
			if status != exitUsage || !strings.Contains(stderr, c.says) {
				t.Errorf("status %d: %s", status, stderr)
			}
		})
	}
}

// TestImportReportChoice lists the launches of a report with several and imports those that are asked for.
func TestImportReportChoice(t *testing.T) {
	file, _ := reportOf(t, "../../kernels/basic/compact", t.TempDir())
	list, stderr, status := invoke(t, "import", file)
	if status != exitDone || !strings.HasPrefix(list, "launch") || !strings.Contains(stderr, "--launch N") {
		t.Fatalf("status %d: %s\n%s", status, stderr, list)
	}
	launches := strings.Count(list, "\n") - 1
	if launches != 3 {
		t.Fatalf("three launches are needed:\n%s", list)
	}
	for _, c := range []struct {
		name     string
		flags    []string
		launches int
	}{
		{"all", []string{"--launch", "all"}, launches},
		{"two", []string{"--launch", "2,0,2"}, 2},
		{"of a kernel", []string{"--kernel", "scan_counts"}, 1},
		{"one of a kernel", []string{"--kernel", "scatter_kept", "--launch", "1,2"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, stderr, status := invoke(t, append([]string{"import", file, "--json"}, c.flags...)...)
			if status != exitDone {
				t.Fatal(stderr)
			}
			if n := len(profileReport(t, out).Launches); n != c.launches {
				t.Errorf("%d launches, want %d", n, c.launches)
			}
		})
	}
	var listed struct{ Launches []ncurep.Listed }
	out, stderr, _ := invoke(t, "import", file, "--list", "--json")
	if err := json.Unmarshal([]byte(out), &listed); err != nil || len(listed.Launches) != launches || listed.Launches[1].Samples == 0 {
		t.Errorf("%v: %s%s", err, out, stderr)
	}
}

// TestImportReportRefuses gives what cannot be imported.
func TestImportReportRefuses(t *testing.T) {
	dir := t.TempDir()
	file, _ := reportOf(t, "vecadd", dir)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.ncu-rep")
	if err := os.WriteFile(cut, whole[:len(whole)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		says string
	}{
		{"a launch that is not there", []string{file, "--launch", "1"}, "none of the 1 launches"},
		{"a launch that is no number", []string{file, "--launch", "x"}, "none of the 1 launches"},
		{"another kernel", []string{file, "--kernel", "saxpy"}, "no such launch"},
		{"a fact that the file says", []string{file, "--grid", "128"}, "--grid is of no use"},
		{"half a file", []string{cut}, "into a"},
		{"a choice from a source page", []string{"../../go.mod", "--launch", "1"}, "--launch is of no use"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, stderr, status := invoke(t, append([]string{"import"}, c.args...)...)
			if status != exitUsage || !strings.Contains(stderr, c.says) {
				t.Errorf("status %d: %s", status, stderr)
			}
		})
	}
}

// TestImportReportParts imports every launch of a file of which one has no grid, on a board that there is no model of, and none has
// samples or executions: what can be told is told.
func TestImportReportParts(t *testing.T) {
	dir := t.TempDir()
	reportOf(t, "../../kernels/patterns/rows_tiny/launch.yaml", dir)
	p, err := savedProfile(dir)
	if err != nil {
		t.Fatal(err)
	}
	without, few := *p.Launches[0], *p.Launches[0]
	without.Grid = [3]int{}
	few.Grid = [3]int{1, 1, 1}
	uneven := *p.Launches[0]
	uneven.Grid = [3]int{1 << 20, 1, 1}
	uneven.Facts.SMActiveCycles = uneven.Facts.Cycles // of one SM
	p.Launches = append([]*profiler.Launch{&without, &few, &uneven}, p.Launches...)
	file := writeReport(t, p, dir, ncureptest.Options{Device: "Quadro GV100", Without: map[string]bool{"smsp__pcsamp_sample_count": true, "inst_executed": true}})
	text, stderr, status := invoke(t, "import", file, "--launch", "all")
	if status != exitDone || !strings.Contains(stderr, "left out: launch 0") {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{"on Quadro GV100, taken for v100 (sm_70)", "samples: nothing can be blamed", "grid 1x1x1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told:\n%s", want, text)
		}
	}
}
