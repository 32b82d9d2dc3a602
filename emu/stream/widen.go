package stream

import (
	"fmt"
	"math/bits"
	"slices"
)

// Widen makes several executions of a load or store that follow each other in a loop one wide access, as where each thread takes several
// neighbouring elements a round: neighbouring threads then access neighbouring vectors instead of neighbouring words. The bytes that a
// warp accesses stay the same, and each of its lanes gets a run of them. Of the rounds but the first of such a vector the loop's own
// instructions are gone: the loop has as many fewer rounds.
//
// Executions are left as they are whose lanes do not access words that follow each other, that have other lanes than the first, or of
// which too few are left at the end of the loop.
type Widen struct {
	single
	Arrays   []map[int32]bool // loads or stores of one array, as those of an unrolled loop are
	Loop     Loop
	Overhead map[int32]bool // instructions that each round has, whatever it accesses: addresses, the number of the round, the branch
	Factor   int            // words of a vector
	// Nest: the loop has loops in it, so that an access is executed several times a round: a vector has the n-th of each of its rounds.
	Nest bool
}

// widest is what a thread can access at once, bytes.
const widest = 16

// Apply merges accesses.
func (w *Widen) Apply(_ Program, blocks []*Block) ([]*Block, error) {
	if w.Factor < 2 || w.Factor > widest {
		return nil, fmt.Errorf("widen: vectors of %d elements", w.Factor)
	}
	b := blocks[0]
	for i := range b.Warps {
		old := &b.Warps[i]
		gone := make([]bool, len(old.Events))
		for _, s := range segments(old.Events, []Loop{w.Loop}) {
			switch {
			case s.loop < 0:
			case w.Nest:
				w.nest(b, old.Events, &s, gone)
			default:
				w.segment(b, old.Events, &s, gone)
			}
		}
		drop(old, gone)
	}
	return blocks, nil
}

// segment widens the accesses of the rounds of a loop.
func (w *Widen) segment(b *Block, events []Event, s *segment, gone []bool) {
	needed := make([]bool, len(s.rounds)) // rounds in which an access begins a vector, or is alone
	vectors := false
	for _, ops := range w.Arrays {
		var run []int
		alone := func() {
			for _, i := range run {
				needed[s.roundOf(i)] = true
			}
			run = run[:0]
		}
		for i := s.first; i < s.last; i++ {
			if !ops[events[i].Op] || events[i].Kind != RefAccess {
				continue
			}
			if len(run) > 0 && !b.follows(&events[run[0]], &events[i]) {
				alone()
			}
			if run = append(run, i); len(run) < w.Factor || int(b.Access[events[i].Ref].Size)*w.Factor > widest {
				continue
			}
			b.vector(events, run)
			needed[s.roundOf(run[0])] = true
			for _, k := range run[1:] {
				gone[k] = true
			}
			run, vectors = run[:0], true
		}
		alone()
	}
	for r := range s.rounds {
		if !vectors || needed[r] {
			continue
		}
		first, last := s.round(r)
		for i := first; i < last; i++ {
			gone[i] = gone[i] || w.Overhead[events[i].Op]
		}
	}
}

// nest widens the accesses of the rounds of a loop with loops in it. Rounds go together whose accesses all do.
func (w *Widen) nest(b *Block, events []Event, s *segment, gone []bool) {
	for r := 0; r < len(s.rounds); {
		runs := w.runs(b, events, s, r)
		if runs == nil {
			r++
			continue
		}
		for _, run := range runs {
			b.vector(events, run)
			for _, k := range run[1:] {
				gone[k] = true
			}
		}
		_, end := s.round(r + w.Factor - 1)
		for i := s.rounds[r+1]; i < end; i++ {
			gone[i] = gone[i] || w.Overhead[events[i].Op]
		}
		r += w.Factor
	}
}

// runs are the accesses that become vectors of as many rounds from one on as a vector has words, nil where not all of them can.
func (w *Widen) runs(b *Block, events []Event, s *segment, from int) (runs [][]int) {
	if from+w.Factor > len(s.rounds) {
		return nil
	}
	for k := range w.Factor {
		first, last := s.round(from + k)
		at := 0
		for _, ops := range w.Arrays {
			for i := first; i < last; i++ {
				if !ops[events[i].Op] || events[i].Kind != RefAccess {
					continue
				}
				switch {
				case int(b.Access[events[i].Ref].Size)*w.Factor > widest:
					return nil
				case k == 0:
					runs = append(runs, nil)
				case at >= len(runs) || !b.follows(&events[runs[at][0]], &events[i]):
					return nil
				}
				runs[at] = append(runs[at], i)
				at++
			}
		}
		if at != len(runs) {
			return nil
		}
	}
	return runs
}

