package emu

import (
	"fmt"
	"math"
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/mem"
)

// A Supposition is what a what-if run supposes of an instruction. It changes the time that the instruction takes, never what
// it computes.
type Supposition uint8

// The suppositions. They add up.
const (
	// Gone: the instruction takes no issue slot and no unit, and its result is there at once. A block barrier holds no warp;
	// as warps then run ahead of each other, what such a launch computes means nothing.
	Gone Supposition = 1 << iota
	// Cheap: an instruction of the integer pipe does the same.
	Cheap
	// Coalesced: an access to global memory asks for as many sectors as the bytes that it uses would fill. Over all accesses to a
	// sector it is asked for once.
	Coalesced
	// ConflictFree: an access to shared memory takes as many passes as its data needs, of an atomic operation no two lanes are
	// at the same address, and arithmetic reads its registers from different banks.
	ConflictFree
	// Constant: a load from global memory is one from the constant cache, which has the value (LDC).
	Constant
	// Packed: the lanes of a warp share the instruction with those of others of the block, as if warps were full. Of the times that
	// warps execute it in the same round, so many take time as their lanes fill warps.
	Packed
	// Unplaced: the instruction takes no place in the code, so that those around it share lines of the instruction caches.
	Unplaced
	// Outstanding: a wait for matrix products of the warpgroup lets one more group be outstanding.
	Outstanding
)

// A WhatIf is a change of the program that a launch is timed with, before anybody has made it. The zero value is none.
type WhatIf struct {
	Suppositions map[InstAt]Supposition
	// Rounds is how many rounds of its loop a load of global memory shares its latency with, as if the loop were unrolled.
	Rounds map[InstAt]float64
	// Earlier is how many rounds before the copy engine gets a copy: as if as many more stages of shared memory could be filled meanwhile. Its data take
	// their way when they do now, and are there as much sooner as those rounds took, or later where there are fewer stages.
	Earlier map[InstAt]int
	// Thinned instructions take the time of one execution in so many of a warp, up to 32, as if other warps did the others.
	Thinned map[InstAt]float64
	// PerfectFetch: instructions are always in the instruction cache.
	PerfectFetch bool
	// Resident is how many blocks an SM holds whatever registers and shared memory they take; 0 for what fits.
	Resident int
	// Streams changes how the work is laid out over threads; nil for no change.
	Streams *Streams
	// Registers is how many registers a thread takes, and Shared how many bytes of shared memory a block, for how many blocks an
	// SM holds; 0 for what they take as they are. More registers than a thread can have are an error, and so is a block that no
	// longer fits.
	Registers, Shared int
}

// resources are those of a block where some are supposed.
func (w *WhatIf) resources(r arch.Resources) arch.Resources {
	if w != nil && w.Registers > 0 {
		r.Registers = w.Registers
	}
	if w != nil && w.Shared > 0 {
		r.SharedStatic, r.SharedDynamic = w.Shared, 0
	}
	return r
}

// cheapLatency is the latency of the integer pipe, cycles (Jia et al. 2018, table 4.2).
const cheapLatency = 4

// An InstAt names an instruction of a module.
type InstAt struct {
	Code int // index in the module's Codes
	PC   uint64
}

// none reports whether nothing is supposed.
func (w *WhatIf) none() bool {
	return w == nil || len(w.Suppositions) == 0 && len(w.Rounds) == 0 && len(w.Earlier) == 0 && len(w.Thinned) == 0 && !w.PerfectFetch && w.Resident == 0 && w.Streams == nil && w.Registers == 0 && w.Shared == 0
}

// overlaps reports whether loads return earlier than memory answers.
func (w *WhatIf) overlaps() bool { return w != nil && len(w.Rounds)+len(w.Earlier) > 0 }

// suppose changes the program as a what-if run wants it. It fails where an instruction does not exist or cannot be changed in
// that way.
func (p *program) suppose(w *WhatIf) error {
	if w.none() {
		return nil
	}
	for at, s := range w.Suppositions {
		o, err := p.opAt(at)
		if err == nil {
			err = o.suppose(s, p.model)
		}
		if err == nil && s&Packed != 0 {
			err = p.pack(o)
		}
		if err != nil {
			return fmt.Errorf("what if: %w", err)
		}
	}
	for at, n := range w.Thinned {
		o, err := p.opAt(at)
		if err == nil {
			o.t.supposed |= Packed
			o.t.counted = int8(max(1, min(warpLanes, math.Round(warpLanes/n))))
			err = p.pack(o)
		}
		if err != nil {
			return fmt.Errorf("what if: %w", err)
		}
	}
	for at, rounds := range w.Rounds {
		o, err := p.opAt(at)
		if err != nil {
			return fmt.Errorf("what if: %w", err)
		}
		o.t.rounds = rounds
	}
	for at, rounds := range w.Earlier {
		o, err := p.opAt(at)
		if err == nil && o.t.path != pathTransfer {
			err = fmt.Errorf("%s is no copy of the copy engine", o.inst.Mnemonic())
		}
		if err != nil {
			return fmt.Errorf("what if: %w", err)
		}
		o.t.earlier = rounds
	}
	p.layOut()
	return nil
}

// layOut gives the instructions places in the code one after the other, but for those that take none.
func (p *program) layOut() {
	placed, next := make([]int32, len(p.ops)), int32(0)
	for i := range p.ops {
		if placed[i] = next; p.ops[i].t.supposed&Unplaced == 0 {
			next++
		}
	}
	if int(next) < len(p.ops) {
		p.placed = placed
	}
}

