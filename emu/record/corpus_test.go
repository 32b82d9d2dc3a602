package record_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/launch"
	"gpa/emu/record"
	"gpa/profiler"
)

// session opens a launch file on the default GPU of its module.
func session(t *testing.T, file *launch.File, o emu.Options) *launch.Session {
	t.Helper()
	module, err := file.LoadModule(0)
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := arch.ByName(fmt.Sprintf("sm_%d", module.Arch))
	if err != nil {
		t.Fatal(err)
	}
	m, err := emu.New(gpu, module, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := launch.NewSession(context.Background(), file, m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ofCorpus reads the launch file of a kernel.
func ofCorpus(t *testing.T, kernel string) *launch.File {
	t.Helper()
	name := "../../kernels/" + kernel + "/launch.yaml"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := launch.Parse(name, data, launch.OSDir(filepath.Dir(name)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// recordCorpus runs the tiled matrix product of the corpus.
func recordCorpus(t *testing.T, workers int, recorded bool) (*emu.Result, *profiler.Record) {
	t.Helper()
	s := session(t, ofCorpus(t, "linear/sgemm_tiled"), emu.Options{Timing: emu.TimingFull, Workers: workers})
	l, err := s.Launch(0)
	if err != nil {
		t.Fatal(err)
	}
	var r record.Recorder
	if recorded {
		l.Recorder = &r
	}
	result, err := s.Machine.Launch(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	if !recorded {
		return result, nil
	}
	return result, r.Record()
}

// In a pipeline of copies every barrier orders: what other warps have copied and waited for with the reads behind it.
func TestPipelineOfCopies(t *testing.T) {
	const rounds, blocks = 32, 8
	c := launch.Command{Module: "dependent.sm_80.cubin", Kernel: "three_stages", Grid: [3]int{blocks, 1, 1}, Block: [3]int{128, 1, 1},
		Args: []string{"f32[131072]:uniform(0,1)", "f32[1024]", "i32:32"}}
	file, err := c.File(launch.OSDir("testdata"))
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
		if _, err := s.Machine.Launch(context.Background(), l); err != nil {
			t.Fatal(err)
		}
		var episodes, between int64
		got := r.Record()
		for _, b := range got.Barriers {
			episodes, between = episodes+b.Episodes, between+b.Between
		}
		if want := int64(rounds * len(got.Blocks)); episodes != want || between != want {
			t.Errorf("%v: %d of %d episodes order different warps, want all of %d", timing, between, episodes, want)
		}
		for _, d := range got.Dependences {
			if d.Kind == profiler.FlowDependence && d.Space != "shared" {
				t.Errorf("%v: dependence %+v, though nobody reads what is stored to global memory", timing, d)
			}
		}
	}
}
