package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"gpa/cubin/sass"
)

// memoryCompilers are the loads, stores and what goes with them. In their ops a is the address register, n the offset,
// mode the size of the access (a value of sass.Size) and b the data of a store.
var memoryCompilers = map[sass.Op]compiler{
	sass.LDG:       compileLoad(spaceGlobal, loadGlobal),
	sass.LD:        compileLoad(spaceGlobal, loadGeneric),
	sass.LDS:       compileLoad(spaceShared, loadShared),
	sass.LDL:       compileLoad(spaceLocal, loadLocal),
	sass.STG:       compileStore(spaceGlobal, storeGlobal),
	sass.ST:        compileStore(spaceGlobal, storeGeneric),
	sass.STS:       compileStore(spaceShared, storeShared),
	sass.STL:       compileStore(spaceLocal, storeLocal),
	sass.LDC:       compileLDC,
	sass.QSPC:      compileQSPC,
	sass.MEMBAR:    compileNothing,
	sass.ERRBAR:    compileNothing,
	sass.CGAERRBAR: compileNothing,
	sass.CCTL:      compileNothing,
	sass.CCTLL:     compileNothing,
	sass.ATOM:      compileAtomic,
	sass.ATOMG:     compileAtomic,
	sass.ATOMS:     compileAtomic,
	sass.RED:       compileAtomic,
	sass.REDG:      compileAtomic,
}

// sizes are the bytes of an access by the value of sass.Size, and whether a narrow load extends a sign.
var sizes = [...]struct {
	bytes  uint8
	signed bool
}{
	sass.SizeU8: {1, false}, sass.SizeS8: {1, true}, sass.SizeU16: {2, false}, sass.SizeS16: {2, true},
	sass.Size32: {4, false}, sass.Size64: {8, false}, sass.Size128: {16, false}, sass.SizeU128: {16, false}, sass.Size256: {32, false},
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
	described := o.inst.Form.Operands[at].Descriptor // whose selector is none of the register's
	uniform := m.UReg != sass.URZ && o.inst.Arch >= sass.SM75 && !described
	o.n = uint32(m.Offset)
	register := sass.Operand{Kind: sass.KindReg, Reg: m.Reg, Width: m.Width}
	if !described {
		register.Swz = m.Swz
	}
	var err error
	o.a, err = p.source(&register, rawValue)
	o.a.not = m.Width == 2 // a 64-bit address
	if err == nil && uniform {
		width := uint8(1)
		if o.space == spaceGlobal {
			width = 2
		}
		o.u, err = p.source(&sass.Operand{Kind: sass.KindUReg, Reg: m.UReg, Width: width}, rawValue)
		o.u.not = true
	}
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
		if o.mode = in.Mod(sass.Size); o.mode == sass.Size256 {
			return compileWideLoad(p, o)
		}
		at := findOperand(in, sass.KindMem)
		if at < 1 || int(o.mode) >= len(sizes) || in.Mod(sass.ZD) != 0 {
			return unsupported(o)
		}
		if in.Op == sass.LDG && destPredicate(&in.Operands[0]) != sass.PT {
			return fmt.Errorf("%s with a predicate as a result is not supported", in.Mnemonic())
		}
		o.dst = p.dest(&in.Operands[at-1])
		o.space, o.run = s, run
		if last := &in.Operands[len(in.Operands)-1]; last.Kind == sass.KindPred && last.Source && (last.Reg != sass.PT || last.Not) {
			o.pp, o.run = predicateOf(last), orZero(run)
		}
		return p.memoryOperand(o, at)
	}
}

// orZero is a load with a predicate behind its address: where that is false, nothing is read and the result is zero. Compilers
// do not write it. The hand-written matrix products of cuBLAS read the edges of matrices so, into registers that nothing has
// cleared before and whose values they use in any case.
func orZero(run execFunc) execFunc {
	return func(w *warp, o *op) error {
		mask := w.mask
		without := mask &^ w.get(o.pp)
		for k := range max(int(sizes[o.mode].bytes)/4, 1) {
			row := w.row(o, k)
			for m := without; m != 0; m &= m - 1 {
				row[bits.TrailingZeros32(m)] = 0
			}
		}
		w.mask = mask &^ without
		err := run(w, o)
		w.mask = mask
		return err
	}
}

