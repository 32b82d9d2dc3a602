package emu

import (
	"gpa/emu/arch"
	"gpa/emu/mem"
)

// A hierarchy is two levels of caches before L2, for instructions or for constants: near ones and a far one that they
// share. What the far one misses comes from the device, with an answer that names the line.
type hierarchy struct {
	near  []*mem.Cache
	far   *mem.Cache
	shift uint   // log2 of near lines in a far line
	base  uint64 // device line in which far line 0 begins
	lines uint   // log2 of device lines in a far line
	miss  int64  // from a miss to the arrival from the far level
	user  uint64 // names the hierarchy in an answer
	mem   *mem.SM
}

// look returns when the line is there, for an access in cycle t, and whether it was there or on its way already.
func (h *hierarchy) look(near int, line uint64, t int64) (arrival int64, hit bool) {
	c := h.near[near]
	place, hit := c.Look(line)
	if hit {
		return c.Arrival(place), true
	}
	arrival = h.pass(h.fetch(line>>h.shift, t), t)
	c.SetArrival(place, arrival)
	return arrival, false
}

// pass returns when what the far level has from cycle a on reaches the near one.
func (h *hierarchy) pass(a, t int64) int64 {
	if a == mem.Never {
		return a
	}
	return max(a, t) + h.miss
}

// hold puts a line into the far level before the launch.
func (h *hierarchy) hold(line uint64) {
	place, _ := h.far.Look(line)
	h.far.SetArrival(place, 0)
}

// fetch returns when the far level has a line.
func (h *hierarchy) fetch(line uint64, t int64) int64 {
	place, hit := h.far.Look(line)
	if hit {
		return h.far.Arrival(place)
	}
	h.far.SetArrival(place, mem.Never)
	h.mem.Fetch(t, h.base+line<<h.lines, h.user|line)
	return mem.Never
}

// prefetch brings a line near without anybody waiting for it, delay cycles later than a miss would.
func (h *hierarchy) prefetch(near int, line uint64, t, delay int64) {
	c := h.near[near]
	if c.Has(line) {
		return
	}
	place, _ := c.Look(line)
	arrival := h.pass(h.fetch(line>>h.shift, t), t)
	if arrival != mem.Never {
		arrival += delay
	}
	c.SetArrival(place, arrival)
}

// answer takes the arrival of a far line from the device and returns when waiting accesses have it.
func (h *hierarchy) answer(line uint64, done int64) int64 {
	if h.far.Has(line) {
		place, _ := h.far.Look(line)
		h.far.SetArrival(place, done)
	}
	near := done + h.miss
	for _, c := range h.near {
		for l := line << h.shift; l < (line+1)<<h.shift; l++ {
			if !c.Has(l) {
				continue
			}
			if place, _ := c.Look(l); c.Arrival(place) == mem.Never {
				c.SetArrival(place, near)
			}
		}
	}
	return near
}

// constantBase is where the caches see constants, far from every buffer.
const constantBase = 0x7e00_0000_0000

// Names of what an answer of the memory path is for, in its upper bits.
const (
	userShift = 60
	userData  = 0 << userShift
	userCode  = 1 << userShift
	userConst = 2 << userShift
)

// newCode returns the instruction caches of an SM for a program of so many lines: L0 of each sub-core, and the one behind them.
func newCode(m *arch.Model, path *mem.SM, lines int) hierarchy {
	f := &m.Fetch
	line := f.Line.Int()
	h := hierarchy{base: uint64(codeBase / line), miss: f.Miss.Cycles(), user: userCode, mem: path,
		far: mem.NewCache(f.L1.Int()/line/f.L1Ways.Int(), f.L1Ways.Int(), lines)}
	for range m.Limits.Schedulers.Int() {
		h.near = append(h.near, mem.NewCache(f.L0.Int()/line/f.L0Ways.Int(), f.L0Ways.Int(), lines))
	}
	return h
}

// newConstants returns the constant caches of an SM.
func newConstants(m *arch.Model, path *mem.SM) hierarchy {
	c := &m.Constant
	return hierarchy{base: uint64(constantBase / m.L1.Line.Int()), miss: c.Miss.Cycles(), user: userConst, mem: path,
		shift: log2(c.Line2.Int() / c.Line.Int()), lines: log2(c.Line2.Int() / m.L1.Line.Int()),
		near: []*mem.Cache{mem.NewCache(c.Size.Int()/c.Line.Int()/c.Ways.Int(), c.Ways.Int(), 0)},
		far:  mem.NewCache(c.Size2.Int()/c.Line2.Int()/c.Ways2.Int(), c.Ways2.Int(), 0)}
}

func log2(n int) (bits uint) {
	for n > 1 {
		n >>= 1
		bits++
	}
	return bits
}
