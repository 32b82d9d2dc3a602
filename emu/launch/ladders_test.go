package launch

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
)

var allLadders = flag.Bool("ladders", false, "run every version of every ladder, on each architecture: takes minutes")

// TestLadders holds that the versions of a ladder leave the outputs of the ladder's reference: the last of each, or all of them.
func TestLadders(t *testing.T) {
	files, err := filepath.Glob("../../kernels/ladders/*/ladder.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no ladders: %v", err)
	}
	architectures := []sass.Arch{sass.SM80}
	if *allLadders {
		architectures = []sass.Arch{sass.SM70, sass.SM80, sass.SM90}
	}
	for _, file := range files {
		folder := filepath.Dir(file)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			versions := versionsOf(t, file)
			if !*allLadders {
				versions = versions[len(versions)-1:]
			}
			for _, v := range versions {
				for _, a := range architectures {
					checkOutputs(t, filepath.Join(folder, v+".yaml"), a)
				}
			}
		})
	}
}

// versionsOf reads the names of a ladder's versions.
func versionsOf(t *testing.T, file string) (names []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var ladder struct {
		Versions []struct {
			Version string `json:"version"`
		} `json:"versions"`
	}
	if err := json.Unmarshal(data, &ladder); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, v := range ladder.Versions {
		names = append(names, v.Version)
	}
	if len(names) == 0 {
		t.Fatalf("%s has no versions", file)
	}
	return names
}

// checkOutputs runs a launch file without timing and compares what it leaves with what is expected.
func checkOutputs(t *testing.T, file string, a sass.Arch) {
	t.Helper()
	s := open(t, file, a, emu.Options{Timing: emu.TimingNone})
	runAll(t, s)
	checks, err := s.Check()
	if err != nil || len(checks) == 0 {
		t.Fatalf("%s on sm_%d: %d outputs compared: %v", file, a, len(checks), err)
	}
	for i := range checks {
		if !checks[i].OK() {
			t.Errorf("%s on sm_%d: %s", file, a, checks[i].String())
		}
	}
}
