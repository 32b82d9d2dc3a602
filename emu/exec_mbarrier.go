package emu

import (
	"encoding/binary"
	"math/bits"

	"gpa/cubin/sass"
)

// Transaction barriers (PTX mbarrier) are 64-bit words of shared memory that the hardware counts in. What compiled code
// initialises them with shows where the counters are; a counter runs up to a carry, which changes the phase in bit 63, and
// begins again at what the expected arrivals leave of its range.
var mbarrierCompilers = map[sass.Op]compiler{
	sass.SYNCS: compileSYNCS,
}

// arriveAmpere is ATOMS.ARRIVE.64 of sm_80 to sm_89: a barrier of n arrivals begins as 2^30-n in the low word and 2^31-n in the
// high one, whose lower 31 bits count.
func arriveAmpere(old, _ uint64) uint64 {
	low, high := uint32(old), uint32(old>>32)
	if high++; high<<1 == 0 {
		expected := 1<<30 - low&(1<<30-1)
		high |= -expected &^ (1 << 31)
	}
	return uint64(high)<<32 | uint64(low)
}

// arriveHopper is SYNCS.ARRIVE.TRANS64.A1T0 of sm_90, one arrival and no bytes: a barrier of n arrivals begins as 2^20-n in bits 1
// to 20 of the low word and in bits 11 to 30 of the high one, which count.
func arriveHopper(old uint64) uint64 {
	const first, mask = 11, 1<<20 - 1
	low, high := uint32(old), uint32(old>>32)
	if high += 1 << first; high>>first&mask == 0 {
		high |= low >> 1 & mask << first
	}
	return uint64(high)<<32 | uint64(low)
}

// syncsA1T0 is the value of sass.SyncsOp that stands for one arrival and no bytes.
const syncsA1T0 = 1

// compileSYNCS: the exchange that initialises a barrier, single arrivals and the query of the phase. Transactions are not
// supported: no copies report them here.
func compileSYNCS(p *program, o *op) error {
	in := o.inst
	o.space, o.mode = spaceShared, sass.Size64
	switch in.Form.Suffix {
	case ".EXCH.64":
		return p.compileExchange(o)
	case ".ARRIVE.TRANS64":
		if in.Mod(sass.SyncsOp) != syncsA1T0 || in.Mod(sass.SyncsRed) != 0 || in.Mod(sass.OptOut) != 0 {
			return unsupported(o)
		}
		if o.dst = p.dest(&in.Operands[0]); o.dst != sinkRegister {
			p.use(int(o.dst) + 2)
		}
		o.run = syncsArrive
	case ".PHASECHK.TRANS64":
		o.pd, o.run = destPredicate(&in.Operands[0]), syncsPhase
	default:
		return unsupported(o)
	}
	var err error
	if o.b, err = p.source(&in.Operands[2], rawValue); err != nil {
		return err
	}
	return p.memoryOperand(o, 1)
}

// compileExchange: the address and the values are in uniform registers; it is executed once for a warp.
func (p *program) compileExchange(o *op) error {
	in := o.inst
	address := &in.Operands[1]
	o.dst, o.n = p.dest(&in.Operands[0]), uint32(address.Offset)
	var err error
	if o.a, err = p.source(&sass.Operand{Kind: sass.KindUReg, Reg: address.UReg, Width: 1}, rawValue); err != nil {
		return err
	}
	o.run = syncsExchange
	o.b, err = p.source(&in.Operands[2], rawValue)
	return err
}

func syncsExchange(w *warp, o *op) error {
	if w.mask == 0 {
		return nil
	}
	lane := w.first()
	w.mask = 1 << lane
	w.access(o, accessStore)
	word, err := w.shared(o, lane, w.acc.addr[lane], 8)
	if err != nil {
		return err
	}
	old := binary.LittleEndian.Uint64(word)
	binary.LittleEndian.PutUint32(word, w.raw(&o.b)[lane])
	binary.LittleEndian.PutUint32(word[4:], w.word(&o.b, 1)[lane])
	w.block.domain.changes++
	*w.row(o, 0), *w.row(o, 1) = *broadcast(uint32(old)), *broadcast(uint32(old >> 32))
	return nil
}

// syncsArrive gives each lane the barrier as it was before its arrival.
func syncsArrive(w *warp, o *op) error {
	w.access(o, accessAtomic)
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		word, err := w.shared(o, lane, w.acc.addr[lane], 8)
		if err != nil {
			return err
		}
		old := binary.LittleEndian.Uint64(word)
		binary.LittleEndian.PutUint64(word, arriveHopper(old))
		w.block.domain.changes++
		w.row(o, 0)[lane], w.row(o, 1)[lane] = uint32(old), uint32(old>>32)
	}
	return nil
}

// syncsPhase is true where the phase is not the one that bit 31 of the operand names: that is complete.
func syncsPhase(w *warp, o *op) error {
	w.access(o, accessLoad)
	var complete uint32
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		word, err := w.shared(o, lane, w.acc.addr[lane], 8)
		if err != nil {
			return err
		}
		phase := binary.LittleEndian.Uint32(word[4:]) ^ w.raw(&o.b)[lane]
		complete |= phase >> 31 << lane
	}
	w.set(o.pd, complete)
	return nil
}
