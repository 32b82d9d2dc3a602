package stream

import (
	"math/bits"
	"slices"

	"gpa/cubin/sass"
)

// Fused is launches that follow each other as one: a block does what the blocks of its number did in each, one behind the other. What a
// block has stored in an earlier one it need not load: the thread that has stored it has it in a register, the others of the block find it in
// shared memory behind a barrier. Nor does a thread load again what it has loaded in an earlier one. What the block itself overwrites later,
// or has stored for itself alone as far as it is loaded in these launches, is not stored to global memory. Indices and addresses that a warp has
// computed in an earlier launch it does not compute again.
type Fused struct {
	Program  Program
	Launches []Source
}

// mostCarried is the most words that a thread carries from launch to launch in registers. What is more goes through shared memory.
const mostCarried = 32

// Block returns the n-th block.
func (f *Fused) Block(n int) (*Block, error) {
	var parts []*Block
	for _, s := range f.Launches {
		b, err := s.Block(n)
		if err != nil {
			return nil, err
		}
		parts = append(parts, b)
	}
	c := carrier{words: make(map[uint64]*carried), carries: make(map[thread]int)}
	for i, b := range parts {
		c.load(b, i)
		c.store(b, i)
	}
	for i, b := range parts {
		c.settle(b, i)
	}
	f.once(parts)
	out := parts[0]
	for i, b := range parts[1:] {
		out.leaveOut(f.Program, sass.EXIT)
		out.follow(b, c.meets[i+1])
	}
	out.Close()
	return out, nil
}

// A thread is one of a block.
type thread struct{ warp, lane int }

// A carried is a word of global memory that a block has accessed.
type carried struct {
	stores []*storedWord // by launch, the last of each
	loader thread        // who has loaded the value, where somebody has
	loaded int           // the launch in which, from 1 on; 0 for none
}

// A storedWord is what a launch leaves in a word.
type storedWord struct {
	launch   int
	by       thread
	shared   bool // others of the block load it in a later launch
	elsewise bool // it is loaded from global memory, or with what is
	read     bool // by a later launch
}

// A carrier finds what goes from launch to launch inside of a block.
type carrier struct {
	words   map[uint64]*carried
	carries map[thread]int // words that threads have in registers
	meets   map[int]bool   // launches before which a block needs a barrier
}

// eachWord calls f with the words of an access and their threads until it returns false.
func eachWord(b *Block, w int, a *Access, f func(word uint64, t thread) bool) bool {
	var addr [warpLanes]uint64
	b.Addresses(a, &addr)
	for m := a.Mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		for at := addr[lane] &^ 3; at < addr[lane]+uint64(a.Size); at += 4 {
			if !f(at, thread{w, lane}) {
				return false
			}
		}
	}
	return true
}

// eachAccess calls f with the accesses of a block to global memory of some kind.
func eachAccess(b *Block, f func(w int, e *Event, a *Access)) {
	for w := range b.Warps {
		for i := range b.Warps[w].Events {
			e := &b.Warps[w].Events[i]
			if e.Kind == RefAccess && e.As == Plain {
				if a := &b.Access[e.Ref]; a.Space == global && a.Mask != 0 {
					f(w, e, a)
				}
			}
		}
	}
}

// load decides where the loads of a launch find what earlier ones have stored.
func (c *carrier) load(b *Block, launch int) {
	stored := make(map[uint64]bool) // by this launch: what it loads then may be from before or not
	eachAccess(b, func(w int, _ *Event, a *Access) {
		if a.Kind != load {
			eachWord(b, w, a, func(word uint64, _ thread) bool { stored[word] = true; return true })
		}
	})
	eachAccess(b, func(w int, e *Event, a *Access) {
		if a.Kind != load {
			return
		}
		own, known, again := true, true, true
		eachWord(b, w, a, func(word uint64, t thread) bool {
			x := c.words[word]
			s := x.last()
			known = known && s != nil
			own = own && s != nil && s.by == t
			again = again && x != nil && s == nil && x.loaded > 0 && x.loaded <= launch && x.loader == t
			return known || again
		})
		switch {
		case (own || again) && c.carry(b, w, a):
			e.As = Gone
		case known:
			e.As = Shared
			if c.meets == nil {
				c.meets = make(map[int]bool)
			}
			c.meets[launch] = true
		}
		eachWord(b, w, a, func(word uint64, t thread) bool {
			x := c.words[word]
			if x == nil {
				x = new(carried)
				c.words[word] = x
			}
			if x.loaded == 0 || x.loader != t {
				x.loader, x.loaded = t, launch+1
			}
			if s := x.last(); s != nil {
				s.read = true
				s.shared = s.shared || e.As == Shared
				s.elsewise = s.elsewise || e.As == Plain || stored[word] && s.by != t
			}
			return true
		})
	})
}

