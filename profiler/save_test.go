package profiler

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gpa/cubin"
	"gpa/emu/stall"
)

// cubinModule opens testdata/fill.sm_70.cubin, the kernel of fill.cu as NVRTC 12.9 compiled it.
func cubinModule(t testing.TB) *cubin.File {
	t.Helper()
	raw, err := os.ReadFile("testdata/fill.sm_70.cubin")
	if err != nil {
		t.Fatal(err)
	}
	module, err := cubin.NewFile("fill.sm_70.cubin", raw)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// full returns a profile in which every field holds something.
func full(t testing.TB) *Profile {
	second := cubinModule(t)
	second.Name = "again.cubin"
	return &Profile{
		Modules: []*cubin.File{cubinModule(t), second},
		Precise: true,
		Launches: []*Launch{
			{
				Kernel: "fill", GPU: "v100", Grid: [3]int{2, 3, 4}, Block: [3]int{64, 2, 1}, Period: 32,
				Facts: Facts{
					Registers: 8, SharedStatic: 16, SharedDynamic: 32, LocalBytes: 64,
					Cycles: 80, SMActiveCycles: 160, WarpActiveCycles: 900, ClockHz: 1380e6, WarpInstructions: 12, ThreadInstructions: 300,
					SMs: 2, SchedulersPerSM: 4, MaxWarpsPerScheduler: 16, WarpsPerScheduler: 2.5, OccupancyLimit: "grid",
					BlocksPerSM: 3, TimingLevel: "full", Extrapolated: true, ErrorBound: 0.125,
				},
				Samples: []Sample{
					{PC: 16, Reason: stall.Selected, Count: 2},
					{PC: 32, Reason: stall.Wait, Count: 3, Latency: 1},
					{PC: 32, Reason: stall.Wait, Count: 1, Producer: Producer{Known: true}},
				},
				PCs: []Counter{{
					PC: 16, Executions: 8, ThreadExecutions: 200, GlobalSectors: 3, GlobalSectorsIdeal: 2, SharedWavefronts: 5,
					SharedWavefrontsIdeal: 4, BranchTaken: 1,
				}},
				Missing: []string{"thread executions"},
				Tries: []Try{
					{Optimizer: "loop-unrolling", Place: "loop block 3 of section 0", Speedup: 1.25},
					{Optimizer: "async-copy", Place: "kernel of section 0", Why: "no what-if run can make this change"},
				},
				Inherits: &Inheritance{Loaded: 64, Own: 32, Apart: 2, Loads: []Place{{PC: 16}, {PC: 32}},
					Feeds:      []Feed{{Back: 1, Bytes: 32, Left: 64, Blocks: 2, Loads: []FeedLoad{{Place{PC: 16}, 32, 32}}}, {Back: 3, Bytes: 4, Left: 4}},
					Overwrites: []int{1, 4}},
				Record: &Record{
					Blocks: []int{0, 5}, Complete: true,
					Loads: []LoadRecord{{Place: Place{PC: 16}, Bytes: 9, InEarlierRound: [NumParties]int64{1, 2, 3},
						Earlier: [NumParties]int64{4, 5, 6}, Distances: []int64{0, 7}, Distinct: 8, Shared: 4, Stored: 2}},
					Stores: []StoreRecord{{Place: Place{PC: 32}, Bytes: 10}},
					Dependences: []Dependence{
						{From: Place{PC: 32}, To: Place{PC: 16}, Party: SameWarp, Space: "global", Bytes: 3},
						{Kind: OutputDependence, From: Place{PC: 32}, To: Place{PC: 32}, Party: SameBlock, Space: "shared", Carried: true,
							Loop: Place{PC: 16}, Next: true, Bytes: 4},
					},
					Barriers: []BarrierRecord{{Place: Place{PC: 48}, Episodes: 3, Between: 2, Within: 1, Partial: true}},
					Together: [][]Place{{{PC: 16}, {PC: 32}}},
				},
			},
			{
				Kernel: "fill", Module: 1, Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1},
				Fault: &Fault{
					Kind: "out of bounds", PC: 32, Block: [3]int{1, 2, 3}, Thread: [3]int{4, 5, 6}, HasAddress: true,
					Buffer: "out", Message: "write out of bounds",
				},
			},
		},
	}
}

