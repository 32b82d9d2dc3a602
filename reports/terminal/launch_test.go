package terminal

import (
	"testing"
	"time"

	"gpa"
	"gpa/emu"
)

// TestLaunchProgress reads how far launches have come after each of them.
func TestLaunchProgress(t *testing.T) {
	for _, level := range []emu.TimingLevel{emu.TimingNone, emu.TimingFull} {
		r, err := gpa.Load("bfs", gpa.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Session(t.Context(), level, gpa.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := newLaunchProgress(r, s.Machine.Progress())
		p.clock = func() time.Time { return p.began.Add(10 * time.Second) }
		if got, want := p.String(), "0 of 376 blocks, 0.0 M warp instructions"; got != want {
			t.Errorf("%s, before the first launch: %q instead of %q", level, got, want)
		}
		result, err := s.Run(t.Context(), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.String(), "47 of 376 blocks, about 70 s left, 0.0 M warp instructions"; got != want {
			t.Errorf("%s, after one launch of eight: %q instead of %q", level, got, want)
		}
		instructions := result.WarpInstructions
		if got := s.Machine.Progress().WarpInstructions(); got != instructions {
			t.Errorf("%s: %d warp instructions, the launch executed %d", level, got, instructions)
		}
	}
}
