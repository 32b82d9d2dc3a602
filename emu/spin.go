package emu

import (
	"encoding/binary"
	"math/bits"
)

// Threads that wait may write while they do: a lock that is taken to look at something and given back, a sign of life, a register that is
// kept in local memory. Memory changes then, but comes back to what it was. So in windows, without timing, what is written is noted word by
// word, and the state of all warps is compared together with that of the words: rounds depend on nothing else, so that a launch that has
// come back to a state is in a livelock. In a window a warp's turn ends where a loop begins anew, so that warps with loops of different lengths
// soon come back to a state together. The windows take a small part of the instructions, and those of a launch that writes more
// words than waiting threads do, or in which threads end, close at once.

const (
	firstWindow  = 1 << 22 // warp instructions before the first window; each one after that begins with twice as many
	windowPart   = 256     // of the instructions executed so far
	windowRounds = 4       // between two looks at the state
	journalWords = 1 << 14
)

// A journal notes what is written in a window.
type journal struct {
	words   map[journalKey]uint32
	digest  uint64 // the exclusive or of a hash of each word and its value
	covered int64  // those of the domain's changes that the digest tells, or the state of barriers
	visited []bool // by op
	fresh   int    // how many
	again   bool   // the last instruction led back
	other   int64  // changes that are not covered, when the window was opened
	rounds  int
}

// A memoryWord is a word that a warp has accessed, in local memory that of a lane.
type memoryWord struct {
	space space
	lane  uint8 // 0 in other memory
	addr  uint64
}

// accessedWords calls a function for the words that the warp's last instruction has accessed, those that it shares with others more than
// once, as long as that returns true. It reports whether it has for all: where lanes are in several spaces, or bytes unknown, it cannot.
func (w *warp) accessedWords(do func(lane int, at memoryWord) bool) bool {
	acc := &w.acc
	if acc.size == 0 {
		return false
	}
	for m := acc.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		at := memoryWord{space: acc.space, addr: acc.addr[lane]}
		switch {
		case at.space == spaceLocal: // undo the interleaving of localBytes
			at.lane, at.addr = uint8(lane), (at.addr-w.localBase())/(32*uint64(acc.size))*uint64(acc.size)
		case at.space == spaceShared && at.addr >= windowSize: // of a lane in another space than the last
			return false
		}
		end := at.addr + uint64(acc.size)
		for at.addr &^= 3; at.addr < end; at.addr += 4 {
			if !do(lane, at) {
				return false
			}
		}
	}
	return true
}

// value is what a warp sees in a word; where there is no memory it is 0.
func (at *memoryWord) value(w *warp) uint32 {
	var data []byte
	switch d := w.block.domain; at.space {
	case spaceGlobal:
		b := w.block.run.machine.memory.find(at.addr)
		if b == nil {
			return 0
		}
		data = b.data[at.addr-b.addr:]
		data = data[:min(4, len(data))]
		if d.ahead && !d.stores.empty() {
			data = d.stores.read(at.addr, data)
		}
	case spaceShared:
		if at.addr < uint64(len(w.block.shared)) {
			data = w.block.shared[at.addr:]
		}
	default:
		data = w.local.bytes(int(at.lane), at.addr, 4)
	}
	var word [4]byte
	copy(word[:], data)
	return binary.LittleEndian.Uint32(word[:])
}

// A journalKey is a word: its address, and whose it is, 0 for global memory.
type journalKey struct {
	owner int64
	addr  uint64
}

// turn executes instructions of a warp by a function, up to where a loop begins anew.
func (j *journal) turn(w *warp, step func(*warp) error) error {
	j.again = false
	for n := 0; n < turn && w.status == warpRunning && w.sleeps == 0 && !j.again; n++ {
		if err := j.step(w, step); err != nil {
			return err
		}
	}
	return nil
}