func saved(t testing.TB, p *Profile) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Save(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func loadBytes(data []byte) (*Profile, error) {
	return Load("p.gpa", bytes.NewReader(data), int64(len(data)))
}

func TestSaveLoad(t *testing.T) {
	want := full(t)
	got, err := loadBytes(saved(t, want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Launches, got.Launches, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("launches (-saved +loaded):\n%s", diff)
	}
	if got.Precise != want.Precise {
		t.Errorf("precise: %v", got.Precise)
	}
	if len(got.Modules) != 2 {
		t.Fatalf("%d modules, want 2", len(got.Modules))
	}
	for i, m := range got.Modules {
		if m.Name != want.Modules[i].Name || !bytes.Equal(m.Raw, want.Modules[i].Raw) || len(m.Codes) != len(want.Modules[i].Codes) {
			t.Errorf("module %d: %s with %d bytes, %d sections", i, m.Name, len(m.Raw), len(m.Codes))
		}
	}
}

func TestSaveIsReproducible(t *testing.T) {
	first := saved(t, full(t))
	loaded, err := loadBytes(first)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, saved(t, full(t))) || !bytes.Equal(first, saved(t, loaded)) {
		t.Error("the same profile gives other bytes")
	}
}

func TestSaveKeepsACubinOnce(t *testing.T) {
	data := saved(t, full(t))
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != 2 {
		t.Errorf("%d entries, want a cubin and %s", len(z.File), profileEntry)
	}
	for _, f := range z.File {
		// A field of zero reads as 30 November 1979.
		if f.Modified.Year() > 1979 {
			t.Errorf("entry %s has a time: %v", f.Name, f.Modified)
		}
	}
}

// A thousand equal launches compress better than Load believes.
func TestSaveLoadsAgain(t *testing.T) {
	p := full(t)
	for range 5000 {
		p.Launches = append(p.Launches, p.Launches[0])
	}
	got, err := loadBytes(saved(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Launches) != len(p.Launches) {
		t.Errorf("%d launches, want %d", len(got.Launches), len(p.Launches))
	}
}

func TestSaveChecks(t *testing.T) {
	p := full(t)
	p.Launches[0].Samples[0].Count = -1
	if err := Save(new(bytes.Buffer), p); err == nil || !strings.Contains(err.Error(), "count -1") {
		t.Errorf("a spoilt profile is saved: %v", err)
	}
}

// pack makes an archive of profile.json and other entries.
func pack(t testing.TB, profile string, entries map[string][]byte) []byte {
	t.Helper()
	return packBy(t, zip.Deflate, profile, entries)
}

// packBy does so by a method of compression.
func packBy(t testing.TB, method uint16, profile string, entries map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	names := []string{}
	for name := range entries {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := writeEntry(z, name, method, entries[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeEntry(z, profileEntry, method, []byte(profile)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// document returns a profile.json with the given lists.
func document(modules, launches string) string {
	return fmt.Sprintf(`{"format": "gpa-profile", "version": 1, "modules": %s, "launches": %s}`, modules, launches)
}

func TestLoadRejects(t *testing.T) {
	sound := saved(t, full(t))
	raw := cubinModule(t).Raw
	const module = `[{"name": "fill.cubin", "file": "c"}]`
	launch := func(rest string) string {
		return `[{"kernel": "fill", "grid": [1,1,1], "block": [1,1,1]` + rest + `}]`
	}
	with := func(modules, launches string) []byte {
		return pack(t, document(modules, launches), map[string][]byte{"c": raw, "text": []byte("no cubin")})
	}
	bomb := pack(t, document(`[{"name": "x.cubin", "file": "zero"}]`, `[]`), map[string][]byte{"zero": make([]byte, 8<<20)})
	cases := []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "not a gpa profile"},
		{"text", []byte("kernel: vecadd\n"), "not a gpa profile, nor any zip archive"},
		{"cut short", sound[:len(sound)-30], "zip archive"},
		{"a cubin", raw, "zip archive"},
		{"no profile.json", func() []byte {
			var out bytes.Buffer
			z := zip.NewWriter(&out)
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			return out.Bytes()
		}(), "entry profile.json is missing"},
		{"not JSON", pack(t, "{", nil), "profile.json: unexpected end"},
		{"another format", pack(t, `{"format": "x", "version": 1}`, nil), `the format is "x"`},
		{"a later version", pack(t, `{"format": "gpa-profile", "version": 2}`, nil), "version 2; this gpa reads version 1"},
		{"modules are no list", with(`{}`, `[]`), "module 0: not a list"},
		{"no such cubin", with(`[{"name": "x", "file": "y"}]`, `[]`), "entry y is missing"},
		{"not a cubin", with(`[{"name": "x.cubin", "file": "text"}]`, `[]`), "module 0: x.cubin"},
		{"a bomb", bomb, "too many for a file of this size"},
		{"no such kernel", with(module, `[{"kernel": "x", "grid": [1,1,1], "block": [1,1,1]}]`), `no kernel "x"`},
		{"no such module", with(module, launch(`, "module": 1`)), "no module 1"},
		{"a grid of 0", with(module, `[{"kernel": "fill", "grid": [0,1,1], "block": [1,1,1]}]`), "must be positive"},
		{"unknown reason", with(module, launch(`, "samples": [{"reason": "x", "count": 1}]`)), `sample 0: unknown stall reason "x"`},
		{"a sample twice", with(module, launch(`, "samples": [{"reason": "wait", "count": 1}, {"reason": "wait", "count": 1}]`)),
			"sample 1: out of order or there twice"},
		{"a counter twice", with(module, launch(`, "counters": [{"pc": 16}, {"pc": 16}]`)), "counter 1: out of order"},
		{"no count", with(module, launch(`, "samples": [{"reason": "wait"}]`)), "sample 0: the count 0"},
		{"beyond the code", with(module, launch(`, "samples": [{"pc": 1048576, "reason": "wait", "count": 1}]`)), "no instruction at 0x100000"},
		{"a number too large", with(module, launch(`, "samples": [{"pc": 1e99, "reason": "wait"}]`)), "launch 0: sample 0"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, err := loadBytes(c.data)
			if err == nil {
				t.Fatalf("loaded: %+v", p)
			}
			if !strings.HasPrefix(err.Error(), "p.gpa: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want one that begins with the name and has %q", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error takes several lines: %q", err)
			}
		})
	}
}

func TestLoadIgnoresUnknownKeys(t *testing.T) {
	data := pack(t, strings.Replace(document(`[]`, `[]`), "{", `{"later": [1, 2], `, 1), nil)
	if _, err := loadBytes(data); err != nil {
		t.Errorf("a key of a later gpa is refused: %v", err)
	}
}

// Spoiling any byte gives an error or a sound profile, never a panic.
func TestLoadSpoiltBytes(t *testing.T) {
	data := saved(t, full(t))
	for i := 0; i < len(data); i += 1 + i/512 {
		spoilt := bytes.Clone(data)
		spoilt[i] ^= 0x55
		if p, err := loadBytes(spoilt); err == nil {
			if err := Check(p); err != nil {
				t.Errorf("byte %d: what Load returns is not sound: %v", i, err)
			}
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(saved(f, full(f)))
	f.Add(pack(f, document(`[]`, `[{"kernel": "fill"}]`), nil))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := loadBytes(data)
		if (p == nil) == (err == nil) {
			t.Fatalf("profile %v, error %v", p, err)
		}
		if err == nil {
			saved(t, p)
		}
	})
}

// FuzzLoadText gets past the checksums of the archive.
func FuzzLoadText(f *testing.F) {
	raw := cubinModule(f).Raw
	const module = `[{"name": "fill.cubin", "file": "c"}]`
	f.Add(document(module, `[{"kernel": "fill", "grid": [1,1,1], "block": [32,1,1], "period": 32, "facts": {"cycles": 9},
		"samples": [{"pc": 16, "reason": "wait", "count": 2, "latency": 1, "producer": {"pc": 0}}],
		"counters": [{"pc": 16, "executions": 1, "thread_executions": 32}],
		"fault": {"kind": "k", "address": 1, "message": "m"}, "missing": ["x"]}]`))
	f.Add(document(`null`, `[[]]`))
	f.Fuzz(func(t *testing.T, text string) {
		p, err := loadBytes(packBy(t, zip.Store, text, map[string][]byte{"c": raw})) // compression would be most of the time
		if (p == nil) == (err == nil) {
			t.Fatalf("profile %v, error %v", p, err)
		}
		if err != nil {
			return
		}
		if err := Check(p); err != nil {
			t.Error(err)
		}
	})
}

// benchProfile has a sample for every instruction, reason and producer.
func benchProfile(b *testing.B) *Profile {
	p := full(b)
	l := p.Launches[0]
	l.Samples = nil
	insts := p.Modules[0].Codes[0].Insts
	for i := range insts {
		for reason := stall.NotSelected; reason < stall.NumReasons; reason++ {
			for producer := range insts {
				l.Samples = append(l.Samples, Sample{
					PC: insts[i].PC, Reason: reason, Count: int64(5 + i*producer), Latency: int64(i % 5),
					Producer: Producer{Known: true, PC: insts[producer].PC},
				})
			}
		}
	}
	return p
}

func BenchmarkSave(b *testing.B) {
	p := benchProfile(b)
	b.ReportAllocs()
	for b.Loop() {
		saved(b, p)
	}
	b.ReportMetric(float64(len(p.Launches[0].Samples)), "samples/op")
}

func BenchmarkLoad(b *testing.B) {
	p := benchProfile(b)
	data := saved(b, p)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := loadBytes(data); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(p.Launches[0].Samples)), "samples/op")
}