// last is what is in a word, nil where nobody has stored to it.
func (x *carried) last() *storedWord {
	if x == nil || len(x.stores) == 0 {
		return nil
	}
	return x.stores[len(x.stores)-1]
}

// carry takes registers for what a load finds there; false where a thread has none left.
func (c *carrier) carry(b *Block, w int, a *Access) bool {
	if !eachWord(b, w, a, func(_ uint64, t thread) bool { return c.carries[t] < mostCarried }) {
		return false
	}
	return eachWord(b, w, a, func(_ uint64, t thread) bool { c.carries[t]++; return true })
}

// store takes note of what a launch stores. An atomic operation needs what is in global memory.
func (c *carrier) store(b *Block, launch int) {
	eachAccess(b, func(w int, _ *Event, a *Access) {
		if a.Kind == load {
			return
		}
		eachWord(b, w, a, func(word uint64, t thread) bool {
			x := c.words[word]
			if x == nil {
				x = new(carried)
				c.words[word] = x
			}
			s := x.last()
			if a.Kind == atomic && s != nil {
				s.read, s.elsewise = true, true
			}
			if s == nil || s.launch != launch {
				s = &storedWord{launch: launch}
				x.stores = append(x.stores, s)
			}
			s.by, s.elsewise = t, s.elsewise || a.Kind == atomic
			x.loaded = 0
			return true
		})
	})
}

// settle decides where the stores of a launch go.
func (c *carrier) settle(b *Block, launch int) {
	eachAccess(b, func(w int, e *Event, a *Access) {
		if a.Kind != store {
			return
		}
		needed, shared := false, false
		eachWord(b, w, a, func(word uint64, _ thread) bool {
			x := c.words[word]
			i := slices.IndexFunc(x.stores, func(s *storedWord) bool { return s.launch == launch })
			s, overwritten := x.stores[i], i+1 < len(x.stores)
			needed = needed || s.elsewise || !s.read && !overwritten
			shared = shared || s.shared
			return true
		})
		switch {
		case shared && !needed:
			e.As = Shared
		case !needed:
			e.As = Gone
		}
	})
}

// A computed is what an instruction has computed.
type computed struct {
	op    sass.Op
	mask  uint32
	value Value
}

// once leaves out what integers warps compute that the same instruction has computed in an earlier launch.
func (f *Fused) once(parts []*Block) {
	for w := range parts[0].Warps {
		known := make(map[computed]bool)
		for i, b := range parts {
			var list []computed
			for k := range b.Warps[w].Values {
				e, v := &b.Warps[w].Events[k], b.Warps[w].Values[k]
				in := f.Program.Inst(e.Op)
				if e.As != Plain || e.Kind != RefNone || v == (Value{}) || !ofIntegers(in) {
					continue
				}
				x := computed{in.Op, b.Lanes[e.Lanes].Mask, v}
				if known[x] {
					e.As = Gone
				}
				list = append(list, x)
			}
			if i+1 < len(parts) {
				for _, x := range list {
					known[x] = true
				}
			}
		}
	}
}

// ofIntegers reports whether an instruction is what indices and addresses are computed with.
func ofIntegers(in *sass.Inst) bool {
	switch in.Op.Properties().Class {
	case sass.ClassALU, sass.ClassMultiply, sass.ClassUniform, sass.ClassDispatch, sass.ClassSpecial:
		return true
	}
	return false
}

// leaveOut makes the instructions of an opcode ones that take no time.
func (b *Block) leaveOut(p Program, op sass.Op) {
	for w := range b.Warps {
		for i := range b.Warps[w].Events {
			if e := &b.Warps[w].Events[i]; e.As == Plain && p.Inst(e.Op).Op == op {
				e.As = Gone
			}
		}
	}
}

// follow adds what the warps of another block do behind what these do, behind a barrier or not.
func (b *Block) follow(c *Block, meet bool) {
	if meet {
		gate := b.addGate()
		for w := range b.Warps {
			last := b.Warps[w].Events[len(b.Warps[w].Events)-1]
			all := b.exists(w)
			b.Warps[w].Events = append(b.Warps[w].Events, Event{Op: last.Op, As: Barrier, Kind: RefSync, Ref: b.AddSync(Sync{Arrives: gate, Waits: gate}),
				Lanes: b.LanesOf(Lanes{Active: all, Mask: all})})
		}
	}
	b.take(c, int32(len(b.Gates)))
	for w := range c.Warps {
		b.Warps[w].Events = append(b.Warps[w].Events, c.Warps[w].Events...)
	}
}
