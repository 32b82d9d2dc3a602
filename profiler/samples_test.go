package profiler

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/emu/stall"
)

func openCubin(t testing.TB, name string) *cubin.File {
	t.Helper()
	raw, err := cubin.ReadFile("../kernels/" + name)
	if err != nil {
		t.Fatal(err)
	}
	module, err := cubin.NewFile(name, raw)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// TestReadSamples reads what a collector on CUPTI knows: a function, an offset in it, a metric's name.
func TestReadSamples(t *testing.T) {
	module := openCubin(t, "control/device_calls/device_calls.sm_70.cubin")
	called := module.Codes[0].Functions[1]
	text := `{"format": "gpa-samples", "version": 1, "launches": [{"kernel": "device_calls", "gpu": "Tesla V100-PCIE-32GB", "grid": [10, 2], "block": [128],
		"samples": [
			{"function": "` + called.Name + `", "pc": 16, "reason": "smsp__pcsamp_warps_issue_stalled_wait", "count": 4, "latency": 1},
			{"function": "` + called.Name + `", "pc": 16, "reason": "wait", "count": 2, "latency": 2},
			{"pc": 32, "reason": "selected", "count": 5}],
		"counters": [{"pc": 32, "executions": 7}]}]}`
	p, err := ReadSamples(strings.NewReader(text), module)
	if err != nil {
		t.Fatal(err)
	}
	l := p.Launches[0]
	want := []Sample{{PC: 32, Reason: stall.Selected, Count: 5}, {PC: called.Offset + 16, Reason: stall.Wait, Count: 6, Latency: 3}}
	if !slices.Equal(l.Samples, want) {
		t.Errorf("samples %+v, want %+v", l.Samples, want)
	}
	if l.GPU != "v100" || l.Grid != [3]int{10, 2, 1} || l.Facts.SMs != 80 || l.Facts.BlocksPerSM < 1 || l.Facts.WarpInstructions != 7 {
		t.Errorf("%+v", l)
	}
	if missing := []string{"cycles", "sampling period", "thread executions", "sectors", "shared wavefronts"}; !slices.Equal(l.Missing, missing) {
		t.Errorf("lacks %q, want %q", l.Missing, missing)
	}
}

func TestReadSamplesRefuses(t *testing.T) {
	module := openCubin(t, "basic/vecadd/vecadd.sm_70.cubin")
	const good = `{"format": "gpa-samples", "version": 1, "launches": [{"kernel": "vecadd", "grid": [10], "block": [128], "samples": [{"pc": 16, "reason": "wait", "count": 4, "latency": 1}]}]}`
	if _, err := ReadSamples(strings.NewReader(good), module); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, says string }{
		{"another format", "gpa-samples", "gpa-profile", `the format is "gpa-profile"`},
		{"another version", `"version": 1`, `"version": 2`, "version 2"},
		{"no launch", good, `{"format": "gpa-samples", "version": 1}`, "no launch"},
		{"another kernel", `"vecadd"`, `"saxpy"`, "saxpy"},
		{"a key that is not known", `"latency"`, `"latncy"`, "latncy"},
		{"a reason that is not known", `"wait"`, `"waiting"`, `unknown stall reason "waiting"`},
		{"a function that is not there", `{"pc"`, `{"function": "f", "pc"`, `no function "f"`},
		{"no instruction there", `"pc": 16`, `"pc": 8`, "no instruction"},
		{"behind the end", `"pc": 16`, `"pc": 1048576`, "ends at"},
		{"more latency than samples", `"latency": 1`, `"latency": 5`, "5 of them latency samples"},
		{"a negative count", `"count": 4, "latency": 1`, `"count": -4`, "-4 samples"},
		{"no grid", `"grid": [10], `, ``, "grid: 0 dimensions"},
		{"an empty block", `[128]`, `[0]`, "block: 0 is not a size"},
		{"a block too large", `[128]`, `[4096]`, "does not fit"},
		{"registers too many", `"grid"`, `"registers": 100000, "grid"`, "does not fit"},
		{"negative cycles", `"grid"`, `"cycles": -1, "grid"`, "negative"},
		{"more behind", `]}]}`, `]}]} 1`, "more after"},
		{"half of it", `"samples": [{"pc"`, ``, "invalid character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if _, err := ReadSamples(strings.NewReader(text), module); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one with %q", err, c.says)
			}
		})
	}
}

// FuzzReadSamples holds that what is read passes the check and is the same when written and read again.
func FuzzReadSamples(f *testing.F) {
	module := openCubin(f, "basic/vecadd/vecadd.sm_70.cubin")
	f.Add(`{"format": "gpa-samples", "version": 1, "launches": [{"kernel": "vecadd", "grid": [10], "block": [128], "samples": [{"pc": 16, "reason": "wait", "count": 4}]}]}`)
	f.Add(`{"format": "gpa-samples", "version": 1, "launches": [{"kernel": "vecadd", "grid": [1,2,3], "block": [1], "sms": 3, "counters": [{"pc": 0, "executions": 9}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadSamples(strings.NewReader(text), module)
		if err != nil {
			return
		}
		if err := Check(p); err != nil {
			t.Fatal(err)
		}
		var first, second bytes.Buffer
		if err := WriteSamples(&first, p, 0); err != nil {
			t.Fatal(err)
		}
		again, err := ReadSamples(bytes.NewReader(first.Bytes()), module)
		if err != nil {
			t.Fatalf("%v\n%s", err, first.String())
		}
		if err := WriteSamples(&second, again, 0); err != nil || first.String() != second.String() {
			t.Fatalf("%v\n%s%s", err, first.String(), second.String())
		}
	})
}

// TestImportDocument reads the example of the document, and holds its list of reasons to the vocabulary.
func TestImportDocument(t *testing.T) {
	raw, err := os.ReadFile("../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	document := string(raw)
	_, example, _ := strings.Cut(document, "```json\n")
	example, _, _ = strings.Cut(example, "```")
	module := openCubin(t, "control/device_calls/device_calls.sm_70.cubin")
	example = strings.NewReplacer(`"saxpy"`, `"device_calls"`, `"helper"`, `"`+module.Codes[0].Functions[1].Name+`"`).Replace(example)
	if _, err := ReadSamples(strings.NewReader(example), module); err != nil {
		t.Error(err)
	}
	for r := range stall.NumReasons {
		if !strings.Contains(document, "`"+r.String()+"`") {
			t.Errorf("docs/import.md lacks the reason %s", r)
		}
	}
}
