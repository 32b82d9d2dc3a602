package record_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/launch"
	"gpa/emu/record"
	"gpa/profiler"
)

// What the copy engine brings is stored by the instruction that asked for it: loads and the tensor cores read it, and what it takes away
// is what the threads stored.
func TestAsynchronousAccesses(t *testing.T) {
	type edge struct{ from, to sass.Op }
	for name, want := range map[string][]edge{
		"tma_tile": {{sass.UTMALDG, sass.LDS}, {sass.STS, sass.UTMASTG}},
		"tma_gemm": {{sass.UTMALDG, sass.HGMMA}},
	} {
		path := filepath.Join("..", "..", "kernels", "hopper", name, "launch.yaml")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := launch.Parse(path, data, launch.OSDir(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		for _, timing := range []emu.TimingLevel{emu.TimingNone, emu.TimingFull} {
			s := session(t, file, emu.Options{Timing: timing})
			l, err := s.Launch(0)
			if err != nil {
				t.Fatal(err)
			}
			var r record.Recorder
			l.Recorder = &r
			if _, err = s.Machine.Launch(context.Background(), l); err != nil {
				t.Fatal(err)
			}
			codes := s.Machine.Module().Codes
			found := make(map[edge]int64)
			for _, d := range r.Record().Dependences {
				at := func(p profiler.Place) sass.Op { return codes[p.Code].Insts[p.PC/sass.InstSize].Op }
				if d.Kind == profiler.FlowDependence && d.Space == "shared" {
					found[edge{at(d.From), at(d.To)}] += d.Bytes
				}
			}
			for _, e := range want {
				if found[e] == 0 {
					t.Errorf("%s, timing %v: nothing that %v has stored is read by %v", name, timing, e.from, e.to)
				}
			}
		}
	}
}