// roundOf is the round that an event belongs to.
func (s *segment) roundOf(event int) (r int) {
	for r+1 < len(s.rounds) && event >= s.rounds[r+1] {
		r++
	}
	return r
}

// follows reports whether two accesses can be parts of a vector.
func (b *Block) follows(x, y *Event) bool {
	a, c := &b.Access[x.Ref], &b.Access[y.Ref]
	return a.Mask != 0 && a.Mask == c.Mask && a.Kind == c.Kind && a.Space == global && c.Space == global && a.Size == c.Size &&
		a.at < 0 && c.at < 0 && a.stride == int32(a.Size) && c.stride == int32(c.Size)
}

// vector makes the first of some accesses one of all their bytes: its lanes go through those of one access after the other.
func (b *Block) vector(events []Event, run []int) {
	first := b.Access[events[run[0]].Ref]
	var addr [warpLanes]uint64
	size, lanes := uint64(first.Size), uint64(bits.OnesCount32(first.Mask))
	n := uint64(0) // of the lane
	for m := first.Mask; m != 0; m &= m - 1 {
		element := n * uint64(len(run))
		from := b.Access[events[run[element/lanes]].Ref].base
		addr[bits.TrailingZeros32(m)] = from + element%lanes*size
		n++
	}
	wide := Access{Kind: first.Kind, Space: first.Space, Size: uint8(size) * uint8(len(run))}
	events[run[0]].Ref = b.AddAccess(wide, first.Mask, &addr)
}

// Vectors makes one wide access of the accesses of each group, which go to words of a thread that follow each other: of loads at the
// place of the first, of stores at that of the last. Executions that do not belong together in this way are left as they are.
type Vectors struct {
	single
	Groups [][]int32 // instructions of one basic block each, in their order
}

// Apply merges accesses.
func (v *Vectors) Apply(p Program, blocks []*Block) ([]*Block, error) {
	blocks[0].eachRun(p, v.Groups, blocks[0].merge)
	return blocks, nil
}

// eachRun calls do with the events of each execution of a group of instructions, and takes those out of the streams that it says are gone.
// Who waits for a load that is gone waits for the last one of its execution that is not.
func (b *Block) eachRun(p Program, groups [][]int32, do func(events []Event, run []int, gone []bool)) {
	runs := newRuns(groups)
	b.eachOf(p, func(w int, do func(run []int)) { runs.each(b, w, func(_ int, run []int) { do(run) }) }, do)
}

// eachOf is the same for the events that find hands on for a warp.
func (b *Block) eachOf(p Program, find func(w int, do func(run []int)), do func(events []Event, run []int, gone []bool)) {
	for i := range b.Warps {
		old := &b.Warps[i]
		gone := make([]bool, len(old.Events))
		var done [][]int
		find(i, func(run []int) {
			do(old.Events, run, gone)
			done = append(done, slices.Clone(run))
		})
		for _, run := range done {
			b.awaitKept(p, old.Events, run, gone)
		}
		drop(old, gone)
	}
}

// awaitKept makes events that wait for loads which are gone wait for the last of their run that is left.
func (b *Block) awaitKept(p Program, events []Event, run []int, gone []bool) {
	kept := -1
	for _, k := range run {
		if !gone[k] {
			kept = k
		}
	}
	if kept < 0 || b.Access[events[kept].Ref].Kind != load {
		return
	}
	to := p.Inst(events[kept].Op).Control.WriteBarrier
	for _, k := range run {
		from := p.Inst(events[k].Op).Control.WriteBarrier
		if !gone[k] || to < 0 || from < 0 || from == to {
			continue
		}
		left := 0 // loads by the counter of the one that is left, behind it
		for at := kept + 1; at < len(events); at++ {
			c := &p.Inst(events[at].Op).Control
			if at > k && c.WaitMask>>from&1 != 0 {
				b.leave(&events[at], c.WaitMask, int(to), left)
				break
			}
			if !gone[at] && c.WriteBarrier == to {
				left++
			}
		}
	}
}

// leave makes an event, whose instruction waits for the counters of a mask, leave at most so many outstanding in a counter.
func (b *Block) leave(e *Event, mask uint8, counter, left int) {
	w := ownWaits
	if e.Wait > 0 {
		w = b.Waits[e.Wait-1]
	}
	if w[counter] == ownWaits[counter] && mask>>counter&1 != 0 {
		return // it waits for all
	}
	if w[counter] == ownWaits[counter] || int(w[counter]) > left {
		w[counter] = uint8(min(left, allOutstanding))
		e.Wait = b.waitsOf(w)
	}
}

