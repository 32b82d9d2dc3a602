package stream

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"gpa/cubin/sass"
)

// A Joint says how a launch becomes one with the launch before it, where blocks of equal numbers have nothing to do with each other: the work of
// single threads goes to where its values are needed. Those are threads that neither meet at barriers nor exchange values, as of a kernel
// that maps elements to elements.
type Joint struct {
	Way Way
	// Kept: what the first launch leaves to the second is stored all the same, as somebody else reads it.
	Kept bool
}

// A Way says whose work goes where.
type Way uint8

// The ways.
const (
	// Pull: a thread of the second launch does, where it would load a value, what the thread of the first does that stores it. It does so for
	// each value once, as far as it can keep them, and as many threads do as need it. The joined launch has the second one's shape.
	Pull Way = iota
	// Push: the thread of the first launch that stores a value goes on with what the thread of the second does that loads it. What others of its
	// block have stored it finds in shared memory behind a barrier. The joined launch has the first one's shape.
	Push
)

// A Joinable is a launch to be joined.
type Joinable struct {
	Source Source
	Shape  Shape
}

// Join makes one launch of several that follow each other, joint by joint. Of all but the last the blocks are kept, and of the last where it is
// pushed.
func Join(p Program, launches []Joinable, joints []Joint) (Joinable, error) {
	if len(launches) != len(joints)+1 {
		return Joinable{}, fmt.Errorf("%d launches cannot have %d joints", len(launches), len(joints))
	}
	one := launches[0]
	for i, j := range joints {
		next := launches[i+1]
		first, err := one.all()
		if err != nil {
			return Joinable{}, err
		}
		if j.Way == Pull {
			if one, err = newPull(p, first, next, j.Kept); err != nil {
				return Joinable{}, err
			}
			continue
		}
		second, err := next.all()
		if err != nil {
			return Joinable{}, err
		}
		source, err := newPush(p, first, second, j.Kept)
		if err != nil {
			return Joinable{}, err
		}
		one.Source = source
	}
	return one, nil
}

// mostKept is how many events of a launch are kept, about half a gigabyte of them.
const mostKept = 1 << 24

// all makes all blocks of a launch.
func (l *Joinable) all() ([]*Block, error) {
	list, events := make([]*Block, l.Shape.Grid[0]*l.Shape.Grid[1]*l.Shape.Grid[2]), 0
	for i := range list {
		var err error
		if list[i], err = l.Source.Block(i); err != nil {
			return nil, err
		}
		if events += list[i].Events(); events > mostKept {
			return nil, fmt.Errorf("launches execute over %d instructions, more than can be kept", mostKept)
		}
	}
	return list, nil
}

// errTogether is of threads whose work can only be done where they are.
var errTogether = errors.New("the threads whose work would go elsewhere work together, by barriers, shared memory or values of other lanes")

// eachForItself reports an error where the threads of a launch do not each work for itself.
func eachForItself(p Program, blocks []*Block) error {
	checked := make(map[int32]bool)
	for _, b := range blocks {
		for w := range b.Warps {
			for i := range b.Warps[w].Events {
				e := &b.Warps[w].Events[i]
				if e.Kind == RefSync || e.Kind == RefAccess && b.Access[e.Ref].Space == shared || e.As >= Load && e.As != Index {
					return errTogether
				}
				if checked[e.Op] || b.Lanes[e.Lanes].Mask == 0 {
					continue
				}
				checked[e.Op] = true
				if in := p.Inst(e.Op); !in.Op.Properties().Single() {
					return errTogether
				}
			}
		}
	}
	return nil
}

// A number is that of a thread in its launch, from 1 on: of all lanes of the warps of one block after the other. 0 is nobody.
type number int32

const many number = -1 // threads

func numberOf(warps, block, warp, lane int) number {
	return number((block*warps+warp)*warpLanes + lane + 1)
}

