package emu

import (
	"encoding/binary"
	"math"
	"math/bits"

	"gpa/cubin/sass"
)

// An atomicOp is what an atomic instruction does to one place: old and operand in, what is stored out.
type atomicOp func(old, v uint64) uint64

// An atomicKey names an operation on a type.
type atomicKey struct{ op, typ uint16 }

// atomics are all operations but compare-and-swap. 32-bit integers that do not care about a sign are TypeU32.
var atomics = map[atomicKey]atomicOp{
	{sass.AtomADD, sass.TypeU32}:     func(a, v uint64) uint64 { return uint64(uint32(a + v)) },
	{sass.AtomADD, sass.TypeS32}:     func(a, v uint64) uint64 { return uint64(uint32(a + v)) },
	{sass.AtomADD, sass.TypeU64}:     func(a, v uint64) uint64 { return a + v },
	{sass.AtomADD, sass.TypeS64}:     func(a, v uint64) uint64 { return a + v },
	{sass.AtomADD, sass.TypeF32}:     addAtomicF32,
	{sass.AtomADD, sass.TypeF64}:     addAtomicF64,
	{sass.AtomADD, sass.TypeF16x2}:   addAtomicF16x2,
	{sass.AtomADD, sass.TypeBF16x2}:  addAtomicBF16x2,
	{sass.AtomADD, sass.TypeF32RN}:   func(a, v uint64) uint64 { return uint64(f32Mode{}.add(uint32(a), uint32(v))) },
	{sass.AtomARRIVE, sass.TypeU64}:  arriveAmpere,
	{sass.AtomPOPCINC, sass.TypeU32}: func(a, _ uint64) uint64 { return uint64(uint32(a + 1)) },
	{sass.AtomMIN, sass.TypeU32}:     func(a, v uint64) uint64 { return min(a, v) },
	{sass.AtomMIN, sass.TypeU64}:     func(a, v uint64) uint64 { return min(a, v) },
	{sass.AtomMIN, sass.TypeS32}:     func(a, v uint64) uint64 { return uint64(uint32(min(int32(a), int32(v)))) },
	{sass.AtomMIN, sass.TypeS64}:     func(a, v uint64) uint64 { return uint64(min(int64(a), int64(v))) },
	{sass.AtomMAX, sass.TypeU32}:     func(a, v uint64) uint64 { return max(a, v) },
	{sass.AtomMAX, sass.TypeU64}:     func(a, v uint64) uint64 { return max(a, v) },
	{sass.AtomMAX, sass.TypeS32}:     func(a, v uint64) uint64 { return uint64(uint32(max(int32(a), int32(v)))) },
	{sass.AtomMAX, sass.TypeS64}:     func(a, v uint64) uint64 { return uint64(max(int64(a), int64(v))) },
	{sass.AtomINC, sass.TypeU32}:     increment,
	{sass.AtomDEC, sass.TypeU32}:     decrement,
	{sass.AtomAND, sass.TypeU32}:     func(a, v uint64) uint64 { return a & v },
	{sass.AtomAND, sass.TypeU64}:     func(a, v uint64) uint64 { return a & v },
	{sass.AtomOR, sass.TypeU32}:      func(a, v uint64) uint64 { return a | v },
	{sass.AtomOR, sass.TypeU64}:      func(a, v uint64) uint64 { return a | v },
	{sass.AtomXOR, sass.TypeU32}:     func(a, v uint64) uint64 { return a ^ v },
	{sass.AtomXOR, sass.TypeU64}:     func(a, v uint64) uint64 { return a ^ v },
	{sass.AtomEXCH, sass.TypeU32}:    func(_, v uint64) uint64 { return v },
	{sass.AtomEXCH, sass.TypeU64}:    func(_, v uint64) uint64 { return v },
}

// increment and decrement wrap around at the operand (PTX ISA, atom.inc and atom.dec).
func increment(old, v uint64) uint64 {
	if old >= v {
		return 0
	}
	return old + 1
}

func decrement(old, v uint64) uint64 {
	if old == 0 || old > v {
		return v
	}
	return old - 1
}

// isFloatAtomic says whether an atomic is of floating point.
func isFloatAtomic(in *sass.Inst) bool {
	switch in.Mod(sass.AtomType) {
	case sass.TypeF32, sass.TypeF32RN, sass.TypeF16x2, sass.TypeBF16x2, sass.TypeF64:
		return true
	}
	return false
}

// addAtomicF32 flushes denormals, as global atomics do.
func addAtomicF32(old, v uint64) uint64 {
	return uint64(f32Mode{ftz: true}.add(uint32(old), uint32(v)))
}

func addAtomicF64(old, v uint64) uint64 {
	return bitsF64(math.Float64frombits(old) + math.Float64frombits(v))
}

func addAtomicF16x2(old, v uint64) uint64 {
	al, ah := halves(uint32(old))
	bl, bh := halves(uint32(v))
	return uint64(packHalves(f16Mode{}.add(al, bl), f16Mode{}.add(ah, bh)))
}

func addAtomicBF16x2(old, v uint64) uint64 {
	m := f16Mode{brain: true}
	add := func(a, b uint16) uint16 { return m.result(addOdd(bf16ToF64(a), bf16ToF64(b), roundRN)) }
	al, ah := halves(uint32(old))
	bl, bh := halves(uint32(v))
	return uint64(packHalves(add(al, bl), add(ah, bh)))
}