// Deal gives the elements that the threads of a warp access by each group of instructions to them anew, neighbouring ones to one thread: as
// few accesses of vectors as their bytes take, of loads at the places of the first ones, of stores at those of the last. Executions whose
// elements do not make up aligned vectors are left as they are.
type Deal struct {
	single
	Groups [][]int32 // instructions of one basic block each, in their order
}

// Apply deals the elements.
func (d *Deal) Apply(p Program, blocks []*Block) ([]*Block, error) {
	blocks[0].eachRun(p, d.Groups, blocks[0].deal)
	return blocks, nil
}

// deal makes vectors of the elements of several accesses.
func (b *Block) deal(events []Event, run []int, gone []bool) {
	first := b.Access[events[run[0]].Ref]
	var addr [warpLanes]uint64
	var elements []uint64
	for _, k := range run {
		a := &b.Access[events[k].Ref]
		if a.Mask == 0 || a.Mask != first.Mask || a.Kind != first.Kind || a.Space != first.Space || a.Size != first.Size {
			return
		}
		b.Addresses(a, &addr)
		for m := a.Mask; m != 0; m &= m - 1 {
			elements = append(elements, addr[bits.TrailingZeros32(m)])
		}
	}
	factor := 1 // elements of a vector
	for 2*factor <= len(run) && 2*factor*int(first.Size) <= widest {
		factor *= 2
	}
	slices.Sort(elements)
	if factor < 2 || !vectors(elements, factor, int(first.Size)) {
		return
	}
	wide, lanes := Access{Kind: first.Kind, Space: first.Space, Size: uint8(factor) * first.Size}, bits.OnesCount32(first.Mask)
	count := (len(elements)/factor + lanes - 1) / lanes // accesses
	for n, k := range run {
		if gone[k] = n >= count; first.Kind == store {
			gone[k] = n < len(run)-count
		}
		if gone[k] {
			continue
		}
		mask := uint32(0)
		for m := first.Mask; m != 0 && len(elements) > 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			addr[i], mask, elements = elements[0], mask|1<<i, elements[factor:]
		}
		events[k].Ref = b.AddAccess(wide, mask, &addr)
	}
}

// vectors reports whether elements in the order of their addresses make up vectors of so many each.
func vectors(elements []uint64, factor, size int) bool {
	if len(elements)%factor != 0 {
		return false
	}
	for i, at := range elements {
		if first := elements[i-i%factor]; first%uint64(factor*size) != 0 || at != first+uint64(i%factor*size) {
			return false
		}
	}
	return true
}

// merge makes one access of several whose words follow each other in each lane and make up an aligned vector.
func (b *Block) merge(events []Event, run []int, gone []bool) {
	first := b.Access[events[run[0]].Ref]
	var addr, other [warpLanes]uint64
	b.Addresses(&first, &addr)
	lane := bits.TrailingZeros32(first.Mask)
	low, high := int64(0), int64(first.Size) // from the address of the first
	for _, k := range run {
		a := &b.Access[events[k].Ref]
		if a.Mask == 0 || a.Mask != first.Mask || a.Kind != first.Kind || a.Space != first.Space {
			return
		}
		b.Addresses(a, &other)
		off := int64(other[lane] - addr[lane])
		for m := a.Mask; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros32(m); int64(other[i]-addr[i]) != off {
				return
			}
		}
		low, high = min(low, off), max(high, off+int64(a.Size))
	}
	size := uint64(high - low)
	aligned := uint64(1) << bits.Len64(size-1) // a vector of three words takes the room of four
	if size > widest {
		return
	}
	for m := first.Mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		if addr[i] += uint64(low); addr[i]%aligned != 0 {
			return
		}
	}
	at := run[0]
	if first.Kind == store {
		at = run[len(run)-1]
	}
	for _, k := range run {
		gone[k] = k != at
	}
	events[at].Ref = b.AddAccess(Access{Kind: first.Kind, Space: first.Space, Size: uint8(size)}, first.Mask, &addr)
}

// drop takes events out of a warp's stream.
func drop(w *Warp, gone []bool) {
	list := w.Events[:0]
	for k, e := range w.Events {
		if !gone[k] {
			list = append(list, e)
		}
	}
	w.Events, w.Values = list, w.Values[:0]
}
