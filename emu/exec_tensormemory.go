package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"gpa/cubin/sass"
)

// tensorMemoryCompilers are what allocates, loads and stores tensor memory, and what tells that products are complete (PTX ISA, tcgen05).
// Like products of warpgroups what is asynchronous has taken place when it has issued; the waits for it cost time only.
var tensorMemoryCompilers = map[sass.Op]compiler{
	sass.LDTM:       compileTensorAccess,
	sass.STTM:       compileTensorAccess,
	sass.UTCATOMSWS: compileAllocation,
	sass.UTCBAR:     compileTensorCommit,
	sass.UTCCP:      compileTensorRefill,
	sass.UVIRTCOUNT: compileNothing,
}

// A tensorAccess is LDTM or STTM: each warp of a warpgroup reaches the 32 lanes that are its own, of some shape (PTX ISA, tcgen05.ld: matrix
// shapes; in which thread and register an element is say CUTLASS's copy_traits_sm100.hpp). The op's a is the address, its n the offset
// there, b what is stored.
type tensorAccess struct {
	shape     uint16
	registers int
	packed    bool // two columns a register, of which the lower halves count
	stores    bool
}

func compileTensorAccess(p *program, o *op) (err error) {
	in := o.inst
	x := &tensorAccess{shape: in.Mod(sass.TensorShape), packed: in.Mod(sass.Packs) != 0, stores: in.Op == sass.STTM}
	address := &in.Operands[findOperand(in, sass.KindTMem)]
	if o.n, o.run = uint32(address.Offset), x.run; x.stores {
		value := &in.Operands[1]
		x.registers = int(value.Width)
		if o.b, err = p.source(value, rawValue); err != nil {
			return err
		}
	} else {
		if in.Operands[0].Reg == sass.RZ {
			o.run = nothing
		}
		o.dst, x.registers = p.dest(&in.Operands[0]), int(in.Operands[0].Width)
	}
	o.a, err = p.uniformSource(address, address.Width)
	return err
}

// uniformSource resolves the first so many uniform registers of an operand that says more than their value: an address in tensor memory, a
// descriptor.
func (p *program) uniformSource(o *sass.Operand, width uint8) (source, error) {
	return p.source(&sass.Operand{Kind: sass.KindUReg, Reg: o.Reg, Width: width}, rawValue)
}

// place returns the lane and the column, counted from the address on, of what a thread has in a register.
func (x *tensorAccess) place(thread, register int) (lane, column int) {
	switch x.shape {
	case sass.Tensor16x64:
		return thread>>2 + 8*(thread&1), thread>>1&1 + 2*register
	case sass.Tensor16x128:
		return thread>>2 + 8*(register&1), thread&3 + 4*(register>>1)
	case sass.Tensor16x256:
		return thread>>2 + 8*(register>>1&1), 2*(thread&3) + register&1 + 8*(register>>2)
	case sass.TensorUpperHalf:
		return thread - 16, register
	}
	return thread, register
}

// extent returns the threads, lanes and columns of an access.
func (x *tensorAccess) extent() (threads uint32, lanes, columns int) {
	threads, lanes, columns = allLanes, 16, x.registers
	switch x.shape {
	case sass.Tensor32x32:
		lanes = 32
	case sass.Tensor16x64, sass.Tensor16x128, sass.Tensor16x256:
		columns = 2 * x.registers
	case sass.TensorLowerHalf:
		threads = 1<<16 - 1
	case sass.TensorUpperHalf:
		threads = allLanes &^ (1<<16 - 1)
	}
	if x.packed {
		columns *= 2
	}
	return threads, lanes, columns
}

func (x *tensorAccess) run(w *warp, o *op) error {
	if w.mask == 0 {
		return nil
	}
	at := tensorPlace(w.raw(&o.a)[0] + o.n)
	threads, lanes, columns := x.extent()
	m, err := w.block.window(w, o, at, lanes, columns)
	if err != nil {
		return err
	}
	if own := 32 * (w.id & 3); at.lane() < own || at.lane()+lanes > own+32 {
		return w.addressFault(o, w.first(), OutOfBounds, uint64(at), fmt.Sprintf("in tensor memory: warp %d reaches lanes %d to %d, not %d to %d", w.id, own, own+31, at.lane(), at.lane()+lanes-1))
	}
	for t := w.mask & threads; t != 0; t &= t - 1 {
		thread := bits.TrailingZeros32(t)
		for r := range x.registers {
			lane, column := x.place(thread, r)
			if x.packed {
				column *= 2
			}
			cells := m.cells[at.lane()+lane][at.column()+column:]
			switch {
			case x.packed && x.stores:
				v := w.word(&o.b, r)[thread]
				cells[0], cells[1] = v&0xffff, v>>16
			case x.packed:
				w.regs[int(o.dst)+r][thread] = cells[0]&0xffff | cells[1]<<16
			case x.stores:
				cells[0] = w.word(&o.b, r)[thread]
			default:
				w.regs[int(o.dst)+r][thread] = cells[0]
			}
		}
	}
	return nil
}

// compileAllocation: UTCATOMSWS finds columns of tensor memory that are free and allocates them, or makes the block's others. It counts
// units of columns, in its result too.
func compileAllocation(p *program, o *op) (err error) {
	in := o.inst
	o.pd, o.dst = sass.PT, p.dest(&in.Operands[1])
	if o.b, err = p.source(&in.Operands[2], rawValue); err != nil {
		return err
	}
	pair := in.Mod(sass.BlockPair) != 0
	if !in.HasMod(sass.Aligned) {
		if pair { // compilers have each block of a pair free its own
			return unsupported(o)
		}
		o.mode, o.run = in.Mod(sass.AtomOp), changeColumns
		return nil
	}
	if pair && p.clustered && p.pairing == nil {
		return fmt.Errorf("%s is not supported where no symbol says what shared memory has for it", in.Mnemonic())
	}
	o.pd, o.mode, o.run, o.asks = destPredicate(&in.Operands[0]), in.Mod(sass.Aligned), findColumns, true
	return nil
}

