package program

import (
	"context"
	"encoding/binary"
	"fmt"

	"gpa/emu"
	"gpa/emu/cuda"
)

// Programs launch the same thing again and again: steps of a simulation, rounds of a benchmark, layers. With cold caches a launch takes the time that its
// instructions and addresses make, so that launches of the same shape with the same arguments take the same time as long as what they read leads
// them the same way. Two of them are timed. Where these took the same time, further ones that execute as many instructions count as the last
// that was timed; of these each one at a power of two is timed again, and where it took another time all of the following are.

// sameTime is how far launches may differ in time that count as equal.
const sameTime = 0.01

// A series is the launches of one shape with the same arguments.
type series struct {
	launches int // so far
	next     int // the number of the next to be timed; those before it count as the last that was
	varies   bool
	last     *emu.Result // the last that was timed
	index    int         // its launch in the profile
}

// seriesOf returns the series of a launch.
func (p *Program) seriesOf(e *Kernel, l *cuda.Launch) *series {
	key := seriesKey(e, l)
	s := p.journal.series[key]
	if s == nil {
		s = &series{}
		p.journal.series[key] = s
	}
	return s
}

// seriesKey tells series apart: by all that the program gives to a launch, with its addresses told by the sizes of their allocations, so that
// buffers may change places.
func seriesKey(e *Kernel, l *cuda.Launch) string {
	key := fmt.Appendf(nil, "%p %v %v %v %d %t", e.Kernel, l.Launch.Grid, l.Launch.Block, l.Launch.Cluster, l.Launch.SharedDynamic, l.Launch.Cooperative)
	rest := l.Launch.Params
	for ; len(rest) >= 8; rest = rest[8:] { // addresses are aligned
		word := binary.LittleEndian.Uint64(rest)
		if base, size := l.Allocation(word); size > 0 {
			key = fmt.Appendf(key, " %d of %d bytes", word-base, size)
		} else {
			key = fmt.Appendf(key, " %x", word)
		}
	}
	return string(fmt.Appendf(key, " %x", rest))
}

// untimed says whether the next launch of the series need not be timed.
func (s *series) untimed() bool { return !s.varies && s.launches < s.next }

// timed notes a launch that was timed and is the index-th of the profile.
func (s *series) timed(r *emu.Result, index int) {
	if s.last != nil {
		a, b := float64(s.last.Cycles), float64(r.Cycles)
		s.varies = s.varies || a > b*(1+sameTime) || b > a*(1+sameTime)
		if s.next = 2 * s.launches; !s.like(r) {
			s.next = 0 // this one did something else: the one after it tells more
		}
	}
	s.last, s.index = r, index
}

// like reports whether a launch has executed what the last that was timed has.
func (s *series) like(r *emu.Result) bool {
	return r.WarpInstructions == s.last.WarpInstructions && r.ThreadInstructions == s.last.ThreadInstructions
}

// again runs a launch of a series for its effect, and lets it count as the one that was timed if it executes as much.
func (p *Program) again(ctx context.Context, e *Kernel, l *cuda.Launch, s *series) (*emu.Result, error) {
	l.Launch.Untimed = true
	result, err := l.Machine.Launch(ctx, l.Launch)
	if err != nil || result == nil {
		return result, err
	}
	if !s.like(result) {
		s.next = 0
		return result, nil
	}
	result.Cycles = s.last.Cycles // as the program's clock goes
	p.journal.profile.Launches[s.index].Facts.Alike++
	e.Seconds += float64(result.Cycles) / result.Facts.Model.Clock.Value
	return result, nil
}
