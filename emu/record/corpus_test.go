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
	s, err := launch.NewSession(file, m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// recordCorpus runs the tiled matrix product of the corpus.
func recordCorpus(t *testing.T, workers int, recorded bool) (*emu.Result, *profiler.Record) {
	t.Helper()
	const name = "../../kernels/linear/sgemm_tiled/launch.yaml"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := launch.Parse(name, data, launch.OSDir(filepath.Dir(name)))
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, file, emu.Options{Timing: emu.TimingFull, Workers: workers})
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
