package launch

import (
	"path/filepath"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
)

// TestLadders holds that every version of every ladder leaves the outputs of the ladder's reference.
func TestLadders(t *testing.T) {
	files, err := filepath.Glob("../../kernels/ladders/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no versions: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			s := open(t, file, sass.SM80, emu.Options{Timing: emu.TimingNone})
			runAll(t, s)
			checks, err := s.Check()
			if err != nil || len(checks) == 0 {
				t.Fatalf("%d outputs compared: %v", len(checks), err)
			}
			for i := range checks {
				if !checks[i].OK() {
					t.Error(checks[i].String())
				}
			}
		})
	}
}
