package ncurep

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/stall"
	"gpa/profiler"
	"gpa/profiler/ncurep/ncureptest"
)

// open reads a cubin of the corpus.
func open(t testing.TB, name string) *cubin.File {
	t.Helper()
	raw, err := cubin.ReadFile("../../kernels/" + name)
	if err != nil {
		t.Fatal(err)
	}
	module, err := cubin.NewFile(name, raw)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// made is a profile with samples of every reason and counters at every instruction of every kernel.
func made(t testing.TB, names ...string) *profiler.Profile {
	t.Helper()
	p := new(profiler.Profile)
	for m, name := range names {
		module := open(t, name)
		p.Modules = append(p.Modules, module)
		for _, k := range module.Kernels {
			l := &profiler.Launch{Kernel: k.Name, Module: m, GPU: "t4", Grid: [3]int{400, 2, 1}, Block: [3]int{64, 2, 1}, Period: 1024}
			l.Facts = profiler.Facts{Registers: k.Registers, SharedStatic: k.SharedStatic, SharedDynamic: 512, LocalBytes: k.LocalFrame,
				Cycles: 99_000, SMActiveCycles: 3_000_000, WarpActiveCycles: 54_321_000, L2Bytes: 5 << 20, DRAMReadBytes: 3 << 20, DRAMWrittenBytes: 1 << 20,
				DRAMPeak: 320e9, ClockHz: 585e6, SMs: 40, SchedulersPerSM: 4, MaxWarpsPerScheduler: 8}
			for _, code := range module.Codes {
				for i := range code.Insts {
					fill(l, code.Index, uint64(i)*sass.InstSize, int64(i))
				}
			}
			p.Launches = append(p.Launches, l)
		}
	}
	return p
}

// fill adds samples and a counter of the i-th instruction.
func fill(l *profiler.Launch, code int, pc uint64, i int64) {
	reason := stall.Reason(i % int64(stall.NumReasons))
	s := profiler.Sample{Code: code, PC: pc, Reason: reason, Count: 10 + i}
	if reason != stall.Selected {
		s.Latency = i
	}
	c := profiler.Counter{Code: code, PC: pc, Executions: 100 + i, ThreadExecutions: 32 * i, GlobalSectors: 4 * i, GlobalSectorsIdeal: i, SharedWavefronts: 3 * i, SharedWavefrontsIdeal: 2 * i}
	l.Samples, l.PCs = append(l.Samples, s), append(l.PCs, c)
	l.Facts.WarpInstructions += c.Executions
	l.Facts.ThreadInstructions += c.ThreadExecutions
}

const (
	vecadd      = "basic/vecadd/vecadd.sm_75.cubin"
	deviceCalls = "control/device_calls/device_calls.sm_75.cubin"
)

// TestRoundTrip writes launches of two modules, one of them with functions that are called, and reads them again.
func TestRoundTrip(t *testing.T) {
	want := made(t, vecadd, deviceCalls)
	r, err := Parse(ncureptest.Write(want, ncureptest.Options{Device: "Tesla T4", Tool: "2024.1.1.0"}))
	if err != nil {
		t.Fatal(err)
	}
	if r.Tool != "2024.1.1.0" || len(r.Results) != len(want.Launches) {
		t.Fatalf("tool %q, %d results of %d", r.Tool, len(r.Results), len(want.Launches))
	}
	got, _, err := r.Profile("x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range got.Launches {
		w := *want.Launches[i]
		w.Facts.WarpsPerScheduler, w.Facts.OccupancyLimit, w.Facts.BlocksPerSM = l.Facts.WarpsPerScheduler, l.Facts.OccupancyLimit, l.Facts.BlocksPerSM
		if diff := cmp.Diff(&w, l); diff != "" {
			t.Errorf("launch %d (-want +got):\n%s", i, diff)
		}
		if l.Facts.BlocksPerSM < 1 {
			t.Errorf("launch %d: no occupancy", i)
		}
	}
	for i, m := range got.Modules {
		if !bytes.Equal(m.Raw, want.Modules[i].Raw) {
			t.Errorf("module %d has other bytes", i)
		}
	}
}

// TestHelpers leaves out where the functions beside the kernels lie: they are found from the kernel of their section.
func TestHelpers(t *testing.T) {
	p := made(t, deviceCalls)
	data := ncureptest.Write(p, ncureptest.Options{Device: "Tesla T4", OnlyKernels: true})
	r, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := r.Profile("x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range got.Launches {
		if diff := cmp.Diff(p.Launches[i].Samples, l.Samples); diff != "" || len(l.Missing) > 0 {
			t.Errorf("launch %d lacks %q (-want +got):\n%s", i, l.Missing, diff)
		}
	}
}

// TestLeftOut has launches of which one has no grid, and one counts that contradict each other: the others are read.
func TestLeftOut(t *testing.T) {
	p := made(t, vecadd, deviceCalls, vecadd, deviceCalls)
	p.Launches[0].Grid = [3]int{}
	changed := false
	edit := func(name string, _ uint64, n int64) int64 {
		if name == metricExecuted && !changed {
			changed = true
			return n + 1
		}
		return n
	}
	p.Launches[0], p.Launches[1] = p.Launches[1], p.Launches[0]
	r, err := Parse(ncureptest.Write(p, ncureptest.Options{Device: "Tesla T4", Edit: edit}))
	if err != nil {
		t.Fatal(err)
	}
	got, leftOut, err := r.Profile("x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(leftOut) != 2 || !strings.Contains(leftOut[0].Error(), "add up to") || !strings.Contains(leftOut[1].Error(), "grid") {
		t.Errorf("left out are %v", leftOut)
	}
	if len(got.Launches) != 2 || got.Launches[0].Kernel != p.Launches[2].Kernel || got.Launches[1].Kernel != p.Launches[3].Kernel {
		t.Fatalf("%d launches are read", len(got.Launches))
	}
	if err := profiler.Check(got); err != nil {
		t.Error(err)
	}
	if _, _, err := r.Profile("x", []int{1}); err == nil {
		t.Error("a launch without a grid alone is read")
	}
}

// TestMissing leaves out metrics: the profile says what it lacks.
func TestMissing(t *testing.T) {
	for _, c := range []struct{ name, without, lacks string }{
		{"samples", metricSamples, "samples"},
		{"executions", metricExecuted, "executions"},
		{"threads", metricThreads, "thread executions"},
		{"sectors", metricSectors, "sectors"},
		{"period", metricPeriod, "sampling period"},
		{"cycles", metricCycles, "cycles"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Parse(ncureptest.Write(made(t, vecadd), ncureptest.Options{Device: "Tesla T4", Without: map[string]bool{c.without: true}}))
			if err != nil {
				t.Fatal(err)
			}
			p, _, err := r.Profile("x", nil)
			if err != nil {
				t.Fatal(err)
			}
			if missing := strings.Join(p.Launches[0].Missing, "; "); !strings.HasPrefix(missing, c.lacks) {
				t.Errorf("lacks %q, want %q", missing, c.lacks)
			}
		})
	}
	r, err := Parse(ncureptest.Write(made(t, vecadd), ncureptest.Options{Device: "Quadro RTX 5000"}))
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := r.Profile("x", nil)
	if err != nil || len(p.Launches[0].Missing) != 1 || !strings.Contains(p.Launches[0].Missing[0], "Quadro RTX 5000") {
		t.Errorf("an unknown GPU: %v", err)
	}
}

