package emu

import (
	"encoding/binary"
	"math/bits"

	"gpa/cubin/sass"
)

// memoryCompilers are the loads, stores and what goes with them. In their ops a is the address register, n the offset,
// mode the size of the access (a value of sass.Size) and b the data of a store.
var memoryCompilers = map[sass.Op]compiler{
	sass.LDG:    compileLoad(spaceGlobal, loadGlobal),
	sass.LD:     compileLoad(spaceGlobal, loadGeneric),
	sass.LDS:    compileLoad(spaceShared, loadShared),
	sass.LDL:    compileLoad(spaceLocal, loadLocal),
	sass.STG:    compileStore(spaceGlobal, storeGlobal),
	sass.ST:     compileStore(spaceGlobal, storeGeneric),
	sass.STS:    compileStore(spaceShared, storeShared),
	sass.STL:    compileStore(spaceLocal, storeLocal),
	sass.LDC:    compileLDC,
	sass.QSPC:   compileQSPC,
	sass.MEMBAR: compileNothing,
	sass.ERRBAR: compileNothing,
	sass.CCTL:   compileNothing,
	sass.CCTLL:  compileNothing,
	sass.ATOM:   compileAtomic,
	sass.ATOMG:  compileAtomic,
	sass.ATOMS:  compileAtomic,
	sass.RED:    compileAtomic,
}

// sizes are the bytes of an access by the value of sass.Size, and whether a narrow load extends a sign.
var sizes = [...]struct {
	bytes  uint8
	signed bool
}{
	sass.SizeU8: {1, false}, sass.SizeS8: {1, true}, sass.SizeU16: {2, false}, sass.SizeS16: {2, true},
	sass.Size32: {4, false}, sass.Size64: {8, false}, sass.Size128: {16, false}, sass.SizeU128: {16, false},
}

// compileNothing is for instructions that order memory or work on caches: the emulator executes in order.
func compileNothing(_ *program, o *op) error {
	o.run = nothing
	return nil
}

func nothing(*warp, *op) error { return nil }

// memoryOperand resolves the address at position at of the operand list.
func (p *program) memoryOperand(o *op, at int) error {
	m := o.inst.Operands[at]
	o.n = uint32(m.Offset)
	if m.Reg == sass.RZ {
		o.n &= 0xffffff
	}
	register := sass.Operand{Kind: sass.KindReg, Reg: m.Reg, Width: m.Width}
	var err error
	o.a, err = p.source(&register, rawValue)
	o.a.not = m.Width == 2 // a 64-bit address
	return err
}

// findOperand returns the position of the first operand of a kind.
func findOperand(in *sass.Inst, kind sass.Kind) int {
	for i := range in.Operands {
		if in.Operands[i].Kind == kind {
			return i
		}
	}
	return none
}

func compileLoad(s space, run execFunc) compiler {
	return func(p *program, o *op) error {
		in := o.inst
		o.mode = in.Mod(sass.Size)
		at := findOperand(in, sass.KindMem)
		if at < 1 || int(o.mode) >= len(sizes) || in.Mod(sass.ZD) != 0 {
			return unsupported(o)
		}
		o.dst = p.dest(&in.Operands[at-1])
		o.run = func(w *warp, o *op) error {
			w.access(o, s, accessLoad)
			return run(w, o)
		}
		return p.memoryOperand(o, at)
	}
}

func compileStore(s space, run execFunc) compiler {
	return func(p *program, o *op) error {
		in := o.inst
		o.mode = in.Mod(sass.Size)
		at := findOperand(in, sass.KindMem)
		if at < 0 || int(o.mode) >= len(sizes) {
			return unsupported(o)
		}
		if err := p.memoryOperand(o, at); err != nil {
			return err
		}
		o.run = func(w *warp, o *op) error {
			w.access(o, s, accessStore)
			return run(w, o)
		}
		var err error
		o.b, err = p.source(&in.Operands[at+1], rawValue)
		return err
	}
}

