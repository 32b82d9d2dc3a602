package reports

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gpa/profiler"
)

func writeJSON(t *testing.T, report any) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteJSON(&out, report); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestProfileJSON(t *testing.T) {
	golden(t, "profile.json", writeJSON(t, relaxResult(t).Report()))
}

func TestRunJSON(t *testing.T) {
	r := relaxResult(t)
	r.Profile.Launches[1].Fault = &profiler.Fault{
		Kind: "out of bounds", Code: r.Profile.Launches[1].Samples[0].Code, PC: pcFillLast,
		Block: [3]int{3, 0, 0}, Thread: [3]int{17, 0, 0}, HasAddress: true, Address: 0x7f0000001000,
		Buffer: "out, 4 bytes past its end", Message: "kernel fill: write of 4 bytes out of bounds",
	}
	r.Checks = []Check{
		{Buffer: "out", Mismatches: 2, First: &Mismatch{Index: 7, Got: math.NaN(), Want: 1.5}},
		{Buffer: "count", Mismatches: 1, First: &Mismatch{Got: uint64(math.MaxUint64), Want: math.Inf(-1)}},
		{Buffer: "in", OK: true},
	}
	golden(t, "run.json", writeJSON(t, r.Run()))
}

// What nobody knows is left out: a reader must be able to tell unknown from 0.
func TestJSONLeavesOutTheUnknown(t *testing.T) {
	module := relaxModule(t)
	r := &Result{Profile: &profiler.Profile{
		Launches: []*profiler.Launch{{Kernel: "fill", Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}}},
	}}
	r.Profile.Modules = append(r.Profile.Modules, module)
	text := string(writeJSON(t, r.Report()))
	for _, key := range []string{
		"gpu", "cycles", "device_seconds", "seconds", "samples", "blame", "advice", "occupancy", "timing", "fault", "lines",
		"sampling_period", "warp_instructions", "missing",
	} {
		if strings.Contains(text, `"`+key+`"`) {
			t.Errorf("%s is there:\n%s", key, text)
		}
	}
	if !strings.Contains(text, `"checks": []`) {
		t.Errorf("checks are not an empty list:\n%s", text)
	}
}

func TestLinesAddUp(t *testing.T) {
	r := relaxResult(t)
	report := r.Report().Launches[0]
	var samples, latency int64
	for i, line := range report.Lines {
		samples += line.Samples
		latency += line.Latency
		if i > 0 && line.Samples > report.Lines[i-1].Samples {
			t.Errorf("line %d has more samples than the one before", i)
		}
	}
	if samples != report.Samples.Total || latency != report.Samples.Latency {
		t.Errorf("lines have %d samples, %d of them latency; the launch %d and %d",
			samples, latency, report.Samples.Total, report.Samples.Latency)
	}
	if at := report.Lines[0].At; at.Line != 6 || at.PC != pcWiden || len(at.InlinedAt) != 1 || at.InlinedAt[0].Line != 23 {
		t.Errorf("the hottest line is %+v, want line 6 inlined at 23, at pc %#x", at, pcWiden)
	}
}

func TestLocateOutside(t *testing.T) {
	module := relaxModule(t)
	code := section(t, module, "fill")
	for _, at := range []Location{
		Locate(module, code, 1<<40), Locate(module, code, 8), Locate(module, -1, 0), Locate(module, 99, 16),
	} {
		if at.SASS != "" {
			t.Errorf("an instruction where none stands: %+v", at)
		}
	}
	if got := locateNode(module, node(code, 1<<30)); got.SASS != "" {
		t.Errorf("a node that does not exist is located: %+v", got)
	}
}

// The keys are those that OUTPUT describes, for whoever reads them by name.
func TestJSONKeys(t *testing.T) {
	var report struct {
		Launches []map[string]json.RawMessage
	}
	if err := json.Unmarshal(writeJSON(t, relaxResult(t).Report()), &report); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"kernel", "arch", "gpu", "grid", "block", "warp_instructions", "thread_instructions", "seconds", "cycles",
		"device_seconds", "sampling_period", "timing", "lines", "occupancy", "samples", "blame", "advice",
	} {
		if _, ok := report.Launches[0][key]; !ok {
			t.Errorf("key %s is missing", key)
		}
	}
}
