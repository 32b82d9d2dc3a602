package record

import "gpa/profiler"

// The rounds of a loop are counted for each lane: lanes of a warp that have parted may be in different ones.

// A moment is a time of a block: the bytes that it has accessed until then.
type moment uint32

// kept is the number of rounds of which the beginning is known: the present one and those before.
const kept = 3

// rounds are those that the lanes of a warp make of one loop.
type rounds struct {
	in      uint32 // lanes that are in the loop
	all     uint32 // that have ever been
	apart   bool   // perhaps not all of these are in the same round
	visits  [32]uint32
	round   [32]uint32       // of the visit, from 1
	entered [32]moment       // the present visit, or the last
	began   [kept][32]moment // the present round, the one before, …
}

// begin is called when lanes come to the header of the loop.
func (r *rounds) begin(active uint32, now moment) {
	r.all |= active
	r.apart = (r.in != 0 && r.apart) || active != r.in|active || active != r.all
	for lane := range r.round {
		bit := uint32(1) << lane
		if active&bit == 0 {
			continue
		}
		if r.in&bit == 0 {
			r.visits[lane]++
			r.round[lane], r.entered[lane] = 1, now
			for k := range r.began {
				r.began[k][lane] = now
			}
			continue
		}
		r.round[lane]++
		for k := kept - 1; k > 0; k-- {
			r.began[k][lane] = r.began[k-1][lane]
		}
		r.began[0][lane] = now
	}
	r.in |= active
}

// at returns the round of a lane in which a moment was, of the present visit; false where it was before that. Of rounds long ago it
// is the last of them that it may have been.
func (r *rounds) at(lane int, t moment) (uint32, bool) {
	if t < r.entered[lane] {
		return 0, false
	}
	n := r.round[lane]
	for k := range r.began {
		if t >= r.began[k][lane] {
			return n - min(uint32(k), n), true
		}
	}
	return n - min(kept, n), true
}

// An origin is an access that was before another one.
type origin struct {
	site       int // its instruction, 1 for the first of the module
	warp, lane uint8
	time       moment
}

// A carrying says between rounds of which loop a dependence is.
type carrying struct {
	loop int16 // of the later access's section, -1 for none
	next bool  // from one round to the next
}

// together reports whether all lanes of a warp are in the same rounds of the loops around an instruction.
func (b *block) together(at place, warp uint8) bool {
	c := &b.recorder.codes[at.code]
	loops := b.sections[at.code].loops
	for l := c.insts[at.inst].loop; l >= 0; l = c.loops[l].parent {
		if loops[l][warp].apart {
			return false
		}
	}
	return true
}

// A relation is how an earlier access and the present one are related: by a dependence of a kind, or as two reads of a value.
type relation uint8

const (
	readAgain    = relation(profiler.OutputDependence) + 1
	numRelations = readAgain + 1
)

// An outcome is what carried has found for a lane; it is the same for the others where all of them are together.
type outcome struct {
	site       int
	warp       uint8
	time       moment
	sameThread bool
	found      carrying
}

// carried returns the innermost loop around an earlier access and the present one of which they are not of the same round.
func (b *block) carried(of relation, from origin, warp, lane uint8) carrying {
	same := from.warp == warp && from.lane == lane
	o := &b.outcomes[of]
	if o.site == from.site && o.time == from.time && o.warp == from.warp && o.sameThread == same {
		return o.found
	}
	found := b.compare(from, b.at, warp, lane)
	if b.inStep && b.together(b.at, from.warp) {
		*o = outcome{from.site, from.warp, from.time, same, found}
	}
	return found
}

// compare returns the innermost loop around an earlier access and the present one of which they are not of the same round.
func (b *block) compare(from origin, at place, warp, lane uint8) carrying {
	c := &b.recorder.codes[at.code]
	i := from.site - 1 - c.first
	if i < 0 || i >= len(c.insts) {
		return carrying{loop: -1}
	}
	loops := b.sections[at.code].loops
	for l := c.common(i, at.inst); l >= 0; l = c.loops[l].parent {
		now := &loops[l][warp]
		then, ok := loops[l][from.warp].at(int(from.lane), from.time)
		if !ok || loops[l][from.warp].visits[from.lane] != now.visits[lane] {
			continue
		}
		switch n := now.round[lane]; {
		case then < n:
			return carrying{l, then+1 == n}
		default: // the same round, or the other thread is ahead
			return carrying{loop: -1}
		}
	}
	return carrying{loop: -1}
}

// follow takes note that a warp has come to the beginning of a basic block.
func (b *block) follow(s *sectionRounds, at place, warp int, active uint32) {
	c := &b.recorder.codes[at.code]
	in, last := &c.insts[at.inst], &s.last[warp]
	left := last.loop != in.loop || last.fn != in.fn || active&^last.active != 0 // perhaps
	*last = whereabouts{in.loop, in.fn, active}
	for l := 0; left && l < len(c.loops); l++ {
		r := &s.loops[l][warp]
		if r.in&active != 0 && c.loops[l].fn == in.fn && !c.inside(in.loop, int16(l)) {
			r.in &^= active
		}
	}
	if in.header >= 0 {
		s.loops[in.header][warp].begin(active, b.now)
	}
}

// sectionRounds are the rounds of the loops of a section, by loop and warp.
type sectionRounds struct {
	loops [][]rounds
	last  []whereabouts // by warp
}

// whereabouts are where a warp was last.
type whereabouts struct {
	loop, fn int16
	active   uint32
}
