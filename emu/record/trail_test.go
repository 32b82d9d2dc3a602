package record_test

import (
	"context"
	"testing"

	"gpa/emu"
	"gpa/emu/record"
	"gpa/profiler"
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

// TestFeeds holds what launches load of the one before, whatever the shapes of their blocks: butterflies all of it, each thread from its own block;
// of Jacobi's steps nobody stores the border, and threads at the edges of blocks load from two.
func TestFeeds(t *testing.T) {
	for _, c := range []struct {
		kernel string
		least  float64 // share of what is loaded that the launch before has stored
		left   int64   // bytes
		blocks int
	}{
		{"tuning/butterflies_launches", 1, 1 << 20, 1},
		{"applied/jacobi", .5, 241680, 2},
	} {
		s := session(t, ofCorpus(t, c.kernel), emu.Options{})
		var trail record.Trail
		var x *profiler.Inheritance
		for i := range s.File.Launches {
			r := record.Recorder{Trail: &trail}
			l, err := s.Launch(i)
			if err != nil {
				t.Fatal(err)
			}
			l.Recorder = &r
			if _, err := s.Machine.Launch(context.Background(), l); err != nil {
				t.Fatal(err)
			}
			x = r.Inherits()
		}
		if len(x.Feeds) == 0 {
			t.Errorf("%s: nothing is loaded of what was stored", c.kernel)
			continue
		}
		f := &x.Feeds[0]
		if f.Back != 1 || float64(f.Bytes) < c.least*float64(x.Loaded) || f.Left != c.left || f.Blocks != c.blocks || len(x.Overwrites) == 0 || x.Overwrites[0] != 1 {
			t.Errorf("%s: %+v of %d bytes; it overwrites %v", c.kernel, *f, x.Loaded, x.Overwrites)
		}
		for _, l := range f.Loads {
			if l.Bytes > l.Of || l.Bytes == 0 {
				t.Errorf("%s: %+v", c.kernel, l)
			}
		}
	}
}
