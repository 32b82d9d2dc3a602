package advisor

import (
	"path/filepath"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
	"gpa/cubin"
)

// TestWithoutCounters advises on samples alone, as those of a source page without executions: nothing is known of how often an instruction was executed.
func TestWithoutCounters(t *testing.T) {
	files, err := filepath.Glob("../kernels/*/*/*.sm_80.cubin.gz")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d kernels, %v", len(files), err)
	}
	for _, file := range files {
		module, err := cubin.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range module.Kernels {
			launch := sasstest.SampleEverywhere(module, k.Code.Index)
			launch.PCs = nil
			r, err := blamer.Analyze(launch, module, blamer.Options{})
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if _, err := Advise(r, Options{}); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
