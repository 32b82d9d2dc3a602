package emu

import (
	"encoding/binary"
	"math/bits"

	"gpa/cubin/sass"
)

// Accesses of 256 bits (sm_100 and later) have their registers in two runs, one for each half of the 32 bytes. In their ops dst and b are
// the run of the lower half, c is that of the upper one.

// compileWideLoad keeps in pe which words are loaded; those of each half lie side by side in its registers.
func compileWideLoad(p *program, o *op) error {
	in := o.inst
	if condition := &in.Operands[4]; condition.Reg != sass.PT || condition.Not {
		return unsupported(o)
	}
	o.space, o.mode, o.run = spaceGlobal, sass.Size256, loadWide
	o.dst, o.c.reg, o.pe = p.dest(&in.Operands[1]), p.dest(&in.Operands[0]), uint8(in.Operands[3].Imm)
	return p.memoryOperand(o, 2)
}

func loadWide(w *warp, o *op) error {
	w.access(o, accessLoad)
	d := w.block.domain
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		from, err := w.global(o, lane, w.acc.addr[lane], int(w.acc.size))
		if err != nil {
			return err
		}
		if d.ahead && !d.stores.empty() {
			from = d.stores.read(w.acc.addr[lane], from)
		}
		o.eachWideWord(func(k, reg int) { w.regs[reg][lane] = binary.LittleEndian.Uint32(from[4*k:]) })
	}
	return nil
}

// eachWideWord calls f with the words of a load of 256 bits and where they go.
func (o *op) eachWideWord(f func(k, reg int)) {
	next := [2]int{int(o.dst), int(o.c.reg)}
	for m := o.pe; m != 0; m &= m - 1 {
		k := bits.TrailingZeros8(m)
		f(k, next[k/4])
		next[k/4]++
	}
}

func compileWideStore(p *program, o *op) (err error) {
	in := o.inst
	o.space, o.mode, o.run = spaceGlobal, sass.Size256, storeWide
	if o.b, err = p.source(&in.Operands[1], rawValue); err != nil {
		return err
	}
	if o.c, err = p.source(&in.Operands[2], rawValue); err != nil {
		return err
	}
	return p.memoryOperand(o, 0)
}

func storeWide(w *warp, o *op) error {
	w.access(o, accessStore)
	d := w.block.domain
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		to, err := w.stored(o, lane, w.acc.addr[lane], int(w.acc.size))
		if err != nil {
			return err
		}
		if d.ahead {
			to = d.stores.at(d.last, w.acc.addr[lane], uint64(w.acc.size))
		}
		for k := range len(to) / 4 {
			binary.LittleEndian.PutUint32(to[4*k:], w.wideWord(o, k)[lane])
		}
	}
	return nil
}

// wideWord returns the k-th word of a store of 256 bits.
func (w *warp) wideWord(o *op, k int) *lanes {
	if k < 4 {
		return w.word(&o.b, k)
	}
	return w.word(&o.c, k-4)
}