// place is where a thread is.
func (n number) place(warps int) (block, warp, lane int) {
	i := int(n - 1)
	return i / warpLanes / warps, i / warpLanes % warps, i % warpLanes
}

// writers are the threads that store to global memory, by word, or smaller unit where a thread stores less at a time.
type writers struct {
	shift  int // log2 of the bytes of a unit
	chunks map[uint64]*[chunkWords]number
	last   uint64
	chunk  *[chunkWords]number
}

const chunkWords = 1 << 13

// at returns the entry of a unit, nil where none is to be made and there is none.
func (x *writers) at(unit uint64, make bool) *number {
	n := unit / chunkWords
	if x.chunk == nil || x.last != n {
		c := x.chunks[n]
		if c == nil {
			if !make {
				return nil
			}
			c = new([chunkWords]number)
			x.chunks[n] = c
		}
		x.last, x.chunk = n, c
	}
	return &x.chunk[unit%chunkWords]
}

// of returns who stores to a unit: nobody, a thread or many.
func (x *writers) of(unit uint64) number {
	if n := x.at(unit, false); n != nil {
		return *n
	}
	return 0
}

// writersOf finds who stores what in a launch whose blocks have so many warps. An atomic operation is of many.
func writersOf(blocks []*Block, warps int) *writers {
	x := &writers{chunks: make(map[uint64]*[chunkWords]number), shift: 2}
	for _, b := range blocks {
		eachAccess(b, func(_ int, _ *Event, a *Access) {
			if a.Kind != load {
				x.shift = min(x.shift, bits.TrailingZeros8(a.Size))
			}
		})
	}
	for n, b := range blocks {
		eachAccess(b, func(w int, _ *Event, a *Access) {
			if a.Kind == load {
				return
			}
			x.each(b, w, a, func(unit uint64, t thread) bool {
				own, at := numberOf(warps, n, t.warp, t.lane), x.at(unit, true)
				if *at == 0 && a.Kind == store || *at == own {
					*at = own
				} else {
					*at = many
				}
				return true
			})
		})
	}
	return x
}

// each calls f with the units of an access and their threads until it returns false.
func (x *writers) each(b *Block, w int, a *Access, f func(unit uint64, t thread) bool) {
	var addr [warpLanes]uint64
	b.Addresses(a, &addr)
	for i := range lanesOf(a.Mask) {
		for unit := range x.units(addr[i], a.Size) {
			if !f(unit, thread{w, i}) {
				return
			}
		}
	}
}

// units lists those of an access of one lane.
func (x *writers) units(addr uint64, size uint8) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for unit := addr >> x.shift; unit <= (addr+uint64(size)-1)>>x.shift; unit++ {
			if !yield(unit) {
				return
			}
		}
	}
}

// stores reports whether a store of one lane is to a unit.
func (x *writers) stores(addr uint64, size uint8, unit uint64) bool {
	return addr>>x.shift <= unit && unit <= (addr+uint64(size)-1)>>x.shift
}

// storesTo calls f with the stores to a unit of the one thread that makes any, of a launch whose blocks have so many warps.
func (x *writers) storesTo(unit uint64, blocks []*Block, warps int, f func(op int32)) {
	block, w, own := x.of(unit).place(warps)
	b := blocks[block]
	for i := range b.Warps[w].Events {
		e := &b.Warps[w].Events[i]
		if e.Kind != RefAccess {
			continue
		}
		if a := &b.Access[e.Ref]; a.Space == global && a.Kind == store && a.Mask>>own&1 != 0 && x.stores(b.address(a, own), a.Size, unit) {
			f(e.Op)
		}
	}
}

