package tune

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFindCompiler finds the nvcc of NVIDIA's Python packages.
func TestFindCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	home := t.TempDir()
	nvcc := filepath.Join(home, "lib", "python3.11", "site-packages", "nvidia", "cu13", "bin", "nvcc")
	if err := os.MkdirAll(filepath.Dir(nvcc), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(nvcc, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := findNvcc(func(name string) string { return map[string]string{"VIRTUAL_ENV": home}[name] }); got != nvcc {
		t.Errorf("%q", got)
	}
}

func TestSplitWords(t *testing.T) {
	got, err := splitWords(`a  'b c' --d="e f" "" g`)
	if want := []string{"a", "b c", "--d=e f", "", "g"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAbsoluteFolders(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got, err := absoluteFolders([]string{"-I..", "-isystem", "a", "-I", "/b", "-O3"})
	if want := []string{"-I" + filepath.Dir(here), "-isystem", filepath.Join(here, "a"), "-I", "/b", "-O3"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}