// atomicWidths are the bytes of the types.
var atomicWidths = map[uint16]int{
	sass.TypeU32: 4, sass.TypeS32: 4, sass.TypeF32: 4, sass.TypeF16x2: 4, sass.TypeBF16x2: 4, sass.TypeF32RN: 4,
	sass.TypeU64: 8, sass.TypeS64: 8, sass.TypeF64: 8,
}

// An atomicExec is an atomic instruction made ready.
type atomicExec struct {
	generic  bool
	size     int
	apply    atomicOp // nil for compare-and-swap
	succeeds bool     // the result says whether the swap took place, not what there was
	inPd     bool     // in a predicate
}

// compileAtomic prepares ATOM, ATOMG, ATOMS, RED and REDG. The operands after the address are the value, or for a
// compare-and-swap the value to compare with and the one to store.
func compileAtomic(p *program, o *op) error {
	in := o.inst
	at := findOperand(in, sass.KindMem)
	if at < 0 {
		return unsupported(o)
	}
	typ, kind := in.Mod(sass.AtomType), in.Mod(sass.AtomOp)
	if kind == sass.AtomARRIVE && in.Arch >= sass.SM90 { // whose barriers are SYNCS'
		return unsupported(o)
	}
	x := &atomicExec{generic: in.Op == sass.ATOM, size: atomicWidths[typ]}
	if in.Op == sass.ATOMS {
		o.space = spaceShared
	}
	o.ordered = o.space != spaceShared
	switch kind {
	case sass.AtomCAS:
	case sass.AtomCASTSPIN: // compiled code does not have CAST without .SPIN
		x.succeeds = true
	case sass.AtomPOPCINC: // each lane adds one; what a lane gets back is not known
		if in.Operands[0].Reg != sass.RZ {
			return unsupported(o)
		}
		x.apply = atomics[atomicKey{kind, typ}]
	default:
		x.apply = atomics[atomicKey{kind, typ}]
		if x.apply == nil {
			return unsupported(o)
		}
	}
	if x.size == 0 {
		return unsupported(o)
	}
	o.mode = sass.Size32
	if x.size == 8 {
		o.mode = sass.Size64
	}
	o.dst = sinkRegister
	if x.inPd = at > 0 && x.succeeds && in.Operands[at-1].Kind == sass.KindPred; x.inPd {
		o.pd = destPredicate(&in.Operands[at-1])
	} else if in.Op != sass.RED && in.Op != sass.REDG {
		o.dst = p.dest(&in.Operands[at-1])
		if at > 1 {
			o.pd = destPredicate(&in.Operands[at-2])
		}
	}
	o.run = func(w *warp, o *op) error { return x.run(w, o) }
	return p.atomicOperands(o, at)
}

func (p *program) atomicOperands(o *op, at int) (err error) {
	in := o.inst
	if err = p.memoryOperand(o, at); err != nil {
		return err
	}
	if o.b, err = p.source(&in.Operands[at+1], rawValue); err != nil {
		return err
	}
	if at+2 < len(in.Operands) {
		o.c, err = p.source(&in.Operands[at+2], rawValue)
	}
	return err
}

// run works lane by lane, the lowest first.
func (x *atomicExec) run(w *warp, o *op) error {
	w.access(o, accessAtomic)
	done := uint32(allLanes)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		place, err := x.place(w, o, i)
		if err != nil {
			return err
		}
		old := getWord(place)
		v := x.operand(w, &o.b, i)
		stored := old
		if x.apply != nil {
			stored = x.apply(old, v)
		} else if old == v {
			stored = x.operand(w, &o.c, i)
		}
		if stored != old {
			putWord(place, stored)
			w.block.domain.changes++
		}
		if x.succeeds {
			success := uint64(0)
			if old == v {
				success = 1
			}
			if old = success; x.inPd && success == 0 {
				done &^= 1 << i
			}
		}
		w.row(o, 0)[i] = uint32(old)
		if x.size == 8 {
			w.row(o, 1)[i] = uint32(old >> 32)
		}
	}
	w.set(o.pd, done)
	return nil
}

// place returns the bytes that a lane works on.
func (x *atomicExec) place(w *warp, o *op, lane int) (data []byte, err error) {
	switch {
	case x.generic:
		data, err = w.generic(o, lane, x.size)
	case o.space == spaceShared:
		return w.shared(o, lane, w.acc.addr[lane], x.size)
	default:
		data, err = w.global(o, lane, w.acc.addr[lane], x.size)
	}
	if err != nil || w.acc.space != spaceGlobal {
		return data, err
	}
	return w.owned(w.acc.addr[lane], data)
}

func (x *atomicExec) operand(w *warp, s *source, lane int) uint64 {
	v := uint64(w.raw(s)[lane])
	if x.size == 8 {
		v |= uint64(w.word(s, 1)[lane]) << 32
	}
	return v
}

func getWord(b []byte) uint64 {
	if len(b) == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return uint64(binary.LittleEndian.Uint32(b))
}

func putWord(b []byte, v uint64) {
	if len(b) == 8 {
		binary.LittleEndian.PutUint64(b, v)
		return
	}
	binary.LittleEndian.PutUint32(b, uint32(v))
}
