package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/cubin"
)

// TestLanguage holds that advice on a kernel whose line table names a Python file speaks Triton's words, and Numba's where the kernel is
// Numba's.
func TestLanguage(t *testing.T) {
	from := filepath.Join("..", "..", "kernels", "tuning", "rows_strided")
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	advised := func(rename func([]byte) []byte) string {
		dir := t.TempDir()
		for _, f := range files {
			data, err := cubin.ReadFile(filepath.Join(from, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(f.Name(), cubin.Compressed)
			if err := os.WriteFile(filepath.Join(dir, name), rename(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		stdout, stderr, status := invoke(t, "profile", dir, "--try", "0")
		if status != exitDone {
			t.Fatal(stderr)
		}
		return stdout
	}
	python := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte(".cu\x00"), []byte(".py\x00")) }
	for _, tt := range []struct {
		name   string
		rename func([]byte) []byte
		want   string
		not    string
	}{
		{"CUDA C++", func(data []byte) []byte { return data }, "float4", "tl."},
		{"Triton", python, "tl.multiple_of", "float4"},
	} {
		if text := advised(tt.rename); !strings.Contains(text, tt.want) || strings.Contains(text, tt.not) {
			t.Errorf("%s: no %q, or %q:\n%s", tt.name, tt.want, tt.not, text)
		}
	}
}
