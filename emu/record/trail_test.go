package record_test

import (
	"context"
	"testing"

	"gpa/emu"
	"gpa/emu/record"
)

// TestInherits holds what launches take over: butterflies of a row stay in the block that has the row, and nothing is known of launches
// before a cut; what neighbours have stored, or a launch of another shape, keeps launches apart.
func TestInherits(t *testing.T) {
	for _, c := range []struct {
		kernel string
		cut    int   // the launch before which the trail is cut, 0 for none
		apart  []int // by launch, -1 where nothing is known of those before
		own    bool  // all that launches behind the first load
	}{
		{"tuning/butterflies_launches", 0, []int{-1, 0, 0, 0, 0, 0, 0, 0, 0}, true},
		{"tuning/butterflies_launches", 2, []int{-1, 0, -1, 0, 0, 0, 0, 0, 0}, true},
		{"applied/jacobi", 0, []int{-1, 1}, false},
		{"basic/compact", 0, []int{-1, 1, 1}, false},
	} {
		for _, timing := range []emu.TimingLevel{emu.TimingNone, emu.TimingFull} {
			s := session(t, ofCorpus(t, c.kernel), emu.Options{Timing: timing})
			var trail record.Trail
			for i := range s.File.Launches {
				if c.cut > 0 && i == c.cut {
					trail.Cut()
				}
				r := record.Recorder{Trail: &trail}
				l, err := s.Launch(i)
				if err != nil {
					t.Fatal(err)
				}
				l.Recorder = &r
				if _, err := s.Machine.Launch(context.Background(), l); err != nil {
					t.Fatal(err)
				}
				x := r.Inherits()
				if x == nil && c.apart[i] == -1 {
					continue
				}
				if x == nil || x.Apart != c.apart[i] || c.own && (x.Own != x.Loaded || len(x.Loads) != 2) {
					t.Errorf("%s, %v: launch %d inherits %+v, apart should be %d", c.kernel, timing, i, x, c.apart[i])
				}
			}
		}
	}
}
