package record

import (
	"math/bits"

	"gpa/emu"
	"gpa/profiler"
)

// maxBarriers is the number of barrier instructions of which combinations are told apart, a bit each.
const maxBarriers = 64

// barriers are what the CTA barriers of a block order. Each time that all of its threads have arrived at one is an episode; what
// was before one and what is behind it are ordered.
type barriers struct {
	threads int // of the block
	epoch   uint32
	sites   []barrier
	arrived [emu.NumBarriers]gathering
	sets    map[uint64]bool // of barriers, a bit each, that order accesses of different warps only together

	// What crossed has found for an epoch.
	asked [2]uint32
	found uint64
}

// A barrier is a barrier instruction.
type barrier struct {
	at              place
	episodes        int64
	last            uint32    // its last episode
	marked          [2]uint32 // the last one that was found to order accesses of different warps, and of one
	between, within int64
	partial         bool
}

// A gathering is who has arrived at a barrier since it completed.
type gathering struct {
	sites   []int
	partial bool
}

// arrive takes note of lanes that arrive.
func (b *barriers) arrive(at place, a *emu.Arrival) {
	g := &b.arrived[a.Barrier]
	site := b.site(at)
	known := false
	for _, s := range g.sites {
		known = known || s == site
	}
	if !known {
		g.sites = append(g.sites, site)
	}
	if !a.Waits || a.Count != 0 && a.Count < b.threads {
		g.partial = true
	}
}

func (b *barriers) site(at place) int {
	for i := range b.sites {
		if b.sites[i].at == at {
			return i
		}
	}
	b.sites = append(b.sites, barrier{at: at})
	return len(b.sites) - 1
}

// release ends an episode.
func (b *barriers) release(number int) {
	g := &b.arrived[number]
	partial := g.partial || len(g.sites) != 1
	if !partial {
		b.epoch++
	}
	for _, i := range g.sites {
		s := &b.sites[i]
		s.episodes++
		if partial {
			s.partial = true
		} else {
			s.last = b.epoch
		}
	}
	*g = gathering{sites: g.sites[:0]}
}

// order takes note of an access that must come after one of an epoch, made by another thread of the same warp or of another one.
func (b *barriers) order(epoch uint32, sameWarp bool) {
	if epoch == b.epoch {
		return
	}
	set := b.crossed(epoch)
	switch {
	case set == 0:
	case set&(set-1) != 0:
		if !sameWarp {
			b.sets[set] = true
		}
	default:
		s, k := &b.sites[bits.TrailingZeros64(set)], 0
		if sameWarp {
			k = 1
		}
		if s.marked[k] == s.last {
			return
		}
		s.marked[k] = s.last
		if sameWarp {
			s.within++
		} else {
			s.between++
		}
	}
}

// crossed returns the barriers that all threads have passed since an epoch.
func (b *barriers) crossed(epoch uint32) uint64 {
	if asked := [2]uint32{epoch + 1, b.epoch}; b.asked != asked {
		b.asked, b.found = asked, 0
		for i := range b.sites[:min(len(b.sites), maxBarriers)] {
			if b.sites[i].last > epoch {
				b.found |= 1 << i
			}
		}
	}
	return b.found
}

// mergeBarriers adds up what the barriers of several blocks order.
func (r *Recorder) mergeBarriers(out *profiler.Record) {
	sum := map[profiler.Place]*profiler.BarrierRecord{}
	var sets [][]profiler.Place
	for _, b := range r.watched() {
		for i := range b.barriers.sites {
			s := &b.barriers.sites[i]
			at := r.place(s.at)
			if sum[at] == nil {
				sum[at] = &profiler.BarrierRecord{Place: at}
			}
			t := sum[at]
			t.Episodes += s.episodes
			t.Between += s.between
			t.Within += s.within
			t.Partial = t.Partial || s.partial || i >= maxBarriers
		}
	}
	for _, t := range sum {
		out.Barriers = append(out.Barriers, *t)
	}
	for _, b := range r.watched() {
		var needed uint64
		for i := range b.barriers.sites[:min(len(b.barriers.sites), maxBarriers)] {
			if sum[r.place(b.barriers.sites[i].at)].Between > 0 {
				needed |= 1 << i
			}
		}
		for set := range b.barriers.sets {
			if set&needed == 0 {
				sets = append(sets, r.places(&b.barriers, set))
			}
		}
	}
	out.Together = minimal(sets)
}
