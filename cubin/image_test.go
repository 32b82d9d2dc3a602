package cubin

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// corpus returns the cubins of the package's testdata and of the corpus.
func corpus(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"testdata/*.cubin", "../kernels/*/*/*.cubin.gz"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names...)
	}
	if more := os.Getenv("GPA_CUBINS"); more != "" {
		names, err := filepath.Glob(more)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names...)
	}
	if len(all) < 50 {
		t.Fatalf("only %d cubins", len(all))
	}
	return all
}

// TestImageRoundTrip writes images as they were read.
func TestImageRoundTrip(t *testing.T) {
	for _, name := range corpus(t) {
		data, err := ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		im, err := ReadImage(name, data)
		if err != nil {
			t.Error(err)
			continue
		}
		for i := range im.Segments {
			// One without contents may name any offset.
			if s := &im.Segments[i]; s.Fixed && s.Raw.Filesz > 0 {
				t.Errorf("%s: program header %d covers no run of sections", name, i)
			}
		}
		got, err := im.Bytes()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes differ from the %d read", name, len(got), len(data))
		}
	}
}