// access works out the addresses of an instruction.
func (w *warp) access(o *op, s space, kind accessKind) {
	acc := &w.acc
	acc.kind, acc.space, acc.size, acc.mask = kind, s, sizes[o.mode].bytes, w.mask
	switch {
	case w.mask == 0:
		acc.kind = accessNone
	case kind == accessStore:
		w.block.run.changes++
	}
	low := w.raw(&o.a)
	if !o.a.not || s != spaceGlobal {
		offset := o.n
		for i := range low {
			acc.addr[i] = uint64(low[i] + offset)
		}
		return
	}
	high := &zeroLanes
	if o.a.value == nil {
		high = &w.regs[o.a.reg+1]
	}
	offset := uint64(int64(int32(o.n)))
	for i := range low {
		acc.addr[i] = uint64(high[i])<<32 + uint64(low[i]) + offset
	}
}

// row returns the k-th register of a load's result. A lane that does not load keeps its value.
func (w *warp) row(o *op, k int) *lanes { return &w.regs[int(o.dst)+k] }

// global returns size bytes of a lane's address, or a fault.
func (w *warp) global(o *op, lane int, addr uint64, size int) ([]byte, error) {
	if addr&uint64(size-1) != 0 {
		return nil, w.addressFault(o, lane, Misaligned, addr, "")
	}
	run := w.block.run
	b := run.last
	if off := addr - b.addr; off < uint64(len(b.data)) && uint64(len(b.data))-off >= uint64(size) {
		return b.data[off : off+uint64(size)], nil
	}
	if b = run.machine.memory.find(addr); b == nil || b.end()-addr < uint64(size) {
		return nil, w.addressFault(o, lane, OutOfBounds, addr, "")
	}
	run.last = b
	return b.data[addr-b.addr : addr-b.addr+uint64(size)], nil
}

// take stores what a lane has loaded.
func (w *warp) take(o *op, lane int, from []byte) {
	switch o.mode {
	case sass.SizeU8:
		w.row(o, 0)[lane] = uint32(from[0])
	case sass.SizeS8:
		w.row(o, 0)[lane] = uint32(int32(int8(from[0])))
	case sass.SizeU16:
		w.row(o, 0)[lane] = uint32(binary.LittleEndian.Uint16(from))
	case sass.SizeS16:
		w.row(o, 0)[lane] = uint32(int32(int16(binary.LittleEndian.Uint16(from))))
	default:
		for k := 0; k < len(from); k += 4 {
			w.row(o, k/4)[lane] = binary.LittleEndian.Uint32(from[k:])
		}
	}
}

// give stores what a lane has to store.
func (w *warp) give(o *op, lane int, to []byte) {
	switch len(to) {
	case 1:
		to[0] = byte(w.raw(&o.b)[lane])
	case 2:
		binary.LittleEndian.PutUint16(to, uint16(w.raw(&o.b)[lane]))
	default:
		for k := 0; k < len(to); k += 4 {
			binary.LittleEndian.PutUint32(to[k:], w.word(&o.b, k/4)[lane])
		}
	}
}

// word returns the k-th register of an operand.
func (w *warp) word(s *source, k int) *lanes {
	if s.value != nil {
		return s.value
	}
	return &w.regs[int(s.reg)+k]
}

func loadGlobal(w *warp, o *op) error {
	size := int(w.acc.size)
	if size == 4 {
		return loadGlobalWord(w, o)
	}
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		from, err := w.global(o, i, w.acc.addr[i], size)
		if err != nil {
			return err
		}
		w.take(o, i, from)
	}
	return nil
}

// loadGlobalWord is the load that most code has most of.
func loadGlobalWord(w *warp, o *op) error {
	d, b := w.row(o, 0), w.block.run.last
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		addr := w.acc.addr[i]
		off := addr - b.addr
		if addr&3 == 0 && off+4 <= uint64(len(b.data)) && off < off+4 {
			d[i] = binary.LittleEndian.Uint32(b.data[off:])
			continue
		}
		from, err := w.global(o, i, addr, 4)
		if err != nil {
			return err
		}
		d[i] = binary.LittleEndian.Uint32(from)
		b = w.block.run.last
	}
	return nil
}

func storeGlobal(w *warp, o *op) error {
	size := int(w.acc.size)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		to, err := w.global(o, i, w.acc.addr[i], size)
		if err != nil {
			return err
		}
		w.give(o, i, to)
	}
	return nil
}

