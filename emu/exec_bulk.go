package emu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu/mem"
)

// bulkCompilers are copies, reductions and prefetches of consecutive bytes (PTX ISA, cp.async.bulk and cp.reduce.async.bulk), and
// reductions that a transaction barrier counts (PTX ISA, red.async). Like copies of tensors they take place when they issue.
var bulkCompilers = map[sass.Op]compiler{
	sass.UBLKCP:  compileBulk,
	sass.UBLKRED: compileBulk,
	sass.UBLKPF:  compileBulkPrefetch,
}

// bulkUnit is what the count of a bulk copy counts, and what its addresses are multiples of, bytes.
const bulkUnit = 16

// A bulkTarget is where a copy to shared memory goes: to the same offset in some blocks, whose barriers at another offset count it.
type bulkTarget struct {
	blocks      []*block
	counting    []*block // those whose barriers count what goes to each
	at, barrier uint64
}

// destination returns where a copy to an address in the shared memory of the cluster goes: to the block of that address, or at its offset to
// those of a mask (PTX ISA, cp.async.bulk with .multicast::cluster). The barrier is in the same block as the bytes; that of a copy for a pair of blocks is
// in the first or in the second of each pair, as the address of the barrier says (cp.async.bulk.tensor with .cta_group::2).
func (w *warp) destination(o *op, lane int, at, barrier uint64, mask uint32) (*bulkTarget, error) {
	t := &bulkTarget{at: at & (windowSize - 1), barrier: barrier & (windowSize - 1)}
	all := w.block.group()
	pair := o.inst.Op.Properties().Async == sass.AsyncBulk && o.inst.Mod(sass.BlockPair) != 0
	if o.inst.Mod(sass.Multicast) == 0 {
		mask = 1 << min(at>>rankAt, 31)
		if apart := at>>rankAt ^ barrier>>rankAt; w.block.cluster != nil && apart != 0 && !(pair && apart == 1) {
			return nil, w.addressFault(o, lane, OutOfBounds, barrier, fmt.Sprintf("of a transaction barrier in another block than the destination %#x", at))
		}
	}
	for ; mask != 0; mask &= mask - 1 {
		rank := bits.TrailingZeros32(mask)
		if rank >= len(all) {
			return nil, w.addressFault(o, lane, OutOfBounds, at, fmt.Sprintf("in the shared memory of block %d of a cluster of %d", rank, len(all)))
		}
		t.blocks = append(t.blocks, all[rank])
		if pair {
			if rank = rank&^1 | int(barrier>>rankAt&1); rank >= len(all) {
				return nil, w.addressFault(o, lane, OutOfBounds, barrier, fmt.Sprintf("of a transaction barrier in block %d of a cluster of %d", rank, len(all)))
			}
		}
		t.counting = append(t.counting, all[rank])
	}
	return t, nil
}

// bytesOf returns size bytes of the shared memory of a target's block.
func (w *warp) bytesOf(o *op, lane int, b *block, at uint64, size int) ([]byte, error) {
	if b == w.block {
		return w.shared(o, lane, at, size)
	}
	_, data, err := w.peer(o, lane, uint64(b.rank)<<rankAt|at, size)
	return data, err
}

// put writes bytes to shared memory of all blocks of a target.
func (w *warp) put(o *op, lane int, to *bulkTarget, at uint64, from []byte) error {
	for i, b := range to.blocks {
		data, err := w.bytesOf(o, lane, b, at, len(from))
		if err != nil {
			return err
		}
		w.accessed(Span{Kind: Store, Space: Shared, Addr: at, Size: len(from), Barrier: to.barrier, Block: b.number, Counting: to.counting[i].number})
		copy(data, from)
	}
	return nil
}

// complete tells the barriers of a target's blocks that so many bytes are there.
func (w *warp) complete(o *op, lane int, to *bulkTarget, bytes uint64) error {
	w.block.domain.changes++
	for _, b := range to.counting {
		if _, err := w.countAt(o, lane, b, to.barrier, arrival{transactions: -int32(bytes)}); err != nil {
			return err
		}
	}
	return nil
}

// countAt counts an arrival at a barrier of a block, which the end of asynchronous work brings, and returns what the barrier was before.
func (w *warp) countAt(o *op, lane int, b *block, barrier uint64, a arrival) (transactionBarrier, error) {
	word, err := w.bytesOf(o, lane, b, barrier, 8)
	if err != nil {
		return 0, err
	}
	old := transactionBarrier(binary.LittleEndian.Uint64(word))
	changed := old.after(a)
	binary.LittleEndian.PutUint64(word, uint64(changed))
	w.block.tape.counted(b, barrier, uint64(old), uint64(changed))
	w.bulk.barriers = append(w.bulk.barriers, told{b, barrier})
	return old, nil
}

