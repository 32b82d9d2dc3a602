package launch_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/launch"
)

// TestModuleOfAnotherArchitecture loads a module for GPUs that no cubin beside it is for: that of an earlier one with the same major number runs there, as on hardware, others do not.
func TestModuleOfAnotherArchitecture(t *testing.T) {
	dir := t.TempDir()
	data, err := cubin.ReadWith("../../kernels/basic/saxpy/saxpy.sm_80.cubin", os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "saxpy.sm_80.cubin"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := launch.Parse("launch.yaml", []byte("module: saxpy.sm_80.cubin\nlaunches: [{kernel: saxpy, grid: [1], block: [1]}]\n"), launch.OSDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	for architecture, want := range map[sass.Arch]bool{70: false, 75: false, 80: true, 86: true, 89: true, 90: false} {
		module, err := f.LoadModule(architecture)
		if (err == nil) != want || want && module.Arch != 80 || !want && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("sm_%d: %v", architecture, err)
		}
	}
}
