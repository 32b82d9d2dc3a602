package mem

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gpa/emu/arch"
)

// TestPlacesOfSets holds that L2 has storage only for sets that were used since it was last empty, and that a line comes without sectors.
func TestPlacesOfSets(t *testing.T) {
	const sets, ways, set = 1 << 16, 4, 7
	c := newSectored(places{l2Sets: sets, whole: newIndex(sets)}, ways)
	for range 3 {
		for line := range uint64(ways + 1) {
			if l := c.find(line, set); l != nil {
				t.Fatalf("line %d is there before it was added", line)
			}
		}
		for line := range uint64(ways + 1) {
			l, _ := c.add(line, set)
			if l.valid != 0 {
				t.Errorf("line %d comes with sectors %#x", line, l.valid)
			}
			l.valid = 0xf
		}
		if len(c.heads) != c.stride || c.groups != 1 {
			t.Errorf("%d words of heads and %d groups for one set of %d ways", len(c.heads), c.groups, ways)
		}
		c.clear()
	}
}

// A recency is a set of a cache written down plainly: its lines, that of the last use first.
type recency []uint64

// look looks a line up, and adds it where it is not there. It returns the line that makes way, if one does.
func (r *recency) look(line uint64, ways int) (hit bool, old uint64, replaced bool) {
	if i := slices.Index(*r, line); i >= 0 {
		*r = slices.Insert(slices.Delete(*r, i, i+1), 0, line)
		return true, 0, false
	}
	*r = slices.Insert(*r, 0, line)
	if len(*r) > ways {
		old = (*r)[ways]
		*r = (*r)[:ways]
		return false, old, true
	}
	return false, 0, false
}

// TestOldestMakesWay holds that L1 and L2 of any number of ways keep the lines of a set that were looked up last, in whichever order
// lines come, and empty ones nothing.
func TestOldestMakesWay(t *testing.T) {
	for _, ways := range []int{1, 2, 3, 4, 7, 8, 9, 12, 16, 20, 25, 32} {
		random := rand.New(rand.NewPCG(1, uint64(ways)))
		const sets, last = 37, 1 << 50
		l2 := newSectored(places{l2Sets: sets, whole: newIndex(sets)}, ways)
		var l1 *dataCache
		if ways <= maxWaysL1 {
			l1 = newDataCache(sets, ways)
		}
		for range 2 {
			var plain [sets]recency
			for range 20_000 {
				line := uint64(random.IntN(2 * sets * ways))
				if random.IntN(2) == 0 {
					line = last - line
				}
				hit, old, replaced := plain[line%sets].look(line, ways)
				if got := l2.find(line, l2.set(line)) != nil; got != hit {
					t.Fatalf("%d ways of L2: line %d is there: %v", ways, line, got)
				}
				if !hit {
					l, v := l2.add(line, l2.set(line))
					if l.line != line || v.dirty != 0 != replaced || replaced && v.line != old {
						t.Fatalf("%d ways of L2: line %d takes the place of %d, want %d: %v", ways, line, v.line, old, replaced)
					}
					l.dirty = 1
				}
				if l1 == nil {
					continue
				}
				word, place := l1.find(line, l1.setOf(line))
				if got := word != nil; got != hit {
					t.Fatalf("%d ways of L1: line %d is there: %v", ways, line, got)
				}
				if !hit {
					word, place = l1.add(line, l1.setOf(line))
				}
				if *word>>wordShift != line+1 || int(place)/ways != int(line%sets) {
					t.Fatalf("%d ways of L1: line %d has word %#x, place %d", ways, line, *word, place)
				}
			}
			l2.clear()
			if l1 != nil {
				l1.clear()
			}
		}
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
