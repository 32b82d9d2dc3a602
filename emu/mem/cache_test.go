package mem

import (
	"testing"

	"gpa/emu/arch"
)

// TestPlacesOfSets holds that a cache keeps the lines that were looked up last, set by set, and that it has places only for sets that
// were used since it was last empty.
func TestPlacesOfSets(t *testing.T) {
	const sets, ways, set = 1 << 16, 4, 7
	c := newSectored(sets, ways)
	for range 3 {
		for line := range uint64(ways + 1) {
			if _, hit := c.place(line, set); hit {
				t.Fatalf("line %d is there before it was added", line)
			}
		}
		for line := range uint64(ways + 1) {
			place, _ := c.add(line, set)
			if l := c.state(place); l.valid != 0 {
				t.Errorf("line %d comes with sectors %#x", line, l.valid)
			} else {
				l.valid = 0xf
			}
		}
		for line := range uint64(ways + 1) {
			if _, hit := c.place(line, set); hit != (line > 0) {
				t.Errorf("line %d of %d is there: %v", line, ways+1, hit)
			}
		}
		if got := len(c.tag); got != 2*ways || len(c.index) != got {
			t.Errorf("%d places for one set of %d ways", got, ways)
		}
		c.clear()
	}
}

// BenchmarkRestart measures how long all caches of a GPU take to be empty for another launch.
func BenchmarkRestart(b *testing.B) {
	for _, name := range []string{"v100", "a100", "h100pcie"} {
		b.Run(name, func(b *testing.B) {
			m, err := arch.ByName(name)
			if err != nil {
				b.Fatal(err)
			}
			cfg := NewConfig(m, 0, false)
			d := NewDevice(cfg)
			sms := make([]*SM, cfg.SMs)
			for i := range sms {
				sms[i] = NewSM(cfg, i)
			}
			for b.Loop() {
				d.Restart(cfg, false)
				for i := range sms {
					sms[i] = sms[i].Successor(cfg)
				}
			}
		})
	}
}