// races reports an error where a thread of a launch loads what another one of it stores.
func (x *writers) races(blocks []*Block, warps int) error {
	for n, b := range blocks {
		raced := false
		eachAccess(b, func(w int, _ *Event, a *Access) {
			if a.Kind != load || raced {
				return
			}
			x.each(b, w, a, func(unit uint64, t thread) bool {
				by := x.of(unit)
				raced = by != 0 && by != numberOf(warps, n, t.warp, t.lane)
				return !raced
			})
		})
		if raced {
			return errors.New("threads of a launch whose work would go elsewhere load what others of it store")
		}
	}
	return nil
}

// An indexer finds the instructions of a warp that only compute where its threads are and what they access: numbers of threads and blocks, integers
// that follow from them evenly over the lanes, constants, and the test that there is such a thread. Threads that do the work of others know
// these already, as they have found the way to the value between them. The first two addresses of 64 bits are those of the value that is not
// stored and loaded any more.
type indexer struct {
	program Program
	loaded  map[sass.Resource]bool // registers whose values follow from loaded ones
	list    []sass.Resource
}

func newIndexer(p Program) indexer {
	return indexer{program: p, loaded: make(map[sass.Resource]bool)}
}

const mostAddresses = 2

// of returns, by event, whether it is such an instruction.
func (x *indexer) of(b *Block, w int) []bool {
	events := b.Warps[w].Events
	out, apart := make([]bool, len(events)), make([]bool, len(events))
	clear(x.loaded)
	addresses := 0
	for i := range events {
		registers := 0
		apart[i], registers = x.follow(b, &events[i])
		if apart[i] || !x.places(b, w, i) || registers > 1 && addresses >= mostAddresses {
			continue
		}
		out[i] = true
		addresses += indicate(registers > 1 && events[i].Kind == RefNone)
	}
	for i := range events {
		if in := x.program.Inst(events[i].Op); in.Op == sass.EXIT && in.Guard.Reg != sass.PT && !in.Guard.Uniform {
			x.tests(events[:i], sass.ResPred+sass.Resource(in.Guard.Reg), apart, out)
		}
	}
	return out
}

// follow reports whether what an instruction computes follows from loaded values, and how many registers it writes.
func (x *indexer) follow(b *Block, e *Event) (loaded bool, registers int) {
	in := x.program.Inst(e.Op)
	loaded = e.Kind == RefAccess && b.Access[e.Ref].Space != Constant
	x.list = in.Uses(x.list[:0])
	for _, r := range x.list {
		loaded = loaded || r < sass.ResSB && x.loaded[r]
	}
	x.list = in.Defs(x.list[:0])
	for _, r := range x.list {
		x.loaded[r] = loaded
		registers += indicate(r < sass.ResPred)
	}
	return loaded, registers
}

// places reports whether an instruction on what was not loaded computes a place or a constant.
func (x *indexer) places(b *Block, w, i int) bool {
	in := x.program.Inst(b.Warps[w].Events[i].Op)
	properties := in.Op.Properties()
	if _, special := in.Special(); special || properties.Flow == sass.FlowExit || properties.Class == sass.ClassConstant {
		return true
	}
	if b.Warps[w].Values == nil {
		return false
	}
	v := b.Warps[w].Values[i]
	if v == (Value{}) || v.Stride == NoStride {
		return false
	}
	return ofIntegers(in) || !slices.ContainsFunc(in.Uses(x.list[:0]), func(r sass.Resource) bool { return r < sass.ResSB })
}

// tests marks the instructions that have set a predicate, as far as it does not follow from loaded values.
func (x *indexer) tests(events []Event, p sass.Resource, loaded, out []bool) {
	for i := len(events) - 1; i >= 0; i-- {
		in := x.program.Inst(events[i].Op)
		if !slices.Contains(in.Defs(x.list[:0]), p) {
			continue
		}
		if loaded[i] || out[i] || !ofIntegers(in) {
			return
		}
		out[i] = true
		for _, r := range in.Uses(nil) {
			if r >= sass.ResPred && r < sass.ResSB {
				x.tests(events[:i], r, loaded, out)
			}
		}
		return
	}
}

func indicate(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
