package launch

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/cubin/sass"
	"gpa/emu"
)

// TestDevicePrintf compares the lines that a kernel prints with those of the reference, which has them thread by thread:
// the order among the threads of a warp is open.
func TestDevicePrintf(t *testing.T) {
	want, err := os.ReadFile("../../kernels/control/printf/expected.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range architectures {
		level := emu.TimingNone
		if a == sass.SM70 {
			level = emu.TimingFull
		}
		var got strings.Builder
		runAll(t, open(t, "../../kernels/control/printf/launch.yaml", a, emu.Options{Timing: level, Stdout: &got}))
		if diff := cmp.Diff(sortedLines(string(want)), sortedLines(got.String())); diff != "" {
			t.Errorf("sm_%d: expected lines (-), printed ones (+):\n%s", a, diff)
		}
	}
}

func sortedLines(text string) []string { return slices.Sorted(strings.Lines(text)) }

// TestDeviceAssert lets an assertion of a kernel fail in one thread.
func TestDeviceAssert(t *testing.T) {
	for _, a := range architectures {
		level := emu.TimingNone
		if a == sass.SM70 {
			level = emu.TimingFull
		}
		s := open(t, "../../kernels/control/assert/launch.fail.yaml", a, emu.Options{Timing: level})
		_, err := s.Run(context.Background(), 0, nil)
		var f *emu.Fault
		if !errors.As(err, &f) {
			t.Fatalf("sm_%d: %v, want a fault", a, err)
		}
		if f.Kind != emu.AssertionFailed || !strings.HasSuffix(f.Detail, "in[i] >= 0 && in[i] < limit") || len(f.Frames) == 0 || f.Frames[0].Line != 6 {
			t.Errorf("sm_%d: %v", a, f)
		}
	}
}
