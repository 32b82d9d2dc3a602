package emu

import (
	"fmt"

	"gpa/cubin/sass"
)

// tensorCopyCompilers are copies of boxes of tensors between global and shared memory (PTX ISA, cp.async.bulk.tensor). A copy takes place
// when it issues, as early as the PTX ISA allows; groups of copies are complete at once.
var tensorCopyCompilers = map[sass.Op]compiler{
	sass.UTMALDG:      compileTensorCopy,
	sass.UTMASTG:      compileTensorCopy,
	sass.UTMACMDFLUSH: compileNothing,
}

// A tensorCopy is UTMALDG or UTMASTG made ready. One issue of a warp is one copy, whichever lanes are active. The op's a is the first of the
// uniform registers with the address in shared memory, of a load that of the transaction barrier, and the coordinates; b the address of the map.
type tensorCopy struct {
	rank  int
	load  bool
	first int // register of the first coordinate, counted from a
}

func compileTensorCopy(p *program, o *op) (err error) {
	in := o.inst
	c := &tensorCopy{rank: int(in.Mod(sass.TmaDim)), load: in.Op == sass.UTMALDG, first: 1}
	if c.load {
		c.first = 2
	}
	switch {
	case in.Mod(sass.Im2Col) != 0:
		return fmt.Errorf("%s is not supported: where a tensor map of im2col has its fields is not known", in.Mnemonic())
	case in.Mod(sass.Multicast) != 0:
		return unsupported(o)
	}
	register := func(at int, width int) (source, error) {
		return p.source(&sass.Operand{Kind: sass.KindUReg, Reg: in.Operands[at].UReg, Width: uint8(width)}, rawValue)
	}
	if o.a, err = register(0, c.first+c.rank); err != nil {
		return err
	}
	o.b, err = register(1, 2)
	o.run, o.ordered = c.run, true // the tensor is read and written at once, past what the SM has stored of its own
	return err
}

func (c *tensorCopy) run(w *warp, o *op) error {
	if w.mask == 0 {
		return nil
	}
	lane := w.first()
	m, err := c.tensorMap(w, o, lane)
	if err != nil {
		return err
	}
	if len(m.Sizes) != c.rank {
		return w.fault(o, lane, Unsupported, fmt.Sprintf("%s of a tensor map with %d dimensions", o.inst.Mnemonic(), len(m.Sizes)))
	}
	first := make([]int32, c.rank)
	for i := range first {
		first[i] = int32(w.word(&o.a, c.first+i)[0])
	}
	b := m.at(first)
	to := uint64(w.raw(&o.a)[0]) & (windowSize - 1)
	w.bulk = bulkCopy{lines: w.bulk.lines[:0], load: c.load}
	barrier := uint64(0)
	if c.load {
		barrier = uint64(w.word(&o.a, 1)[0]) & (windowSize - 1)
	}
	if err := c.move(w, o, lane, b, to, barrier); err != nil || !c.load {
		return err
	}
	w.block.domain.changes++
	w.bulk.barrier = barrier
	_, err = w.arriveAt(o, lane, barrier, func(old uint64) uint64 {
		return uint64(transactionBarrier(old).after(arrival{transactions: -int32(b.bytes())}))
	})
	return err
}

// tensorMap reads the map: a parameter of the kernel, or in global memory.
func (c *tensorCopy) tensorMap(w *warp, o *op, lane int) (*TensorMap, error) {
	addr := uint64(w.word(&o.b, 1)[0])<<32 | uint64(w.raw(&o.b)[0])
	var encoded [TensorMapBytes]byte
	if addr%TensorMapAlign != 0 {
		return nil, w.addressFault(o, lane, Misaligned, addr, "of a tensor map")
	}
	if at := addr - parameterWindow; at < windowSize {
		bank, base := w.block.run.program.banks[0], uint64(w.block.run.launch.Kernel.ParamBase)
		if base+at+TensorMapBytes > uint64(len(bank)) {
			return nil, w.addressFault(o, lane, OutOfBounds, addr, "behind the kernel's parameters")
		}
		copy(encoded[:], bank[base+at:])
	} else {
		for k := uint64(0); k < TensorMapBytes; k += 16 {
			from, err := w.global(o, lane, addr+k, 16)
			if err != nil {
				return nil, err
			}
			copy(encoded[k:], from)
		}
	}
	m, err := decodeTensorMap(encoded[:])
	if err != nil {
		return nil, w.fault(o, lane, Unsupported, fmt.Sprintf("%s: %v", o.inst.Mnemonic(), err))
	}
	return m, nil
}

// move copies the elements of a box. Those outside the tensor are filled by a load and left out by a store.
func (c *tensorCopy) move(w *warp, o *op, lane int, b *tensorBox, base, barrier uint64) error {
	size := b.Type.Bytes()
	for k := range b.bytes() / size {
		at := b.Swizzle.of(base + k*size)
		in, err := w.shared(o, lane, at, int(size))
		if err != nil {
			return err
		}
		if c.load {
			w.accessed(Span{Store, Shared, at, int(size), barrier})
		} else {
			w.accessed(Span{Load, Shared, at, int(size), 0})
		}
		addr, ok := b.element(k)
		if ok {
			w.bulk.touch(addr, size)
		}
		switch {
		case ok && c.load:
			from, err := w.global(o, lane, addr, int(size))
			if err != nil {
				return err
			}
			w.accessed(Span{Load, Global, addr, int(size), 0})
			copy(in, from)
		case ok:
			to, err := w.stored(o, lane, addr, int(size))
			if err != nil {
				return err
			}
			w.accessed(Span{Store, Global, addr, int(size), 0})
			copy(to, in)
		case c.load:
			b.fill(in)
		}
	}
	return nil
}