// TestContradictions changes one count of a metric: the file is refused with what does not fit.
func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		name, metric string
		change       func(n int64) int64
		says         string
	}{
		{"executions do not add up", metricExecuted, func(n int64) int64 { return n + 1 }, "add up to"},
		{"samples do not add up", metricSamples, func(n int64) int64 { return n + 1 }, "add up to"},
		{"a negative count", metricStall + "wait", func(int64) int64 { return -1 }, "is not a count"},
		{"a reason's samples do not add up", metricStall + "wait", func(n int64) int64 { return n - 1 }, "add up to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := false
			edit := func(name string, _ uint64, n int64) int64 {
				if name != c.metric || changed || n == 0 {
					return n
				}
				changed = true
				return c.change(n)
			}
			r, err := Parse(ncureptest.Write(made(t, deviceCalls), ncureptest.Options{Device: "Tesla T4", Edit: edit}))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err = r.Profile("x", nil); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one with %q", err, c.says)
			}
		})
	}
}

// TestOtherCode gives samples to a cubin whose instructions were not executed as often as the file says of each opcode.
func TestOtherCode(t *testing.T) {
	data := ncureptest.Write(made(t, vecadd), ncureptest.Options{Device: "Tesla T4"})
	r, err := Parse(bytes.ReplaceAll(data, []byte("IMAD"), []byte("IABS")))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Profile("x", nil); err == nil || !strings.Contains(err.Error(), "do not belong together") {
		t.Errorf("error %v for other opcodes", err)
	}
}

func TestBroken(t *testing.T) {
	whole := ncureptest.Write(made(t, vecadd), ncureptest.Options{Device: "Tesla T4"})
	long := binary.LittleEndian.AppendUint32([]byte("NVR\x00"), 1<<31)
	for _, c := range []struct {
		name string
		data []byte
		says string
	}{
		{"empty", nil, "not a report file"},
		{"text", []byte("Kernel Name,vecadd\n"), "not a report file"},
		{"nothing after the magic", whole[:4], "file header"},
		{"a long header", long, "into a message of"},
		{"cut in a block", whole[:len(whole)-1], "into a payload of"},
		{"cut in a size", whole[:len("NVR\x00")+4+2+2], "before the size"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Parse(c.data); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one with %q", err, c.says)
			}
		})
	}
}

// FuzzParse reads anything: an error, or launches that pass the check.
func FuzzParse(f *testing.F) {
	whole := ncureptest.Write(made(f, vecadd), ncureptest.Options{Device: "Tesla T4"})
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data)
		if err != nil {
			return
		}
		for i := range r.Results {
			if p, _, err := r.Profile("x", []int{i}); err == nil {
				if err := profiler.Check(p); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// BenchmarkProfile reads a report and makes a profile of it.
func BenchmarkProfile(b *testing.B) {
	data := ncureptest.Write(made(b, deviceCalls), ncureptest.Options{Device: "Tesla T4"})
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r, err := Parse(data)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := r.Profile("x", nil); err != nil {
			b.Fatal(err)
		}
	}
}
