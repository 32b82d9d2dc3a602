package emu

import (
	"math/bits"

	"gpa/cubin/sass"
)

// compileLDC: a load from a constant bank at a register plus an offset. pe holds the bank.
func compileLDC(p *program, o *op) error {
	in := o.inst
	c := in.Operands[1]
	o.mode, o.n, o.pe = in.Mod(sass.Size), constantOffset(&c), c.Bank
	if int(o.mode) >= len(sizes) || in.Mod(sass.LdcMode) != sass.LdcIA {
		return unsupported(o)
	}
	o.dst = p.dest(&in.Operands[0])
	register := sass.Operand{Kind: sass.KindReg, Reg: c.Reg, Width: 1}
	if c.UReg != sass.URZ {
		register = sass.Operand{Kind: sass.KindUReg, Reg: c.UReg, Width: 1}
	}
	var err error
	o.a, err = p.source(&register, rawValue)
	o.run = ldc
	return err
}

// constantOffset is the offset of an operand in its bank, of at most 64 KiB. That of an operand that stands alone has no sign,
// although it is printed with one. What is added to a register has: for a read 40000 bytes behind the register, ptxas adds
// 0x10000 to it and encodes -0x63c0.
func constantOffset(c *sass.Operand) uint32 {
	if c.Reg == sass.RZ && c.UReg == sass.URZ {
		return uint32(c.Offset) & 0xffff
	}
	return uint32(c.Offset)
}

func ldc(w *warp, o *op) error {
	bank, a, size := w.block.run.program.banks[o.pe&31], w.raw(&o.a), int(sizes[o.mode].bytes)
	w.acc.mask = w.mask
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		addr := uint64(a[i] + o.n)
		w.acc.addr[i] = addr
		switch {
		case addr&uint64(size-1) != 0:
			return w.addressFault(o, i, Misaligned, addr, "in a constant bank")
		case addr+uint64(size) > uint64(len(bank)):
			return w.addressFault(o, i, OutOfBounds, addr, "in a constant bank")
		}
		w.take(o, i, bank[addr:addr+uint64(size)])
	}
	return nil
}