func compileStore(s space, run execFunc) compiler {
	return func(p *program, o *op) (err error) {
		in := o.inst
		if o.mode = in.Mod(sass.Size); o.mode == sass.Size256 {
			return compileWideStore(p, o)
		}
		at := findOperand(in, sass.KindMem)
		if at < 0 || int(o.mode) >= len(sizes) {
			return unsupported(o)
		}
		o.space, o.run = s, run
		if err = p.memoryOperand(o, at); err == nil {
			o.b, err = p.source(&in.Operands[at+1], rawValue)
		}
		return err
	}
}

// addressShift is the factor of a shared address's register, as a power of two, by the value of sass.Operand.Swz.
var addressShift = [...]uint8{sass.AddrX1: 0, sass.AddrX4: 2, sass.AddrX8: 3, sass.AddrX16: 4}

// access works out the addresses of an instruction.
func (w *warp) access(o *op, kind accessKind) {
	acc := &w.acc
	acc.kind, acc.space, acc.size, acc.mask = kind, o.space, sizes[o.mode].bytes, w.mask
	switch {
	case w.mask == 0:
		acc.kind = accessNone
	case kind == accessStore:
		w.block.domain.changes++
	}
	low := w.raw(&o.a)
	if o.u.not && o.space == spaceGlobal {
		w.uniformBase(o)
		return
	}
	if !o.a.not || o.space != spaceGlobal {
		offset := o.n
		if o.u.not {
			offset += w.raw(&o.u)[0]
		}
		lanewise.Scaled(&acc.addr, low, uint64(addressShift[o.a.swz]), offset)
		if w.block.rank != 0 && o.space == spaceShared && !o.peer {
			for i := range acc.addr {
				acc.addr[i] = w.block.own(acc.addr[i])
			}
		}
		return
	}
	lanewise.Pairs(&acc.addr, low, w.word(&o.a, 1), uint64(int64(int32(o.n))))
}

// uniformBase works out global addresses that are the sum of a 64-bit uniform register and a register of 32 bits, without
// sign, or of 64.
func (w *warp) uniformBase(o *op) {
	base := uint64(w.word(&o.u, 1)[0])<<32 + uint64(w.raw(&o.u)[0]) + uint64(int64(int32(o.n)))
	if o.a.not {
		lanewise.Pairs(&w.acc.addr, w.raw(&o.a), w.word(&o.a, 1), base)
	} else {
		lanewise.Extended(&w.acc.addr, w.raw(&o.a), base)
	}
}

// row returns the k-th register of a load's result. A lane that does not load keeps its value.
func (w *warp) row(o *op, k int) *lanes { return &w.regs[int(o.dst)+k] }

// global returns size bytes of a lane's address to read, or a fault.
func (w *warp) global(o *op, lane int, addr uint64, size int) ([]byte, error) {
	if addr&uint64(size-1) != 0 {
		return w.missing(size, w.addressFault(o, lane, Misaligned, addr, ""))
	}
	d := w.block.domain
	b := d.last
	if off := addr - b.addr; off < uint64(len(b.data)) && uint64(len(b.data))-off >= uint64(size) {
		return b.data[off : off+uint64(size)], nil
	}
	if b = w.block.run.machine.memory.find(addr); b == nil || b.end()-addr < uint64(size) {
		return w.missing(size, w.addressFault(o, lane, OutOfBounds, addr, ""))
	}
	d.last = b
	if s := w.block.run.launch.Snapshot; s != nil {
		s.touch(b)
	}
	return b.data[addr-b.addr : addr-b.addr+uint64(size)], nil
}

// owned returns where to write what global has returned to read: the same bytes, unless they are shared.
func (w *warp) owned(addr uint64, from []byte) ([]byte, error) {
	b := w.block.domain.last
	off := addr - b.addr
	if b.own != nil || off >= uint64(len(b.data)) { // the latter where an access that cannot be is let go on
		return from, nil
	}
	to, err := b.writable()
	if err != nil {
		return nil, err
	}
	return to[off : off+uint64(len(from))], nil
}

// target returns the bytes of the buffer that was hit last, for a store.
func (d *domain) target() []byte {
	if d.ahead { // the store buffer takes what is stored
		return d.last.data
	}
	return d.last.own
}

