package emu

import (
	"fmt"

	"gpa/cubin/sass"
	"gpa/emu/mem"
)

// tensorCopyCompilers are copies of boxes of tensors between global and shared memory (PTX ISA, cp.async.bulk.tensor and
// cp.reduce.async.bulk.tensor). A copy takes place when it issues, as early as the PTX ISA allows; groups of copies are complete at once.
var tensorCopyCompilers = map[sass.Op]compiler{
	sass.UTMALDG:      compileTensorCopy,
	sass.UTMASTG:      compileTensorCopy,
	sass.UTMAREDG:     compileTensorCopy,
	sass.UTMAPF:       compileTensorCopy,
	sass.UTMACMDFLUSH: compileNothing,
	sass.UTMACCTL:     compileNothing, // tensor maps are read where they lie
}

// A tensorCopy is an instruction on a box made ready. One issue of a warp is one copy, whichever lanes are active. The op's a is the first of
// the uniform registers with the address in shared memory, of a load that of the transaction barrier, and the coordinates; b the address of
// the map; c the blocks that a multicast is for, in its upper half.
type tensorCopy struct {
	rank      int
	load      bool
	prefetch  bool
	multicast bool
	reduce    *bulkReduction // of UTMAREDG
	first     int            // register of the first coordinate, counted from a
}

func compileTensorCopy(p *program, o *op) (err error) {
	in := o.inst
	c := &tensorCopy{rank: int(in.Mod(sass.TmaDim)), load: in.Op == sass.UTMALDG, prefetch: in.Op == sass.UTMAPF, multicast: in.Mod(sass.Multicast) != 0, first: 1}
	switch in.Op {
	case sass.UTMALDG:
		c.first = 2
	case sass.UTMAPF:
		c.first = 0
	case sass.UTMAREDG:
		c.reduce = &bulkReduction{op: in.Mod(sass.AtomOp)}
	}
	if in.Mod(sass.Im2Col) != 0 {
		return fmt.Errorf("%s is not supported: where a tensor map of im2col has its fields is not known", in.Mnemonic())
	}
	if o.a, err = p.uniformAddress(o, 0, c.first+c.rank); err != nil {
		return err
	}
	if o.b, err = p.uniformAddress(o, 1, 2); err != nil {
		return err
	}
	if c.multicast {
		o.c, err = p.source(&in.Operands[2], rawValue)
	}
	o.run, o.ordered = c.run, true // the tensor is read and written at once, past what the SM has stored of its own
	return err
}

// uniformAddress resolves the uniform registers from the one of an address on.
func (p *program) uniformAddress(o *op, at, width int) (source, error) {
	return p.source(&sass.Operand{Kind: sass.KindUReg, Reg: o.inst.Operands[at].UReg, Width: uint8(width)}, rawValue)
}

func (c *tensorCopy) run(w *warp, o *op) error {
	w.bulk = bulkCopy{lines: w.bulk.lines[:0], barriers: w.bulk.barriers[:0], kind: mem.Write}
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
	b, err := m.at(first)
	if err != nil {
		return w.fault(o, lane, Unsupported, fmt.Sprintf("%s: %v", o.inst.Mnemonic(), err))
	}
	at := uint64(w.raw(&o.a)[0])
	switch {
	case c.prefetch:
		w.bulk.kind = mem.Read
		b.touch(&w.bulk)
		return nil
	case c.load:
		w.bulk.kind = mem.Read
		to, err := w.destination(o, lane, at, uint64(w.word(&o.a, 1)[0]), c.mask(w, o))
		if err != nil {
			return err
		}
		if err = c.fetch(w, o, lane, b, to); err != nil {
			return err
		}
		return w.complete(o, lane, to, b.bytes())
	}
	return c.store(w, o, lane, b, at)
}

// mask returns the blocks that a multicast is for, by rank; 0 for a copy to one.
func (c *tensorCopy) mask(w *warp, o *op) uint32 {
	if !c.multicast {
		return 0
	}
	return w.raw(&o.c)[0] >> 16
}

// tensorMap reads the map: a parameter of the kernel, or in global memory.
func (c *tensorCopy) tensorMap(w *warp, o *op, lane int) (*TensorMap, error) {
	addr := uint64(w.word(&o.b, 1)[0])<<32 | uint64(w.raw(&o.b)[0])
	var encoded [TensorMapBytes]byte
	if addr%TensorMapAlign != 0 {
		return nil, w.addressFault(o, lane, Misaligned, addr, "of a tensor map")
	}
	if at := addr - w.block.run.parameters(); at < windowSize {
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

// fetch copies the elements of a box to one or more blocks. Those outside the tensor are filled.
func (c *tensorCopy) fetch(w *warp, o *op, lane int, b *tensorBox, to *bulkTarget) error {
	unit := b.unit()
	size := unit.global
	for k := range b.units() {
		addr, inside := b.element(k)
		from := w.bulk.room[:size]
		if inside {
			w.bulk.touch(addr, size)
			var err error
			if from, err = w.global(o, lane, addr, int(size)); err != nil {
				return err
			}
			w.accessed(Span{Kind: Load, Space: Global, Addr: addr, Size: int(size)})
			from = b.Type.loaded(from, w.bulk.room[:])
		} else {
			b.fill(from)
		}
		if err := w.put(o, lane, to, b.Swizzle.of(to.at+k*unit.shared), from); err != nil {
			return err
		}
	}
	return nil
}

// store copies or reduces the elements of a box. Those outside the tensor are left out.
func (c *tensorCopy) store(w *warp, o *op, lane int, b *tensorBox, at uint64) error {
	unit := b.unit()
	size := unit.global
	if _, rounded := roundedTypes[b.Type]; rounded || c.reduce != nil && !c.reduce.of(b.Type) {
		return w.fault(o, lane, Unsupported, fmt.Sprintf("%s of a tensor of type %d", o.inst.Mnemonic(), b.Type))
	}
	base := w.block.own(at)
	for k := range b.units() {
		at := b.Swizzle.of(base + k*unit.shared)
		from, err := w.shared(o, lane, at, int(size))
		if err != nil {
			return err
		}
		w.accessed(Span{Kind: Load, Space: Shared, Addr: at, Size: int(size)})
		addr, inside := b.element(k)
		if !inside {
			continue
		}
		w.bulk.touch(addr, size)
		if err := w.putGlobal(o, lane, addr, from, c.reduce); err != nil {
			return err
		}
	}
	return nil
}