func findColumns(w *warp, o *op) error {
	if w.mask == 0 {
		return nil
	}
	blocks, err := w.pairOf(o)
	if err != nil {
		return err
	}
	units := make([]*tensorUnits, 0, 2)
	for _, b := range blocks {
		units = append(units, &b.tensorMemory().tensorUnits)
	}
	first, ok := findUnits(units, int(w.raw(&o.b)[0]), o.mode != 0)
	w.setUniform(o, uint32(first))
	if w.block.domain.changes++; o.pd != sass.PT {
		w.preds[o.pd] = 0
		if ok {
			w.preds[o.pd] = allLanes
		}
	}
	return nil
}

func changeColumns(w *warp, o *op) error {
	if w.mask == 0 {
		return nil
	}
	m := w.block.tensorMemory()
	before, v := m.allocated, w.raw(&o.b)[0]
	if o.mode == sass.AtomAND {
		m.change(before & v)
	} else {
		m.change(before | v)
	}
	w.block.domain.changes++
	w.setUniform(o, before)
	return nil
}

// compileTensorCommit: UTCBAR arrives at a transaction barrier when the products and copies that the thread has begun are complete (PTX ISA,
// tcgen05.commit), or with a mask at those of several blocks of the cluster. The op's a is the barrier's address, b the mask.
func compileTensorCommit(p *program, o *op) (err error) {
	in := o.inst
	if o.a, err = p.uniformAddress(o, 0, 1); err != nil {
		return err
	}
	o.b, err = p.source(&in.Operands[2], rawValue)
	o.run = tensorCommit
	return err
}

func tensorCommit(w *warp, o *op) error {
	w.bulk.barriers = w.bulk.barriers[:0]
	if w.mask == 0 {
		return nil
	}
	lane, at := w.first(), uint64(w.raw(&o.a)[0])
	if w.block.cluster == nil {
		at = w.block.own(at)
	}
	to, err := w.destination(o, lane, at, at, w.raw(&o.b)[0])
	if err != nil {
		return err
	}
	for _, b := range to.blocks {
		old, err := w.countAt(o, lane, b, to.barrier, arrival{count: 1})
		if err != nil {
			return err
		}
		w.accessed(Span{Kind: Atomic, Space: Shared, Addr: to.barrier, Size: 8, Barrier: to.barrier, Block: b.number, Counting: b.number})
		w.uses(MbarrierUse{Kind: MbarrierArrive, Lane: lane, Addr: to.barrier, Count: 1, Pending: old.pending()})
	}
	w.block.domain.changes++
	return nil
}

// A tensorRefill is UTCCP: rows of a matrix in shared memory become lanes of tensor memory (PTX ISA, tcgen05.cp; CUTLASS's
// copy_traits_sm100.hpp says to which lanes). The op's a is the address, its n the offset there, u the descriptor.
type tensorRefill struct {
	rows, bytes int
	copies      []int // how many lanes behind the first the rows begin, for each time that they are written
	parts       int   // of the rows, each of which is written so
}

func compileTensorRefill(p *program, o *op) (err error) {
	in := o.inst
	c := &tensorRefill{rows: 128, bytes: 16, copies: []int{0}, parts: 1}
	switch in.Mod(sass.TensorCopy) {
	case sass.Copy128x256:
		c.bytes = 32
	case sass.Copy64Alternate:
		c.rows, c.copies = 64, []int{0, 64}
	case sass.Copy64Adjacent:
		c.rows, c.copies, c.parts = 64, []int{0, 32}, 2
	case sass.Copy32:
		c.rows, c.copies = 32, []int{0, 32, 64, 96}
	case sass.Copy4x256:
		return unsupported(o)
	}
	if in.Mod(sass.BlockPair) != 0 || in.Mod(sass.Unpacks) != 0 {
		return unsupported(o)
	}
	o.n, o.run = uint32(in.Operands[0].Offset), c.run
	if o.a, err = p.uniformSource(&in.Operands[0], in.Operands[0].Width); err != nil {
		return err
	}
	o.u, err = p.uniformSource(&in.Operands[1], 2)
	return err
}

func (c *tensorRefill) run(w *warp, o *op) error {
	w.tensor = tensorWork{}
	if w.mask == 0 {
		return nil
	}
	at := tensorPlace(w.raw(&o.a)[0] + o.n)
	from := &matrix{w.matrixDescriptor(&o.u, 0), w.block, false, 1}
	rows := make([]groupRow, c.rows)
	if err := from.read(w, o, rows, 0, c.bytes); err != nil {
		return err
	}
	m, err := w.block.window(w, o, at, tensorLanes, c.bytes/4)
	if err != nil {
		return err
	}
	each := c.rows / c.parts
	for i := range rows {
		for _, behind := range c.copies {
			lane := at.lane() + i%each + i/each*64 + behind
			for k := range c.bytes / 4 {
				m.cells[lane][at.column()+k] = binary.LittleEndian.Uint32(rows[i][4*k:])
			}
		}
	}
	w.tensor = tensorWork{bytes: c.rows * c.bytes}
	return nil
}
