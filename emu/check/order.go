package check

import (
	"math/bits"

	"gpa/emu"
)

// A stretch is a run of steps of a warp that the same lanes executed.
type stretch struct {
	lanes uint32
	from  int64 // its first step
}

// logLength is the number of stretches that a warp remembers. Older accesses count as ordered.
const logLength = 4096

// A warp is what orders the accesses of a warp: between warps a vector clock, within the warp the lanes that executed
// together.
type warp struct {
	now clock
	// released is now at the last fence: what an atomic after it tells others. gained is what atomics have told, which
	// holds from the next fence on (PTX ISA, memory consistency model: fence-fence synchronisation).
	released, gained clock

	public public // what it tells other blocks
	far    knowledge
	// gainedFar is what atomics have told of other blocks, which holds from the next fence on.
	gainedFar knowledge

	step      int64
	log       []stretch
	marks     [32]int64 // the step of the last __syncwarp, barrier or exchange between lanes that a lane took part in
	local     localShadow
	waiting   [emu.NumBarriers]arrival
	syncing   arrival // at a WARPSYNC
	awaits    bool    // at the barrier of the cluster, for those who have not arrived
	due       barrier // that of the cluster, complete, which it has arrived at and not waited for
	copies    copies
	products  uint32 // groups of products of the warpgroup that are closed
	transfers uint32 // copies to shared memory that the copy engine was told to make
	undefined undefined
	call      siteID // the last one
	begun     uint16 // ranks of the blocks of its cluster that it knows to have begun
	end       party  // where lanes of it ended last
}

// mark notes that lanes have come to what the source synchronises a warp by. Where the compiler knows that all lanes are there
// anyway, NOP is what becomes of __syncwarp.
func (w *warp) mark(lanes uint32) {
	for m := lanes; m != 0; m &= m - 1 {
		w.marks[bits.TrailingZeros32(m)] = w.step
	}
}

// stamp is the time of an access: the synchronisations of its warp so far.
func (w *warp) stamp(id int) uint32 { return w.now[id] + 1 }

// tick ends the period in which accesses have the present stamp.
func (w *warp) tick(id int) { w.now[id]++ }

// execute notes which lanes execute the next step.
func (w *warp) execute(active uint32) {
	w.step++
	if n := len(w.log); n == 0 || w.log[n-1].lanes != active {
		if n == logLength {
			w.log = w.log[:copy(w.log, w.log[n/2:])]
		}
		w.log = append(w.log, stretch{active, w.step})
	}
}

// ordered reports whether what a lane did in an earlier step has happened before another lane's present one: whether a chain
// of instructions that lanes execute together leads from the one to the other.
func (w *warp) ordered(earlier int64, from, to uint8) bool {
	if from == to {
		return true
	}
	first := len(w.log) - 1
	for first > 0 && w.log[first].from > earlier {
		first--
	}
	if w.log[first].from > earlier {
		return true // forgotten
	}
	after := uint32(1) << from
	for _, s := range w.log[first:] {
		if s.lanes&after != 0 {
			after |= s.lanes
		}
	}
	return after>>to&1 != 0
}

// acquire makes what atomics have told known.
func (w *warp) acquire() {
	if w.gained != nil {
		w.now.join(w.gained)
		w.gained = nil
	}
}

// fence is a MEMBAR.
func (w *warp) fence(id int) {
	w.acquire()
	if w.released == nil {
		w.released = make(clock, len(w.now))
	}
	w.tick(id)
	copy(w.released, w.now)
}

// A word is a place that atomics work on.
type word struct {
	space emu.Space
	addr  uint64
}

// atomic passes on, through the word that it works on, what was known at the last fence: it takes up what others have passed on,
// or passes on itself, or both.
func (b *block) atomic(id int, space emu.Space, addr uint64, takes, gives bool) {
	w, at := &b.warps[id], word{space, addr}
	told := b.told[at]
	if takes && told != nil {
		if w.gained == nil {
			w.gained = make(clock, len(w.now))
		}
		w.gained.join(told)
	}
	if !gives || w.released == nil {
		return
	}
	if told == nil {
		told = make(clock, len(w.now))
		b.told[at] = told
	}
	told.join(w.released)
}
