package emu

import (
	"fmt"
	"runtime/debug"
	"time"
)

// A room is what this computer has for what a machine writes. Buffers take memory as they are written, which nobody counts: the
// machine looks from time to time at what is left.
type room struct {
	free    func() int64 // bytes; nil for no limit
	reserve int64        // bytes that are to be left
	next    time.Time    // of the next look
}

// The room is looked at every lookEvery, in which a launch hardly writes more than mostReserve, bytes. Of a small one an eighth is
// left.
const (
	lookEvery   = 40 * time.Millisecond
	mostReserve = 512 << 20
)

func newRoom(free func() int64) room {
	if free == nil {
		return room{}
	}
	return room{free: free, reserve: min(mostReserve, free()/8)}
}

// look is an error where the computer is short of memory.
func (r *room) look() error {
	if r.free == nil {
		return nil
	}
	now := time.Now()
	if now.Before(r.next) {
		return nil
	}
	r.next = now.Add(lookEvery)
	return r.take(0)
}

// take is an error where the computer has no room for n bytes more.
func (r *room) take(n int64) error {
	if r.free == nil {
		return nil
	}
	if r.free()-n >= r.reserve {
		return nil
	}
	debug.FreeOSMemory() // what the collector has not given back yet counts as taken
	if free := r.free(); free-n < r.reserve {
		if n == 0 {
			return fmt.Errorf("what it writes takes too much memory: this computer has %s left", byteCount(free))
		}
		return fmt.Errorf("it takes %s of memory, and this computer has %s left", byteCount(n), byteCount(free))
	}
	return nil
}

// Room is an error where this computer has no room for n bytes more.
func (m *Machine) Room(n int64) error { return m.room.take(n) }

// byteCount is a number of bytes in the largest unit that leaves it at least 1.
func byteCount(n int64) string {
	v, unit := float64(max(n, 0)), 0
	for v >= 1024 && unit < 4 {
		v, unit = v/1024, unit+1
	}
	return fmt.Sprintf("%.4g %s", v, [...]string{"bytes", "KiB", "MiB", "GiB", "TiB"}[unit])
}
