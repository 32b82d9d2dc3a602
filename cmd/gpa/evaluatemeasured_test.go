package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/reports"
)

// measuredFolder makes a folder of a kernel and what was "measured" of it: what the emulated GPU itself has told.
func measuredFolder(t *testing.T, spec string) string {
	t.Helper()
	dir := t.TempDir()
	file, _ := reportOf(t, "vecadd", t.TempDir())
	report, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"vecadd/report.ncu-rep": report, "vecadd/measured.json": []byte(spec)} {
		if err := os.MkdirAll(filepath.Join(dir, "vecadd"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The launch file lies beside the measurement.
	if err := os.CopyFS(filepath.Join(dir, "vecadd", "kernel"), os.DirFS("../../kernels/basic/vecadd")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestEvaluateMeasured holds a launch against its own profile: nothing differs. Twice the cycles are an error of a half.
func TestEvaluateMeasured(t *testing.T) {
	evaluate := func(spec string) reports.MeasuredLaunch {
		out, stderr, status := invoke(t, "evaluate", "--measured", measuredFolder(t, spec), "--json")
		if status != exitDone {
			t.Fatal(stderr)
		}
		var x reports.MeasuredEvaluation
		if err := json.Unmarshal([]byte(out), &x); err != nil || len(x.Launches) != 1 {
			t.Fatalf("%v: %s", err, out)
		}
		return x.Launches[0]
	}
	l := evaluate(`{"launch": "kernel/launch.yaml", "report": "report.ncu-rep", "launches": [{"launch": 0, "measured": 0}]}`)
	total := 0.0
	for _, r := range l.Stalls {
		if total += r.Measured; r.Measured != r.Emulated {
			t.Errorf("%+v", r)
		}
	}
	if math.Abs(total-1) > 1e-4 {
		t.Errorf("the shares of the stall reasons add up to %v", total)
	}
	if l.Name != "vecadd" || l.GPU != "v100" || l.Error != 0 || *l.StallDistance != 0 || *l.HotPCs != 5 || !*l.SameCounts {
		t.Errorf("%+v", l)
	}
	if l.Traffic == nil || l.Traffic.L2.Measured == 0 || l.Traffic.L2.Measured != l.Traffic.L2.Emulated || l.Traffic.DRAMRead.Measured != l.Traffic.DRAMRead.Emulated {
		t.Errorf("traffic %+v", l.Traffic)
	}
	whole := profileJSON(t, "vecadd").Launches[0].Cycles
	l = evaluate(fmt.Sprintf(`{"launch": "kernel/launch.yaml", "gpu": "v100", "fixed": 100, "launches": [{"launch": 0, "cycles": %d}]}`, 2*whole+100))
	if l.Error != .5 || l.StallDistance != nil || l.SameCounts != nil {
		t.Errorf("%+v", l)
	}
}

// TestEvaluateMeasuredRefuses gives measurements that cannot be.
func TestEvaluateMeasuredRefuses(t *testing.T) {
	for _, c := range []struct{ name, spec, says string }{
		{"no launch file", `{"gpu": "v100", "launches": [{"cycles": 5}]}`, `"launch" and "launches" are needed`},
		{"no launches", `{"launch": "kernel/launch.yaml", "gpu": "v100"}`, `"launch" and "launches" are needed`},
		{"report and GPU", `{"launch": "kernel/launch.yaml", "gpu": "v100", "report": "report.ncu-rep", "launches": [{}]}`, `one of "report" and "gpu"`},
		{"a key that is not known", `{"launches_": []}`, "launches_"},
		{"nothing but the fixed part", `{"launch": "kernel/launch.yaml", "gpu": "v100", "fixed": 9, "launches": [{"cycles": 9}]}`, "not more than the fixed"},
		{"a launch that is not measured", `{"launch": "kernel/launch.yaml", "report": "report.ncu-rep", "launches": [{"measured": 3}]}`, "there is no launch 3"},
		{"a launch that is not run", `{"launch": "kernel/launch.yaml", "report": "report.ncu-rep", "launches": [{"launch": 3}]}`, "there is no launch 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, stderr, status := invoke(t, "evaluate", "--measured", measuredFolder(t, c.spec))
			if status != exitUsage || !strings.Contains(stderr, c.says) {
				t.Errorf("status %d: %s", status, stderr)
			}
		})
	}
}

var allMeasured = flag.Bool("measured", false, "hold the emulated GPUs against all of kernels/measured: takes minutes")

// TestMeasuredKernels holds the emulated GPUs against the times of kernels/measured: 30 % in the mean, no kernel off by more than 100 %,
// and the sizes of every kernel in their measured order.
func TestMeasuredKernels(t *testing.T) {
	folders := []string{"h100pcie/empty"}
	if *allMeasured {
		folders = []string{""}
	}
	for _, folder := range folders {
		out, stderr, status := invoke(t, "evaluate", "--measured", "../../kernels/measured/"+folder, "--json")
		if status != exitDone {
			t.Fatal(stderr)
		}
		var x reports.MeasuredEvaluation
		if err := json.Unmarshal([]byte(out), &x); err != nil {
			t.Fatal(err)
		}
		if x.Summary.MeanError > .3 || x.Summary.MaxError > 1 || x.Summary.Correlation < .95 || len(x.Series) == 0 {
			t.Errorf("%s: %+v", folder, x.Summary)
		}
		for _, s := range x.Series {
			if s.Rank < 1 {
				t.Errorf("%s: %+v", folder, s)
			}
		}
	}
}