// putGlobal writes bytes to global memory, or reduces them with what is there.
func (w *warp) putGlobal(o *op, lane int, addr uint64, from []byte, reduce *bulkReduction) error {
	to, err := w.stored(o, lane, addr, len(from))
	if err != nil {
		return err
	}
	w.block.domain.changes++
	if reduce == nil {
		w.accessed(Span{Kind: Store, Space: Global, Addr: addr, Size: len(from)})
		copy(to, from)
		return nil
	}
	w.accessed(Span{Kind: Atomic, Space: Global, Addr: addr, Size: len(from)})
	reduce.apply(to, from)
	return nil
}

// A bulkReduction is an operation on elements of some type.
type bulkReduction struct {
	op   uint16
	each atomicOp
	size int
}

// tensorAtoms are the types of atomics that reductions of tensors are of. Those of words without sign are also what bits are.
var tensorAtoms = map[TensorType]uint16{
	TensorU32: sass.TypeU32, TensorS32: sass.TypeS32, TensorU64: sass.TypeU64, TensorS64: sass.TypeS64, TensorF16: sass.TypeF16x2,
	TensorF32: sass.TypeF32RN, TensorF32FTZ: sass.TypeF32, TensorF64: sass.TypeF64, TensorBF16: sass.TypeBF16x2,
}

// of makes it ready for the elements of a tensor; false for a type that it is not for.
func (r *bulkReduction) of(t TensorType) bool {
	typ, ok := tensorAtoms[t]
	return ok && r.on(typ)
}

// on makes it ready for a type; false where there is no such reduction.
func (r *bulkReduction) on(typ uint16) bool {
	r.size = atomicWidths[typ]
	if typ == sass.TypeF16x2 || typ == sass.TypeBF16x2 {
		r.size = 2 // one by one, as tensors have odd numbers of them
	}
	if r.each = atomics[atomicKey{r.op, typ}]; r.each == nil {
		r.each = bulkAtomics[atomicKey{r.op, typ}]
	}
	return r.each != nil
}

// bulkAtomics are the operations that other atomics have not.
var bulkAtomics = map[atomicKey]atomicOp{
	{sass.AtomMIN, sass.TypeF16x2}:  halfExtreme(f16Mode{}, true),
	{sass.AtomMAX, sass.TypeF16x2}:  halfExtreme(f16Mode{}, false),
	{sass.AtomMIN, sass.TypeBF16x2}: halfExtreme(f16Mode{brain: true}, true),
	{sass.AtomMAX, sass.TypeBF16x2}: halfExtreme(f16Mode{brain: true}, false),
	{sass.AtomAND, sass.TypeS32}:    func(a, v uint64) uint64 { return a & v },
	{sass.AtomOR, sass.TypeS32}:     func(a, v uint64) uint64 { return a | v },
	{sass.AtomXOR, sass.TypeS32}:    func(a, v uint64) uint64 { return a ^ v },
	{sass.AtomAND, sass.TypeS64}:    func(a, v uint64) uint64 { return a & v },
	{sass.AtomOR, sass.TypeS64}:     func(a, v uint64) uint64 { return a | v },
	{sass.AtomXOR, sass.TypeS64}:    func(a, v uint64) uint64 { return a ^ v },
}

// halfExtreme is the smaller or the larger of two numbers of 16 bits, the number where one is NaN (PTX ISA, min and max).
func halfExtreme(m f16Mode, smaller bool) atomicOp {
	return func(a, v uint64) uint64 {
		x := minmaxF64(m.widen(uint16(a)), m.widen(uint16(v)), smaller, false)
		if math.IsNaN(x) {
			return 0x7fff
		}
		return uint64(m.result(x))
	}
}

// apply reduces elements.
func (r *bulkReduction) apply(to, from []byte) {
	for k := 0; k < len(to); k += r.size {
		var a, b [8]byte
		copy(a[:], to[k:k+r.size])
		copy(b[:], from[k:k+r.size])
		binary.LittleEndian.PutUint64(a[:], r.each(binary.LittleEndian.Uint64(a[:]), binary.LittleEndian.Uint64(b[:])))
		copy(to[k:k+r.size], a[:])
	}
}

// A bulkOp is UBLKCP or UBLKRED made ready. The op's a is what is written, followed by the barrier where that is shared memory; b what is
// read; c the bytes in units of 16 in its lower half, the blocks of a multicast in its upper half.
type bulkOp struct {
	toShared, fromShared bool
	reduce               *bulkReduction
}