// shared returns size bytes of the block's shared memory.
func (w *warp) shared(o *op, lane int, addr uint64, size int) ([]byte, error) {
	data := w.block.shared
	if addr&uint64(size-1) != 0 {
		return nil, w.addressFault(o, lane, Misaligned, addr, "in shared memory")
	}
	if addr >= uint64(len(data)) || uint64(len(data))-addr < uint64(size) {
		return nil, w.addressFault(o, lane, OutOfBounds, addr, w.block.sharedDetail())
	}
	return data[addr : addr+uint64(size)], nil
}

func loadShared(w *warp, o *op) error {
	size := int(w.acc.size)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		from, err := w.shared(o, i, w.acc.addr[i], size)
		if err != nil {
			return err
		}
		w.take(o, i, from)
	}
	return nil
}

func storeShared(w *warp, o *op) error {
	size := int(w.acc.size)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		to, err := w.shared(o, i, w.acc.addr[i], size)
		if err != nil {
			return err
		}
		w.give(o, i, to)
	}
	return nil
}

// localBytes returns size bytes of a thread's local memory, and the address that the caches see: words of the 32 threads
// lie next to each other.
func (w *warp) localBytes(o *op, lane int, addr uint64, size int) (data []byte, behind uint64, err error) {
	if addr&uint64(size-1) != 0 {
		return nil, 0, w.addressFault(o, lane, Misaligned, addr, "in local memory")
	}
	b := w.local.bytes(lane, addr, size)
	if b == nil {
		return nil, 0, w.addressFault(o, lane, OutOfBounds, addr, w.localDetail())
	}
	return b, w.localBase() + addr/uint64(size)*32*uint64(size) + uint64(lane*size), nil
}

func loadLocal(w *warp, o *op) error {
	size := int(w.acc.size)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		from, behind, err := w.localBytes(o, i, w.acc.addr[i], size)
		if err != nil {
			return err
		}
		w.acc.addr[i] = behind
		w.take(o, i, from)
	}
	return nil
}

func storeLocal(w *warp, o *op) error {
	size := int(w.acc.size)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		to, behind, err := w.localBytes(o, i, w.acc.addr[i], size)
		if err != nil {
			return err
		}
		w.acc.addr[i] = behind
		w.give(o, i, to)
	}
	return nil
}

// memoryAt returns size bytes at a generic address, which the window that it lies in resolves, with the space and the
// address in it as the caches see it.
func (w *warp) memoryAt(o *op, lane int, addr uint64, size int) (data []byte, s space, at uint64, err error) {
	switch {
	case addr-sharedWindow < windowSize:
		data, err = w.shared(o, lane, addr-sharedWindow, size)
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

func loadGeneric(w *warp, o *op) error {
	size := int(w.acc.size)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		from, err := w.generic(o, i, size)
		if err != nil {
			return err
		}
		w.take(o, i, from)
	}
	return nil
}

func storeGeneric(w *warp, o *op) error {
	size := int(w.acc.size)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		to, err := w.generic(o, i, size)
		if err != nil {
			return err
		}
		w.give(o, i, to)
	}
	return nil
}

// compileLDC: a load from a constant bank at a register plus an offset. pe holds the bank.
func compileLDC(p *program, o *op) error {
	in := o.inst
	c := in.Operands[1]
	o.mode, o.n, o.pe = in.Mod(sass.Size), uint32(c.Offset)&0xffff, c.Bank
	if int(o.mode) >= len(sizes) || in.Mod(sass.LdcMode) != sass.LdcIA {
		return unsupported(o)
	}
	o.dst = p.dest(&in.Operands[0])
	register := sass.Operand{Kind: sass.KindReg, Reg: c.Reg, Width: 1}
	var err error
	o.a, err = p.source(&register, rawValue)
	o.run = ldc
	return err
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

// compileQSPC: which window an address lies in. pe holds the space asked for.
func compileQSPC(p *program, o *op) error {
	o.mode, o.pe, o.run = sass.Size32, uint8(o.inst.Mod(sass.Space)), qspc
	o.pd = destPredicate(&o.inst.Operands[0])
	return p.memoryOperand(o, findOperand(o.inst, sass.KindMem))
}

func qspc(w *warp, o *op) error {
	w.access(o, spaceGlobal, accessNone)
	var r uint32
	for i, addr := range w.acc.addr {
		in := sass.SpaceG
		switch {
		case addr-sharedWindow < windowSize:
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
