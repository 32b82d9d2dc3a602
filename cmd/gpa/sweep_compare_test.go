package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/kernels"
)

// TestSweepCompare sweeps all kernels of a folder, changes them, and holds the result against the one before: one is slower, one leaves wrong outputs, one cannot
// be read any more, one is new, and one is as before.
func TestSweepCompare(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	add := func(name string) {
		folder, err := kernels.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join("lib", name), folder); err != nil {
			t.Fatal(err)
		}
	}
	change := func(name, before, after string) {
		t.Helper()
		name = filepath.Join("lib", name, kernels.LaunchFile)
		data, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(data, []byte(before)) {
			t.Fatalf("%s, %v", data, err)
		}
		if err := os.WriteFile(name, bytes.Replace(data, []byte(before), []byte(after), 1), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"saxpy", "vecadd", "transpose_naive", "sgemm_tiled"} {
		add(name)
	}
	if err := os.WriteFile("lib/all.yaml", []byte("kernel: '*'\naxes: {arch: [v100]}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	before, _ := swept(t, "lib/all.yaml", "--store", "store")
	if err := os.WriteFile("base.json", []byte(jsonText(t, before)), 0o666); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, status := invoke(t, "sweep", "compare", "base.json", "lib/all.yaml", "--store", "store", "--markdown", "--min-speedup", "1"); status != exitDone || strings.TrimSpace(stdout) != "4 of 4 variants are as before." {
		t.Errorf("nothing has changed: status %d, %s%s", status, stdout, stderr)
	}
	change("saxpy", "grid: [40]", "grid: [4]")
	change("vecadd", "grid: [128]", "grid: [64]")
	change("sgemm_tiled", "launches:", "lunches:")
	add("spmv")
	swept(t, "lib/all.yaml", "--store", "store")
	stdout, stderr, status := invoke(t, "sweep", "compare", "base.json", "lib/all.yaml", "--store", "store", "--min-speedup", "0.98", "--markdown", "--junit", "junit.xml", "--sarif", "out.sarif")
	if status != exitFailed || !strings.Contains(stderr, "3 variants are worse") {
		t.Errorf("status %d, %s", status, stderr)
	}
	for _, want := range []string{"`launch=saxpy/launch.yaml` |", "**0.", "| wrong | **worse** |", "| refused | **worse** |", "| new |", "\n1 of 5 variants are as before."} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is missing in\n%s", want, stdout)
		}
	}
	data, err := os.ReadFile("junit.xml")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if err := xml.Unmarshal(data, &suite); err != nil || suite.Tests != 5 || suite.Failures != 3 {
		t.Errorf("%+v, %v", suite, err)
	}
	checkSweepSARIF(t)
}

// checkSweepSARIF holds that what is worse is told at a line of a file that is there.
func checkSweepSARIF(t *testing.T) {
	t.Helper()
	data, err := os.ReadFile("out.sarif")
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID    string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(data, &log); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"sweep/slower": "lib/saxpy/saxpy.cu", "sweep/wrong": "lib/vecadd/launch.yaml", "sweep/refused": "lib/sgemm_tiled/launch.yaml"}
	for _, r := range log.Runs[0].Results {
		at := r.Locations[0].PhysicalLocation
		if at.ArtifactLocation.URI != want[r.RuleID] || at.Region.StartLine < 1 || r.RuleID == "sweep/slower" && at.Region.StartLine < 4 {
			t.Errorf("%+v", r)
		}
		delete(want, r.RuleID)
	}
	if len(want) > 0 {
		t.Errorf("no results %v", want)
	}
}