func compileBulk(p *program, o *op) (err error) {
	in := o.inst
	c := &bulkOp{toShared: in.Mod(sass.BulkTo) != 0, fromShared: in.Mod(sass.BulkFrom) != 0 || in.Op == sass.UBLKRED}
	if in.Op == sass.UBLKRED {
		if c.reduce = (&bulkReduction{op: in.Mod(sass.AtomOp)}); !c.reduce.on(in.Mod(sass.AtomType)) {
			return unsupported(o)
		}
	}
	if !c.toShared && !c.fromShared || in.Mod(sass.Multicast) != 0 && (!c.toShared || c.fromShared) {
		return unsupported(o)
	}
	if o.a, err = p.uniformAddress(o, 0, 2); err != nil {
		return err
	}
	if o.b, err = p.uniformAddress(o, 1, 2); err != nil {
		return err
	}
	o.c, err = p.source(&in.Operands[2], rawValue)
	o.run, o.ordered = c.run, true
	return err
}

func (c *bulkOp) run(w *warp, o *op) error {
	w.bulk = bulkCopy{lines: w.bulk.lines[:0], barriers: w.bulk.barriers[:0], kind: mem.Write}
	if w.mask == 0 {
		return nil
	}
	lane, count := w.first(), w.raw(&o.c)[0]
	bytes := uint64(count&0xffff) * bulkUnit
	if c.toShared {
		if !c.fromShared {
			w.bulk.kind = mem.Read
		}
		to, err := w.destination(o, lane, uint64(w.raw(&o.a)[0]), uint64(w.word(&o.a, 1)[0]), count>>16)
		if err != nil {
			return err
		}
		for k := uint64(0); k < bytes; k += bulkUnit {
			if err := c.unit(w, o, lane, to, k); err != nil {
				return err
			}
		}
		return w.complete(o, lane, to, bytes)
	}
	addr := uint64(w.word(&o.a, 1)[0])<<32 | uint64(w.raw(&o.a)[0])
	for k := uint64(0); k < bytes; k += bulkUnit {
		from, err := c.read(w, o, lane, k)
		if err != nil {
			return err
		}
		w.bulk.touch(addr+k, bulkUnit)
		if err := w.putGlobal(o, lane, addr+k, from, c.reduce); err != nil {
			return err
		}
	}
	return nil
}

// read reads the unit at an offset.
func (c *bulkOp) read(w *warp, o *op, lane int, k uint64) ([]byte, error) {
	if c.fromShared {
		at := w.block.own(uint64(w.raw(&o.b)[0])) + k
		w.accessed(Span{Kind: Load, Space: Shared, Addr: at, Size: bulkUnit})
		return w.shared(o, lane, at, bulkUnit)
	}
	addr := (uint64(w.word(&o.b, 1)[0])<<32 | uint64(w.raw(&o.b)[0])) + k
	w.accessed(Span{Kind: Load, Space: Global, Addr: addr, Size: bulkUnit})
	w.bulk.touch(addr, bulkUnit)
	return w.global(o, lane, addr, bulkUnit)
}

// unit copies or reduces the unit at an offset to shared memory.
func (c *bulkOp) unit(w *warp, o *op, lane int, to *bulkTarget, k uint64) error {
	from, err := c.read(w, o, lane, k)
	if err != nil {
		return err
	}
	if c.reduce == nil {
		return w.put(o, lane, to, to.at+k, from)
	}
	for _, b := range to.blocks {
		data, err := w.bytesOf(o, lane, b, to.at+k, bulkUnit)
		if err != nil {
			return err
		}
		w.accessed(Span{Kind: Atomic, Space: Shared, Addr: to.at + k, Size: bulkUnit, Barrier: to.barrier, Block: b.number, Counting: b.number})
		c.reduce.apply(data, from)
	}
	return nil
}

// compileBulkPrefetch: the lines come to L2.
func compileBulkPrefetch(p *program, o *op) (err error) {
	if o.a, err = p.uniformAddress(o, 0, 2); err != nil {
		return err
	}
	o.c, err = p.source(&o.inst.Operands[1], rawValue)
	o.run = func(w *warp, o *op) error {
		w.bulk = bulkCopy{lines: w.bulk.lines[:0], barriers: w.bulk.barriers[:0], kind: mem.Read}
		if w.mask == 0 {
			return nil
		}
		addr := uint64(w.word(&o.a, 1)[0])<<32 | uint64(w.raw(&o.a)[0])
		for k := uint64(0); k < uint64(w.raw(&o.c)[0]&0xffff)*bulkUnit; k += bulkUnit {
			w.bulk.touch(addr+k, bulkUnit)
		}
		return nil
	}
	return err
}