// stored returns size bytes of a lane's address for a store, or a fault.
func (w *warp) stored(o *op, lane int, addr uint64, size int) ([]byte, error) {
	to, err := w.global(o, lane, addr, size)
	if err != nil || w.block.domain.ahead {
		return to, err
	}
	return w.owned(addr, to)
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

// rows returns the registers of a load's result.
func (w *warp) rows(o *op) (rows [4]*lanes) {
	for k := range rows {
		rows[k] = &w.regs[int(o.dst)+k]
	}
	return rows
}

// words returns the registers of a store's data.
func (w *warp) words(s *source, size int) (words [4]*lanes) {
	for k := range size / 4 {
		words[k] = w.word(s, k)
	}
	return words
}

// loadWords puts what a lane has loaded, 4, 8 or 16 bytes, into its registers.
func loadWords(rows *[4]*lanes, lane int, from []byte) {
	rows[0][lane] = binary.LittleEndian.Uint32(from)
	if len(from) >= 8 {
		rows[1][lane] = binary.LittleEndian.Uint32(from[4:])
	}
	if len(from) >= 16 {
		rows[2][lane] = binary.LittleEndian.Uint32(from[8:])
		rows[3][lane] = binary.LittleEndian.Uint32(from[12:])
	}
}

// storeWords writes what a lane stores, 4, 8 or 16 bytes.
func storeWords(words *[4]*lanes, lane int, to []byte) {
	binary.LittleEndian.PutUint32(to, words[0][lane])
	if len(to) >= 8 {
		binary.LittleEndian.PutUint32(to[4:], words[1][lane])
	}
	if len(to) >= 16 {
		binary.LittleEndian.PutUint32(to[8:], words[2][lane])
		binary.LittleEndian.PutUint32(to[12:], words[3][lane])
	}
}

// within returns size bytes at an address of memory that begins at base; nil where they are not all there or not aligned.
func within(data []byte, base, addr, size uint64) []byte {
	off := addr - base
	if end := off + size; addr&(size-1) == 0 && end <= uint64(len(data)) && off < end {
		return data[off:end]
	}
	return nil
}

// aim makes the buffer that holds what the first lane accesses the one that was hit last, if there is one.
func (w *warp) aim() *buffer {
	d := w.block.domain
	addr, size := w.acc.addr[bits.TrailingZeros32(w.mask)&31], uint64(w.acc.size)
	if addr-d.last.addr < uint64(len(d.last.data)) {
		return d.last
	}
	if b := w.block.run.machine.memory.find(addr); b != nil && b.end()-addr >= size && addr&(size-1) == 0 {
		d.last = b
		if s := w.block.run.launch.Snapshot; s != nil {
			s.touch(b)
		}
	}
	return d.last
}

// inside reports whether all lanes access whole words, all of them aligned and in memory that begins at base.
func (w *warp) inside(data []byte, base uint64) bool {
	size := uint64(w.acc.size)
	return w.mask != 0 && size >= 4 && uint64(len(data)) >= size && lanewise.Within(&w.acc.addr, w.mask, base, uint64(len(data))-size, size-1)
}

// inRow reports whether the lanes of a whole warp access a word each, one behind the other.
func (w *warp) inRow() bool {
	return w.mask == allLanes && w.acc.size == 4 && lanewise.Sequential(&w.acc.addr, 2)
}

// loadInside loads what all lanes want of memory that begins at base, if that is inside of it.
func (w *warp) loadInside(o *op, data []byte, base uint64) bool {
	if !w.inside(data, base) {
		return false
	}
	rows := w.regs[o.dst:]
	if w.inRow() {
		lanewise.LoadRow(&rows[0], data[w.acc.addr[0]-base:])
	} else {
		lanewise.Gather(rows, data, base, &w.acc.addr, w.mask, int(w.acc.size)/4)
	}
	return true
}

// storeInside stores what all lanes have to store to memory that begins at base, if that is inside of it.
func (w *warp) storeInside(o *op, data []byte, base uint64) bool {
	if o.b.value != nil && w.acc.size > 4 || !w.inside(data, base) {
		return false
	}
	if row := w.raw(&o.b); w.inRow() {
		lanewise.StoreRow(data[w.acc.addr[0]-base:], row)
	} else if o.b.value != nil {
		w.tmp[0][0] = *row
		lanewise.Scatter(data, base, &w.acc.addr, w.tmp[0][:1], w.mask, 1)
	} else {
		lanewise.Scatter(data, base, &w.acc.addr, w.regs[o.b.reg:], w.mask, int(w.acc.size)/4)
	}
	return true
}

func loadGlobal(w *warp, o *op) error {
	w.access(o, accessLoad)
	d := w.block.domain
	if w.mask == 0 {
		return nil
	}
	if b := w.aim(); (!d.ahead || !d.stores.holds(b)) && w.loadInside(o, b.data, b.addr) {
		return nil
	}
	size, rows, last := uint64(w.acc.size), w.rows(o), d.last
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		from := within(last.data, last.addr, w.acc.addr[i], size)
		if from == nil {
			var err error
			if from, err = w.global(o, i, w.acc.addr[i], int(size)); err != nil {
				return err
			}
			last = d.last
		}
		if d.ahead && !d.stores.empty() {
			from = d.stores.read(w.acc.addr[i], from)
		}
		if size < 4 {
			w.take(o, i, from)
		} else {
			loadWords(&rows, i, from)
		}
	}
	return nil
}

