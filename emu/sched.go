package emu

import (
	"math/bits"

	"gpa/emu/arch"
	"gpa/emu/mem"
)

// A unit is what a ready warp may still have to wait for: the input of a pipe, or a place in a queue of its sub-core.
// The pipes come first.
type unit uint8

// The units beside the pipes.
const (
	unitMIO unit = unit(arch.NumPipes) + iota
	unitLG
	unitTEX
	unitNone
	numUnits
)

// unitOf returns the unit that an instruction needs.
func unitOf(t *timing) unit {
	switch t.path {
	case pathPipe, pathCounted:
		return unit(t.pipe)
	case pathXU, pathShuffle, pathShared, pathConst, pathBarrier:
		return unitMIO
	case pathGlobal:
		return unitLG
	case pathTexture:
		return unitTEX
	}
	return unitNone
}

// A subcore is one of the parts of an SM: a warp scheduler with the warps that it holds, and their pipes. It issues at
// most one instruction a cycle: from the warp that it issued from last if that is ready, else from the youngest that is
// (Huerta et al., MICRO 2025, section 5.1). Where the model says so, warps that have found the queue for local and global
// memory full enter it in turn, those of older blocks first.
//
// It does not tick. Each warp has a cycle from which on it is ready, fixed when its last instruction issued. Warps that
// are not ready yet are waiting; the others are listed by the unit that they need.
type subcore struct {
	id    int
	path  *mem.SM
	warps []*resident // the youngest last; a bit of the masks below is an index in it
	born  int64       // when the youngest was placed
	ended int         // of the warps: that have ended but for their stores

	waiting uint64
	wake    int64 // the first cycle in which one of the waiting is ready
	ready   [numUnits]uint64
	units   uint32 // which of ready are not empty
	inLine  uint64 // where inTurn: which have found the queue for local and global memory full
	inTurn  bool

	at         int64 // nothing issues before this cycle
	held       int64 // nothing issues before this cycle as the dispatcher holds back, or the scheduler waits for a constant
	dispatched int64 // the part of held that is the dispatcher's: it has read the operands of what issued last
	pipes      [arch.NumPipes]int64
	tensor     int64 // cycle from which on it can access tensor memory
	ports      registerPorts
	writes     writePorts
	last       *resident
	ack        int64 // cycles from the arrival of a store in L2 to its acknowledgement
	operand    int64 // cycles that the scheduler waits for the constant operand of a warp that it has chosen

	// What issued last, for samples of that cycle.
	issuedAt   int64
	issued     *op
	issuedUnit unit
	freeBefore int64 // when issuedUnit was free before
}

// free returns the first cycle in which a unit takes an instruction.
func (s *subcore) free(u unit) int64 {
	switch {
	case u < unit(arch.NumPipes):
		return s.pipes[u]
	case u == unitMIO:
		return s.path.MIOReady(s.id)
	case u == unitLG:
		return s.path.LGReady(s.id)
	case u == unitTEX:
		return s.path.TEXReady(s.id)
	}
	return 0
}

// pick returns the warp that issues in cycle t, or nil and the first cycle in which one might.
func (s *subcore) pick(t int64) (*resident, int64) {
	if s.held > t {
		return nil, s.held
	}
	if s.wake <= t {
		s.rouse(t)
	}
	var candidates uint64
	next := s.wake
	for m := s.units; m != 0; m &= m - 1 {
		u := unit(bits.TrailingZeros32(m))
		f := s.free(u)
		switch {
		case f > t:
			next = min(next, f)
			if u == unitLG && s.inTurn {
				s.inLine |= s.ready[u]
			}
		case u == unitLG && s.inLine != 0:
			candidates |= 1 << s.first(s.inLine)
		default:
			candidates |= s.ready[u]
		}
	}
	if candidates == 0 {
		return nil, next
	}
	v := s.warps[bits.Len64(candidates)-1]
	if s.last != nil && candidates>>s.last.place&1 != 0 {
		v = s.last
	}
	if v.constant > t {
		return nil, s.miss(v, t)
	}
	return v, t
}

// miss takes back a warp that was chosen in cycle t, as its constant operand is not there, and returns when the scheduler turns to
// another one (Huerta et al., section 5.1).
func (s *subcore) miss(v *resident, t int64) int64 {
	s.unlist(v)
	v.awaited, v.ready = true, v.constant
	s.wake = min(s.wake, v.ready)
	s.held = min(v.constant, t+s.operand)
	return s.held
}

// first returns the place of the warp whose turn it is: of the oldest block the one that has been ready for longest, of
// several the youngest.
func (s *subcore) first(warps uint64) int {
	at := bits.TrailingZeros64(warps)
	for m := warps & (warps - 1); m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		v, w := s.warps[i], s.warps[at]
		if v.block == w.block && v.ready <= w.ready { // the blocks are in order
			at = i
		}
	}
	return at
}

// rouse moves the waiting warps that are ready in cycle t to the lists of their units.
func (s *subcore) rouse(t int64) {
	s.wake = mem.Never
	for m := s.waiting; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		v := s.warps[i]
		if v.ready > t {
			s.wake = min(s.wake, v.ready)
			continue
		}
		if s.writes.after > 0 && v.ready == t && v.late(&s.writes, t) {
			v.settle()
			s.wake = min(s.wake, v.ready)
			continue
		}
		s.waiting &^= 1 << i
		s.ready[v.unit] |= 1 << i
		s.units |= 1 << v.unit
	}
}

// unlist takes a warp that issues from the list of its unit and makes it wait.
func (s *subcore) unlist(v *resident) {
	if s.ready[v.unit] &^= 1 << v.place; s.ready[v.unit] == 0 {
		s.units &^= 1 << v.unit
	}
	s.inLine &^= 1 << v.place
	s.waiting |= 1 << v.place
}

// expect notes that a waiting warp is ready in another cycle than before.
func (s *subcore) expect(v *resident) {
	s.wake = min(s.wake, v.ready)
	s.at = min(s.at, max(v.ready, s.issuedAt+1))
}

// join adds a warp, the youngest, that is ready from cycle v.ready on.
func (s *subcore) join(v *resident) {
	v.place = uint8(len(s.warps))
	s.warps, s.born = append(s.warps, v), max(s.born, v.born)
	s.waiting |= 1 << v.place
	s.expect(v)
}

// leave removes a waiting warp.
func (s *subcore) leave(v *resident) {
	i := int(v.place)
	s.warps = append(s.warps[:i], s.warps[i+1:]...)
	for _, w := range s.warps[i:] {
		w.place--
	}
	s.waiting, s.inLine = without(s.waiting, i), without(s.inLine, i)
	for u := range s.ready {
		s.ready[u] = without(s.ready[u], i)
	}
	if s.last == v {
		s.last = nil
	}
	if v.ended {
		s.ended--
	}
	if len(s.warps) == 0 { // nothing to look at until another joins
		s.at, s.wake = mem.Never, mem.Never
	}
}

// without takes a bit out of a mask and closes the gap.
func without(mask uint64, i int) uint64 {
	low := uint64(1)<<i - 1
	return mask&low | mask>>1&^low
}
