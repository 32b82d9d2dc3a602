package reports

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"gpa/cubin"
	"gpa/emu/stall"
	"gpa/profiler"
)

func buildPprof(t testing.TB, p *profiler.Profile) *profile.Profile {
	t.Helper()
	out, err := Pprof(p, "test")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// value adds up a value over the samples that a filter keeps.
func value(p *profile.Profile, index int, keep func(*profile.Sample) bool) int64 {
	var sum int64
	for _, s := range p.Sample {
		if keep(s) {
			sum += s.Value[index]
		}
	}
	return sum
}

func TestPprofValues(t *testing.T) {
	p := buildPprof(t, relaxResult(t).Profile)
	all := func(*profile.Sample) bool { return true }
	fill := func(s *profile.Sample) bool { return s.Label["kernel"][0] == "fill" }
	waits := func(s *profile.Sample) bool { return s.Label["stall"][0] == "long_scoreboard" }
	load := func(s *profile.Sample) bool { return slices.Equal(s.Label["opcode"], []string{"LDG"}) }
	for _, c := range []struct {
		name  string
		index int
		keep  func(*profile.Sample) bool
		want  int64
	}{
		{"all samples", valueSamples, all, 815 + 20},
		{"stalls", valueStalls, all, 815 - 82 + 15},
		{"latency samples", valueLatency, all, 505 + 15},
		{"issued", valueIssued, all, 82 + 5},
		{"cycles at two periods", valueCycles, all, 815*64 + 20*32},
		{"samples of fill", valueSamples, fill, 20},
		{"cycles of fill", valueCycles, fill, 20 * 32},
		{"samples with long_scoreboard", valueSamples, waits, 300},
		{"executions", valueWarpInstructions, all, 30720},
		{"executions of the load", valueWarpInstructions, load, 10240},
		{"thread executions", valueThreadInstructions, all, 983040},
	} {
		if got := value(p, c.index, c.keep); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if p.DefaultSampleType != "cycles" || p.Period != 64 || p.TimeNanos != 0 || p.DurationNanos != 4402 {
		t.Errorf("default %s, period %d, time %d, duration %d", p.DefaultSampleType, p.Period, p.TimeNanos, p.DurationNanos)
	}
}

// atPC returns the sample of an instruction of relax.
func atPC(t *testing.T, p *profile.Profile, module *cubin.File, pc uint64, reason stall.Reason) *profile.Sample {
	t.Helper()
	code := module.Codes[section(t, module, "relax")]
	want := p.Mapping[0].Start + module.Sections[code.Section].Offset + pc
	for _, s := range p.Sample {
		if s.Location[0].Address == want && s.Label["stall"][0] == reason.String() {
			return s
		}
	}
	t.Fatalf("no sample at %#x with %s", pc, reason)
	return nil
}

func TestPprofStacks(t *testing.T) {
	r := relaxResult(t)
	module := r.Profile.Modules[0]
	p := buildPprof(t, r.Profile)

	inlined := atPC(t, p, module, pcWiden, stall.LongScoreboard)
	if len(inlined.Location) != 1 || len(inlined.Location[0].Line) != 2 {
		t.Fatalf("the inlined instruction has %d locations, %d lines", len(inlined.Location), len(inlined.Location[0].Line))
	}
	inner, outer := inlined.Location[0].Line[0], inlined.Location[0].Line[1]
	if inner.Function.Name != "blend" || inner.Line != 6 || outer.Function.Name != "relax" || outer.Line != 23 {
		t.Errorf("inlined: %s:%d in %s:%d, want blend:6 in relax:23",
			inner.Function.Name, inner.Line, outer.Function.Name, outer.Line)
	}
	if outer.Function.StartLine != 16 || outer.Function.Filename != "relax.cu" || inner.Function.SystemName != "_Z5blendff" {
		t.Errorf("relax starts at %s:%d, blend is %s", outer.Function.Filename, outer.Function.StartLine, inner.Function.SystemName)
	}

	called := atPC(t, p, module, pcDamp, stall.ShortScoreboard)
	if len(called.Location) != 2 {
		t.Fatalf("damp has %d locations, want its instruction and the call", len(called.Location))
	}
	if leaf, call := called.Location[0].Line[0], called.Location[1].Line[0]; leaf.Function.Name != "damp" ||
		leaf.Line != 12 || call.Function.Name != "relax" || call.Line != 24 {
		t.Errorf("damp: %s:%d called from %s:%d, want damp:12 from relax:24",
			leaf.Function.Name, leaf.Line, call.Function.Name, call.Line)
	}
	if want := called.Location[0].Address + pcCall - pcDamp; called.Location[1].Address != want {
		t.Errorf("the call is at %#x, want %#x", called.Location[1].Address, want)
	}
}

// A helper that damp calls from several places has no certain caller: none is made up.
func TestPprofUncertainCaller(t *testing.T) {
	module := relaxModule(t)
	code := section(t, module, "relax")
	var helper *cubin.Function
	for i := range module.Codes[code].Functions {
		if f := &module.Codes[code].Functions[i]; f.Kind == cubin.InternalFunction {
			helper = f
		}
	}
	if helper == nil {
		t.Fatal("relax.sm_70.cubin has no helper of the compiler")
	}
	l := relaxLaunch(code)
	l.Samples = []profiler.Sample{{Code: code, PC: helper.Offset, Reason: stall.Wait, Count: 1}}
	l.PCs = nil
	p := buildPprof(t, &profiler.Profile{Modules: []*cubin.File{module}, Launches: []*profiler.Launch{l}})
	if n := len(p.Sample[0].Location); n != 1 {
		t.Errorf("%d locations, want the helper's alone", n)
	}
	if got := p.Sample[0].Label["kernel"]; !slices.Equal(got, []string{"relax"}) {
		t.Errorf("kernel label %v", got)
	}
}

// Sections all begin at 0 and a module can be there twice; addresses must not collide.
func TestPprofAddresses(t *testing.T) {
	r := relaxResult(t)
	second := *r.Profile.Launches[0]
	second.Module = 1
	r.Profile.Modules = append(r.Profile.Modules, relaxModule(t))
	r.Profile.Launches = append(r.Profile.Launches, &second)
	p := buildPprof(t, r.Profile)
	seen := make(map[uint64]bool)
	for _, l := range p.Location {
		if seen[l.Address] {
			t.Errorf("address %#x stands for two places", l.Address)
		}
		seen[l.Address] = true
		if m := l.Mapping; l.Address < m.Start || l.Address >= m.Limit {
			t.Errorf("address %#x is outside of %#x to %#x", l.Address, m.Start, m.Limit)
		}
	}
	if a, b := p.Mapping[0], p.Mapping[1]; a.Limit > b.Start || b.Start%0x1000 != 0 || len(a.BuildID) != 64 {
		t.Errorf("mappings %#x to %#x and %#x to %#x, build id %s", a.Start, a.Limit, b.Start, b.Limit, a.BuildID)
	}
}

func TestPprofIsDeterministic(t *testing.T) {
	write := func() []byte {
		var out bytes.Buffer
		if err := buildPprof(t, relaxResult(t).Profile).Write(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	if !bytes.Equal(write(), write()) {
		t.Error("the same profile gives other bytes")
	}
}

func TestPprofComments(t *testing.T) {
	r := relaxResult(t)
	r.Profile.Launches = append(r.Profile.Launches, r.Profile.Launches[1], r.Profile.Launches[1])
	want := []string{
		"gpa test",
		"kernel relax, sm_70, v100, grid 640x1x1, block 256x1x1, period 64 cycles",
		"kernel fill, sm_70, v100, grid 40x1x1, block 128x1x1, period 32 cycles, 3 launches",
	}
	if got := buildPprof(t, r.Profile).Comments; !slices.Equal(got, want) {
		t.Errorf("comments %q, want %q", got, want)
	}
}

// savePprof writes the profile of the first n launches to a file.
func savePprof(t *testing.T, dir, name string, p *profiler.Profile) string {
	t.Helper()
	file := filepath.Join(dir, name)
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := buildPprof(t, p).Write(f); err != nil {
		t.Fatal(err)
	}
	return file
}

// Stock pprof must read the profile through every report that needs no disassembly.
func TestStockPprof(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command")
	}
	dir := t.TempDir()
	after := savePprof(t, dir, "after.pb.gz", relaxResult(t).Profile)
	slower := relaxResult(t).Profile
	for i := range slower.Launches[0].Samples {
		slower.Launches[0].Samples[i].Count *= 2
	}
	before := savePprof(t, dir, "before.pb.gz", slower)

	cases := []struct {
		name string
		args []string
		want []string
	}{
		{"top", []string{"-top", after}, []string{"Type: cycles", "blend (inline)", "relax", "damp", "fill"}},
		{"top by lines", []string{"-top", "-lines", after}, []string{"relax.cu:6 (inline)", "relax.cu:12"}},
		{"top by stalls", []string{"-top", "-sample_index=stalls", after}, []string{"748 total", "blend"}},
		{"list", []string{"-list=^relax$", "-source_path=testdata", after}, []string{"ROUTINE", "sum += blend(in[(i + k) % n], sum);"}},
		{"weblist", []string{"-weblist=^relax$", "-source_path=testdata", "-output=/dev/stdout", after}, []string{"<html>", "blend(in[(i &#43; k) % n], sum);"}},
		{"peek", []string{"-peek=^damp$", after}, []string{"relax", "damp"}},
		{"tags", []string{"-tags", after}, []string{"long_scoreboard", "LDG", "memory_dependency", "global", "fill"}},
		{"tagfocus", []string{"-top", "-tagfocus=stall=long_scoreboard", after}, []string{"blend"}},
		{"tagroot", []string{"-top", "-cum", "-tagroot=kernel", after}, []string{"relax", "fill"}},
		{"traces", []string{"-traces", after}, []string{"stall:", "long_scoreboard", "blend"}},
		{"diff_base", []string{"-top", "-diff_base=" + before, after}, []string{"-52160, 49.70% of 104960 total", "blend"}},
		{"comments", []string{"-comments", after}, []string{"kernel relax, sm_70, v100"}},
		{"merged", []string{"-top", "-sample_index=samples", after, before}, []string{"2485 total"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(tool, append([]string{"tool", "pprof"}, c.args...)...)
			cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil && strings.Contains(string(out), "no such tool") {
				t.Skip("the go command has no pprof")
			}
			if err != nil {
				t.Fatalf("go tool pprof %v: %v\n%s", c.args, err, out)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("go tool pprof %v: no %q in\n%s", c.args, want, out)
				}
			}
		})
	}
}

// BenchmarkPprof builds the profile of relax with four stall reasons at every instruction.
func BenchmarkPprof(b *testing.B) {
	module := relaxModule(b)
	code := section(b, module, "relax")
	l := relaxLaunch(code)
	l.Samples = nil
	for i := range module.Codes[code].Insts {
		for _, reason := range []stall.Reason{stall.Selected, stall.NotSelected, stall.Wait, stall.LongScoreboard} {
			l.Samples = append(l.Samples, profiler.Sample{Code: code, PC: uint64(16 * i), Reason: reason, Count: 3})
		}
	}
	p := &profiler.Profile{Modules: []*cubin.File{module}, Launches: []*profiler.Launch{l}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Pprof(p, ""); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(l.Samples)), "samples/op")
}