func storeGlobal(w *warp, o *op) error {
	w.access(o, accessStore)
	d := w.block.domain
	if w.mask == 0 {
		return nil
	}
	b := w.aim()
	switch {
	case !d.ahead && w.storeInside(o, b.own, b.addr):
		return nil
	case d.ahead && w.acc.addr[0]%storeSector == 0 && w.inRow() && w.inside(b.data, b.addr):
		const perSector = storeSector / 4
		for i := 0; i < len(w.acc.addr); i += perSector {
			to := d.stores.at(b, w.acc.addr[i], storeSector)
			for k, v := range w.raw(&o.b)[i : i+perSector] {
				binary.LittleEndian.PutUint32(to[4*k:], v)
			}
		}
		return nil
	}
	size, words, last, data := uint64(w.acc.size), w.words(&o.b, int(w.acc.size)), d.last, d.target()
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		to := within(data, last.addr, w.acc.addr[i], size)
		if to == nil {
			var err error
			if to, err = w.stored(o, i, w.acc.addr[i], int(size)); err != nil {
				return err
			}
			last, data = d.last, d.target()
		}
		if d.ahead {
			to = d.stores.at(last, w.acc.addr[i], size)
		}
		if size < 4 {
			w.give(o, i, to)
		} else {
			storeWords(&words, i, to)
		}
	}
	return nil
}

// shared returns size bytes of the block's shared memory.
func (w *warp) shared(o *op, lane int, addr uint64, size int) ([]byte, error) {
	data := w.block.shared
	addr = w.block.own(addr)
	if addr&uint64(size-1) != 0 {
		return w.missing(size, w.addressFault(o, lane, Misaligned, addr, "in shared memory"))
	}
	if addr >= uint64(len(data)) || uint64(len(data))-addr < uint64(size) {
		return w.missing(size, w.addressFault(o, lane, OutOfBounds, addr, w.block.sharedDetail()))
	}
	return data[addr : addr+uint64(size)], nil
}

func loadShared(w *warp, o *op) error {
	w.access(o, accessLoad)
	if w.loadInside(o, w.block.shared, 0) {
		return nil
	}
	size, rows, data := uint64(w.acc.size), w.rows(o), w.block.shared
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		from := within(data, 0, w.acc.addr[i], size)
		if from == nil {
			var err error
			if from, err = w.shared(o, i, w.acc.addr[i], int(size)); err != nil {
				return err
			}
		}
		if size < 4 {
			w.take(o, i, from)
		} else {
			loadWords(&rows, i, from)
		}
	}
	return nil
}

func storeShared(w *warp, o *op) error {
	w.access(o, accessStore)
	if w.storeInside(o, w.block.shared, 0) {
		return nil
	}
	size, words, data := uint64(w.acc.size), w.words(&o.b, int(w.acc.size)), w.block.shared
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		to := within(data, 0, w.acc.addr[i], size)
		if to == nil {
			var err error
			if to, err = w.shared(o, i, w.acc.addr[i], int(size)); err != nil {
				return err
			}
		}
		if size < 4 {
			w.give(o, i, to)
		} else {
			storeWords(&words, i, to)
		}
	}
	return nil
}
