package emu

import (
	"math/bits"

	"gpa/cubin/sass"
)

// memoryAt returns size bytes at a generic address to read, which the window that it lies in resolves, with the space and the
// address in it as the caches see it.
func (w *warp) memoryAt(o *op, lane int, addr uint64, size int) (data []byte, s space, at uint64, err error) {
	switch {
	case addr-sharedWindow < windowSize, w.block.cluster != nil && addr-sharedWindow < clusterWindow:
		_, data, err = w.peer(o, lane, addr-sharedWindow, size)
		return data, spaceShared, addr - sharedWindow, err
	case addr-localWindow < windowSize:
		data, at, err = w.localBytes(o, lane, addr-localWindow, size)
		return data, spaceLocal, at, err
	}
	data, err = w.global(o, lane, addr, size)
	return data, spaceGlobal, addr, err
}

// generic is memoryAt for an access, which takes the space of its last lane: lanes of one instruction in different spaces
// are rare.
func (w *warp) generic(o *op, lane int, size int) (data []byte, err error) {
	data, w.acc.space, w.acc.addr[lane], err = w.memoryAt(o, lane, w.acc.addr[lane], size)
	return data, err
}

// seen returns what a lane of a generic load sees where memory holds from.
func (w *warp) seen(lane int, from []byte) []byte {
	d := w.block.domain
	if !d.ahead || w.acc.space != spaceGlobal || d.stores.empty() {
		return from
	}
	return d.stores.read(w.acc.addr[lane], from)
}

// kept returns where a lane of a generic store leaves its bytes that are to go to a place in memory.
func (w *warp) kept(lane int, to []byte) ([]byte, error) {
	d := w.block.domain
	switch {
	case w.acc.space != spaceGlobal:
		return to, nil
	case d.ahead:
		return d.stores.at(d.last, w.acc.addr[lane], uint64(len(to))), nil
	}
	return w.owned(w.acc.addr[lane], to)
}

func loadGeneric(w *warp, o *op) error {
	w.access(o, accessLoad)
	size := int(w.acc.size)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		from, err := w.generic(o, i, size)
		if err != nil {
			return err
		}
		w.take(o, i, w.seen(i, from))
	}
	return nil
}

func storeGeneric(w *warp, o *op) error {
	w.access(o, accessStore)
	size := int(w.acc.size)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		to, err := w.generic(o, i, size)
		if err == nil {
			to, err = w.kept(i, to)
		}
		if err != nil {
			return err
		}
		w.give(o, i, to)
	}
	return nil
}

// compileQSPC: which window an address lies in. pe holds the space asked for.
func compileQSPC(p *program, o *op) error {
	o.mode, o.pe, o.run = sass.Size32, uint8(o.inst.Mod(sass.Space)), qspc
	o.pd = destPredicate(&o.inst.Operands[0])
	return p.memoryOperand(o, findOperand(o.inst, sass.KindMem))
}

func qspc(w *warp, o *op) error {
	w.access(o, accessNone)
	var r uint32
	for i, addr := range w.acc.addr {
		in := sass.SpaceG
		switch {
		case addr-sharedWindow < windowSize, w.block.cluster != nil && addr-sharedWindow < clusterWindow:
			in = sass.SpaceS
		case addr-localWindow < windowSize:
			in = sass.SpaceL
		}
		if in == uint16(o.pe) {
			r |= 1 << i
		}
	}
	w.set(o.pd, r)
	return nil
}
