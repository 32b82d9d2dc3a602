package emu

import (
	"math/bits"

	"gpa/cubin/sass"
)

// copyCompilers are the copies from global to shared memory without registers in between (PTX ISA, cp.async). Here a copy
// takes place when it issues, as early as the PTX ISA allows; the waits for it cost time only.
var copyCompilers = map[sass.Op]compiler{
	sass.LDGSTS:    compileLDGSTS,
	sass.LDGDEPBAR: compileNothing,
}

// A copyOp is LDGSTS made ready. The op's address is that in global memory; b is the register of the address in shared
// memory and c its uniform part, whose not says that there is one.
type copyOp struct {
	offset uint32 // in shared memory
	size   int
	fill   bool // .ZFILL: the last bytes are zeros
}

// compileLDGSTS: with .ZFILL the lowest bits of the global address, which is a multiple of the size without them, say how many
// bytes are not copied: code for cp.async with a src-size of n adds (size-n) mod size to the address, and has a false
// predicate where n is 0.
func compileLDGSTS(p *program, o *op) error {
	in := o.inst
	o.mode, o.space = in.Mod(sass.Size), spaceShared
	if err := p.memoryOperand(o, 0); err != nil {
		return err
	}
	c := &copyOp{offset: o.n, size: int(sizes[o.mode].bytes), fill: in.Mod(sass.ZFill) != 0}
	o.b, o.c = o.a, o.u
	o.space, o.u = spaceGlobal, source{}
	o.pp = predicateOf(&in.Operands[2])
	o.run = c.run
	return p.memoryOperand(o, 1)
}

// run copies in the lanes in which the predicate holds and writes zeros in the others.
func (c *copyOp) run(w *warp, o *op) error {
	w.access(o, accessLoad)
	copies := w.mask & w.get(o.pp)
	if w.acc.mask = copies; copies == 0 {
		w.acc.kind = accessNone
	}
	if w.mask != 0 {
		w.block.domain.changes++
	}
	base := c.offset
	if o.c.not {
		base += w.raw(&o.c)[0]
	}
	register := w.raw(&o.b)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		to, err := w.shared(o, i, uint64(register[i]+base), c.size)
		if err != nil {
			return err
		}
		if copies>>i&1 == 0 {
			clear(to)
			continue
		}
		n := c.size
		if skip := w.acc.addr[i] & uint64(c.size-1); c.fill && skip != 0 {
			n -= int(skip)
			w.acc.addr[i] -= skip
			clear(to[n:])
		}
		if err := c.copy(w, o, i, to[:n]); err != nil {
			return err
		}
	}
	return nil
}

// copy copies the bytes of a lane: all of them at once, or those of a part one by one.
func (c *copyOp) copy(w *warp, o *op, lane int, to []byte) error {
	size := len(to)
	if size != c.size {
		size = 1
	}
	for k := 0; k < len(to); k += size {
		from, err := w.global(o, lane, w.acc.addr[lane]+uint64(k), size)
		if err != nil {
			return err
		}
		copy(to[k:], from)
	}
	return nil
}