// step executes an instruction of a warp by a function and notes what it has written.
func (j *journal) step(w *warp, step func(*warp) error) error {
	d := w.block.domain
	o, before := w.next(), d.changes
	from := w.pc
	if !j.visited[o.index] {
		j.visited[o.index] = true
		j.fresh++
	}
	if err := step(w); err != nil {
		return err
	}
	if w.acc.kind >= accessStore && w.acc.mask != 0 && len(j.words) <= journalWords && j.note(w) {
		j.covered += d.changes - before
	}
	j.again = w.pc <= from
	return nil
}

// note notes the words that the warp's last instruction has written, and reports whether it could.
func (j *journal) note(w *warp) bool {
	return w.accessedWords(func(_ int, at memoryWord) bool {
		key := journalKey{0, at.addr}
		switch at.space {
		case spaceShared:
			key.owner = 1 + int64(w.block.number)
		case spaceLocal:
			key = journalKey{^int64(w.block.number*32*NumBarriers + w.id), uint64(at.lane)<<56 | at.addr}
		}
		j.put(key, at.value(w))
		return true
	})
}

func (j *journal) put(at journalKey, v uint32) {
	old, known := j.words[at]
	if known && old == v {
		return
	}
	if known {
		j.digest ^= at.hash(old)
	}
	j.words[at] = v
	j.digest ^= at.hash(v)
}

func (at journalKey) hash(v uint32) uint64 {
	return mixed(mixed(mixed(0, at.addr), uint64(at.owner)), uint64(v)+1)
}

// mixed adds a number to a hash.
func mixed(h, v uint64) uint64 {
	const prime = 0x9e3779b97f4a7c15
	h = (h ^ v) * prime
	return bits.RotateLeft64(h, 29) ^ h>>32
}

// A spinSearch opens windows and looks in them for a state that comes back, by Brent's algorithm as a loop does.
type spinSearch struct {
	next, end    int64 // warp instructions with which a window begins and ends
	watch        watch
	mark         uint64
	turns, limit int
}

// repeats reports whether the launch is found to have come back to a state after a round.
func (f *functionalRun) repeats() bool {
	x, executed := &f.spin, f.launchRun.limit-f.domain.budget
	j := f.domain.journal
	switch {
	case j == nil && executed < max(x.next, firstWindow) || f.tape != nil || f.launch.clusterBlocks() > 1:
		return false
	case j == nil:
		x.next, x.end, x.limit = 2*executed, executed+executed/windowPart, 0
		x.watch.begin(len(f.program.ops))
		f.domain.journal = &journal{words: make(map[journalKey]uint32), visited: x.watch.visited, other: f.domain.changes}
		return false
	case executed >= x.end || len(j.words) > journalWords || f.domain.changes-j.covered != j.other:
		f.domain.journal = nil
		return false
	case !x.watch.ready(f.program, j.fresh):
		x.limit = 0
		return false
	case x.watch.focus.timed:
		f.domain.journal = nil
		return false
	}
	if j.rounds++; j.rounds%windowRounds != 0 {
		return false
	}
	state := f.state(j, x.watch.focus)
	if x.limit > 0 && state == x.mark {
		f.domain.journal = nil
		x.next = executed
		return true
	}
	if x.turns++; x.turns >= x.limit {
		x.mark, x.turns, x.limit = state, 0, max(1, 2*x.limit)
	}
	return false
}

// state is a hash of all that decides what the launch does next, as far as the journal knows memory.
func (f *functionalRun) state(j *journal, of *focus) uint64 {
	h := mixed(mixed(j.digest, uint64(len(j.words))), uint64(of.epoch))
	for _, b := range f.running {
		h = mixed(h, uint64(b.number))
		for i := range b.barriers {
			if c := &b.barriers[i]; *c != (ctaBarrier{}) {
				h = mixed(mixed(mixed(mixed(h, uint64(i)), uint64(c.threads)<<32|uint64(c.padded)), uint64(c.count)<<32|uint64(c.total)), uint64(c.red))
			}
		}
		for _, w := range b.warps {
			if h = mixed(h, uint64(w.status)); w.status != warpDone {
				h = mixed(h, w.digest(of))
			}
		}
	}
	return h
}
