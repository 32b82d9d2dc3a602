package cubin

import (
	"slices"
	"testing"
)

// Relocatable device code (nvcc -rdc=true) is read as it is: its code, its functions, and the symbols that calls and
// addresses will be of.
func TestRelocatable(t *testing.T) {
	f, err := Open("testdata/relocatable/rel.sm_80.cubin")
	if err != nil {
		t.Fatal(err)
	}
	if !f.Relocatable {
		t.Error("not told to be relocatable")
	}
	var kernels, called []string
	for _, k := range f.Kernels {
		kernels = append(kernels, k.Demangled)
	}
	for i := range f.Relocs {
		if r := &f.Relocs[i]; r.Kind == AbsCall {
			called = append(called, r.Symbol)
		}
	}
	if want := []string{"call", "apply"}; !slices.Equal(kernels, want) {
		t.Errorf("kernels %q, want %q", kernels, want)
	}
	slices.Sort(called)
	if want := []string{"_Z5otheri", "_Z6squarei", "_Z6squarei"}; !slices.Equal(called, want) {
		t.Errorf("calls of %q, want %q", called, want)
	}
	if len(f.Codes) != 3 || len(f.Codes[0].Functions) != 1 || f.Codes[0].Functions[0].Kind != DeviceFunction {
		t.Error("square is no device function of its own section")
	}
	if frames := f.Codes[0].Frames(0x80); len(frames) == 0 || frames[0].Line != 4 {
		t.Errorf("lines of square: %v", frames)
	}
}
