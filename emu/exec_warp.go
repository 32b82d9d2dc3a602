package emu

import (
	"math/bits"

	"gpa/cubin/sass"
)

// warpCompilers are the instructions that exchange values between the lanes of a warp, and those that read special
// registers.
var warpCompilers = map[sass.Op]compiler{
	sass.SHFL:  compileSHFL,
	sass.VOTE:  compileVOTE,
	sass.MATCH: compileMATCH,
	sass.S2R:   compileS2R,
	sass.CS2R:  compileCS2R,
	sass.B2R:   compileB2R,
}

func compileSHFL(p *program, o *op) error {
	o.mode, o.run = o.inst.Mod(sass.ShflMode), shfl
	return p.resolve(o, layout{1, 0, none, 2, 3, 4, none, none}, intValue)
}

// shfl reads a from another lane (PTX ISA, shfl): b says which, c holds the clamp in bits 0 to 4 and the segment mask in
// bits 8 to 12. A lane that is out of range keeps its own value and has a false predicate. What a lane in range reads from one
// that does not execute is undefined. Here it is 0, as published programs need: the reduction sample of NVIDIA's CUDA samples
// (reduce7) adds up a warp of which only the first lanes execute, and gets the right sum on hardware.
func shfl(w *warp, o *op) error {
	a, b, c := *w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2)
	d := w.out(o, 0)
	var valid uint32
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		from, ok := shuffleSource(o.mode, uint32(i), b[i]&31, c[i]&31, c[i]>>8&31)
		w.from[i] = uint8(i)
		switch {
		case !ok:
			d[i] = a[i]
			continue
		case w.mask>>from&1 == 0:
			d[i] = 0
			w.absent |= 1 << i
		default:
			w.from[i] = uint8(from)
			d[i] = a[from]
		}
		valid |= 1 << i
	}
	w.done(o, 1)
	w.set(o.pd, valid)
	return nil
}

func shuffleSource(mode uint16, lane, b, clamp, segment uint32) (from uint32, ok bool) {
	low := lane & segment
	high := low | clamp&^segment
	switch mode {
	case sass.ShflUP:
		from = lane - b
		return from & 31, int32(from) >= int32(high)
	case sass.ShflDOWN:
		from = lane + b
	case sass.ShflBFLY:
		from = lane ^ b
	default:
		from = low | b&^segment
	}
	return from & 31, from <= high
}

func compileVOTE(p *program, o *op) error {
	o.mode, o.run = o.inst.Mod(sass.VoteMode), vote
	return p.resolve(o, layout{0, 1, none, none, none, none, 2, none}, intValue)
}

// vote counts over the lanes that execute.
func vote(w *warp, o *op) error {
	ballot, holds := w.ballot(o)
	d := w.out(o, 0)
	for i := range d {
		d[i] = ballot
	}
	w.done(o, 1)
	w.set(o.pd, holds)
	return nil
}

// ballot returns the lanes that vote yes, and all lanes if the vote is won, else none.
func (w *warp) ballot(o *op) (yes, holds uint32) {
	yes = w.get(o.pp) & w.mask
	won := false
	switch o.mode {
	case sass.VoteALL:
		won = yes == w.mask
	case sass.VoteANY:
		won = yes != 0
	default:
		won = yes == 0 || yes == w.mask
	}
	if won {
		holds = allLanes
	}
	return yes, holds
}

func compileMATCH(p *program, o *op) error {
	o.mode, o.n, o.run = o.inst.Mod(sass.MatchMode), uint32(o.inst.Mod(sass.MatchU64)), match
	return p.resolve(o, layout{1, 0, none, 2, none, none, none, none}, intValue)
}

// match gives each lane the lanes that hold the same value; .ALL gives all lanes if they agree, else none.
func match(w *warp, o *op) error {
	low, high := *w.in(&o.a, 0), zeroLanes
	if o.n != 0 {
		high = *w.word(&o.a, 1)
	}
	d := w.out(o, 0)
	agree := uint32(0)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		var same uint32
		for k := w.mask; k != 0; k &= k - 1 {
			if j := bits.TrailingZeros32(k); low[j] == low[i] && high[j] == high[i] {
				same |= 1 << j
			}
		}
		d[i] = same
		if same == w.mask {
			agree = allLanes
		}
	}
	if o.mode == sass.MatchALL {
		for i := range d {
			d[i] = w.mask & agree
		}
	}
	w.done(o, 1)
	w.set(o.pd, agree)
	return nil
}

func compileB2R(p *program, o *op) error {
	if o.inst.Mod(sass.B2RMode) != sass.B2RRESULT {
		return unsupported(o)
	}
	o.run = b2r
	o.dst, o.pd = p.dest(&o.inst.Operands[0]), destPredicate(&o.inst.Operands[1])
	return nil
}

// b2r reads the result of the last BAR.RED.
func b2r(w *warp, o *op) error {
	d := w.out(o, 0)
	var r uint32
	for i := range d {
		d[i] = w.result
		if w.result != 0 {
			r |= 1 << i
		}
	}
	w.done(o, 1)
	w.set(o.pd, r)
	return nil
}