func (p *program) opAt(at InstAt) (*op, error) {
	if at.Code >= 0 && at.Code < len(p.bases) && at.PC%sass.InstSize == 0 {
		i := int64(p.bases[at.Code]) + int64(at.PC/sass.InstSize)
		if i < int64(len(p.ops)) && int(p.ops[i].code) == at.Code {
			return &p.ops[i], nil
		}
	}
	return nil, fmt.Errorf("section %d has no instruction at %#x", at.Code, at.PC)
}

// suppose changes the timing of an instruction.
func (o *op) suppose(s Supposition, m *arch.Model) error {
	t := &o.t
	t.supposed |= s
	switch {
	case s&Gone != 0:
		return o.remove()
	case s&Cheap != 0:
		// The compiler leaves more time between instructions of a slower unit. A branch waits as long for any predicate.
		if t.latency > cheapLatency && t.result != sass.RZ {
			t.stall = max(1, (t.stall*cheapLatency+t.latency-1)/t.latency)
		}
		t.path, t.pipe, t.latency = pathPipe, arch.ALU, cheapLatency
		t.interval = m.Pipes[arch.ALU].Interval.Cycles()
	case s&Constant != 0:
		t.path, t.latency, t.l1tex = pathShuffle, m.Latencies.Constant.Cycles(), false
	case s&Outstanding != 0:
		if t.depbar != groupCount {
			return fmt.Errorf("%s waits for no products of the warpgroup", o.inst.Mnemonic())
		}
		t.depbarMax++
	case s&ConflictFree != 0 && (t.path == pathPipe || t.path == pathCounted):
		t.registers = [3]uint8{sass.RZ, sass.RZ, sass.RZ}
	}
	return nil
}

// pack keeps what an instruction is in an execution that takes no time.
func (p *program) pack(o *op) error {
	absent := *o
	if p.packed == nil {
		p.packed = make(map[int32]*op)
	}
	p.packed[o.index] = &absent
	if absent.t.path == pathBarrier {
		return fmt.Errorf("%s holds whole warps", o.inst.Mnemonic())
	}
	absent.t.supposed = Gone
	return absent.remove()
}

// warpLanes is the number of lanes of a warp.
const warpLanes = 32

// shares reports whether an execution of a packed instruction takes no time, as its lanes find room in a warp that does. Of a thinned
// instruction a warp's first execution takes its time, and then one in so many: what a warp does once takes as long, whoever does it. Of
// others the lanes of the block's warps come together that execute the instruction for the n-th time, as where the threads of a block are
// sorted: the n-th round of a loop takes as many warps as its lanes fill, and the longest thread takes as long as it did.
func (v *resident) shares(o *op) bool {
	b := v.block
	if v.packed == nil {
		v.packed = make(map[int32]int)
	}
	if b.packed == nil {
		b.packed = make(map[int32][]int)
	}
	n := v.packed[o.index]
	v.packed[o.index]++
	if lanes := int(o.t.counted); lanes > 0 {
		return n > 0 && n*lanes/warpLanes == (n-1)*lanes/warpLanes
	}
	if n == len(b.packed[o.index]) {
		b.packed[o.index] = append(b.packed[o.index], 0)
	}
	before := b.packed[o.index][n]
	after := before + bits.OnesCount32(v.warp.active)
	b.packed[o.index][n] = after
	return before > 0 && (after-1)/warpLanes == (before-1)/warpLanes
}

// remove makes an instruction cost nothing.
func (o *op) remove() error {
	t := &o.t
	if t.path == pathBarrier {
		if findOperand(o.inst, sass.KindPred) == 0 {
			return fmt.Errorf("%s gives a value", o.inst.Mnemonic())
		}
		o.run = nothing
	}
	t.path, t.pipe, t.stall, t.latency, t.yield, t.imm = pathControl, arch.Control, 0, 0, false, false
	t.registers = [3]uint8{sass.RZ, sass.RZ, sass.RZ}
	return nil
}

// gone reports whether the instruction takes no time.
func (t *timing) gone() bool { return t.supposed&Gone != 0 }

// supposedPasses is what the passes of an access are supposed to be.
func (t *timing) supposedPasses(passes, ideal int) int {
	if t.supposed&ConflictFree != 0 {
		return ideal
	}
	return passes
}

// globalSupposed changes an access to global memory as is supposed of it.
func globalSupposed(o *op, c *mem.Coalescer, g *mem.Global) {
	if o.t.supposed&Coalesced != 0 {
		c.Condense()
		g.Passes, g.Dense = 1, true
	}
	if o.t.supposed&ConflictFree != 0 {
		g.Turns = min(g.Turns, 1)
	}
}

// shortened is when an access is done whose data arrive in a cycle; a load that shares its latency with other rounds sooner, but
// no earlier than the cycle that the SM has reached.
func (a *awaited) shortened(done, reached int64) int64 {
	if done == mem.Never {
		return done
	}
	done += a.further
	if a.of != nil {
		a.of.took = done - a.issued
	}
	if a.sooner != 0 {
		return max(min(reached, done), a.issued, done-a.sooner)
	}
	if a.rounds <= 1 {
		return done
	}
	return max(min(reached, done), a.issued+int64(float64(done-a.issued)/a.rounds))
}
