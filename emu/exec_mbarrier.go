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
	sass.SYNCS:   compileSYNCS,
	sass.ARRIVES: compileARRIVES,
	sass.STAS:    compileSTAS,
	sass.REDAS:   compileSTAS,
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

// A transactionBarrier is the word of sm_90, which also counts transactions, bytes as a rule (PTX ISA, mbarrier: pending count,
// expected count and tx-count). What ptxas makes of mbarrier.init and mbarrier.pending_count shows where arrivals are: n
// expected ones are 2^20-n in bits 1 to 20, n pending ones 2^20-n in bits 43 to 62. The transactions that are to come fit into
// the 22 bits in between, as -(2^20-1) to 2^20-1 are allowed; programs cannot tell how they lie there.
type transactionBarrier uint64

const (
	expectedAt, transactionsAt, pendingAt = 1, 21, 43
	arrivalBits, transactionBits          = 20, 22
)

// field returns bits of the word, addTo the word with an amount added to them.
func (b transactionBarrier) field(at, n int) uint64 { return uint64(b) >> at & (1<<n - 1) }

func (b transactionBarrier) addTo(at, n int, amount uint64) transactionBarrier {
	mask := transactionBarrier(1<<n-1) << at
	return b&^mask | (b+transactionBarrier(amount)<<at)&mask
}

// pending and expected are how many arrivals the phase still waits for, and how many each waits for.
func (b transactionBarrier) pending() uint32 {
	return 1<<arrivalBits - uint32(b.field(pendingAt, arrivalBits))
}
func (b transactionBarrier) expected() uint32 {
	return 1<<arrivalBits - uint32(b.field(expectedAt, arrivalBits))
}

// An arrival is what SYNCS.ARRIVE counts: arrivals, and transactions that are to come or, where negative, complete.
type arrival struct {
	count        uint32
	transactions int32
	leaves       bool // .OPTOUT: later phases expect so many less (PTX ISA, mbarrier.arrive_drop)
}

// after returns the barrier after an arrival. The phase is complete when no arrival and no transaction is pending; then the
// next one begins with the arrivals that are expected of it.
func (b transactionBarrier) after(a arrival) transactionBarrier {
	if a.leaves {
		b = b.addTo(expectedAt, arrivalBits, uint64(a.count))
	}
	b = b.addTo(transactionsAt, transactionBits, uint64(int64(a.transactions)))
	b = b.addTo(pendingAt, arrivalBits, uint64(a.count))
	if b.field(pendingAt, arrivalBits) == 0 && b.field(transactionsAt, transactionBits) == 0 {
		b = b.addTo(pendingAt, arrivalBits, b.field(expectedAt, arrivalBits)) ^ 1<<63
	}
	return b
}

// arrivalOf returns the arrival for a value of the instruction's register.
func arrivalOf(in *sass.Inst) func(v uint32) arrival {
	leaves := in.Mod(sass.OptOut) != 0
	switch in.Mod(sass.SyncsOp) {
	case sass.SyncsA1TR:
		return func(v uint32) arrival { return arrival{1, int32(v), leaves} }
	case sass.SyncsA1T0:
		return func(uint32) arrival { return arrival{1, 0, leaves} }
	case sass.SyncsA0T1:
		return func(uint32) arrival { return arrival{0, 1, leaves} }
	case sass.SyncsA0TR:
		return func(v uint32) arrival { return arrival{0, int32(v), leaves} }
	case sass.SyncsA0TX:
		return func(v uint32) arrival { return arrival{0, -int32(v), leaves} }
	}
	return func(v uint32) arrival { return arrival{v, 0, leaves} }
}

// The values of sass.SyncsRed: with .TMASK the result has the lanes that arrive together, and .RED reaches barriers of other blocks.
const (
	syncsTMask  = 1
	syncsRemote = 2
)

// compileSYNCS: the exchange that initialises a barrier, arrivals, transactions, the query of the phase, and the end of a
// barrier, which leaves nothing to do.
func compileSYNCS(p *program, o *op) error {
	in := o.inst
	o.space, o.mode = spaceShared, sass.Size64
	switch in.Form.Suffix {
	case ".EXCH.64":
		return p.compileExchange(o)
	case ".CCTL":
		o.run = syncsInvalidate
		return p.memoryOperand(o, findOperand(in, sass.KindMem))
	case ".ARRIVE.TRANS64":
		if in.Mod(sass.SyncsRed) == syncsTMask {
			return unsupported(o)
		}
		o.peer = in.Mod(sass.SyncsRed) == syncsRemote
		if o.dst = p.dest(&in.Operands[0]); o.dst != sinkRegister {
			p.use(int(o.dst) + 2)
		}
		of := arrivalOf(in)
		o.run = func(w *warp, o *op) error {
			v := w.raw(&o.b)
			return w.arrivals(o, func(lane int, old uint64) uint64 {
				a, b := of(v[lane]), transactionBarrier(old)
				w.uses(MbarrierUse{Kind: MbarrierArrive, Lane: lane, Addr: w.acc.addr[lane], Count: a.count, Pending: b.pending()})
				return uint64(b.after(a))
			})
		}
	case ".PHASECHK.TRANS64":
		o.pd, o.run, o.asks = destPredicate(&in.Operands[0]), syncsPhase, true
	default:
		return unsupported(o)
	}
	var err error
	if o.b, err = p.source(&in.Operands[2], rawValue); err != nil {
		return err
	}
	return p.memoryOperand(o, 1)
}

// compileARRIVES: each lane arrives when its copies before are complete (PTX ISA, cp.async.mbarrier.arrive), which they are here
// as soon as they have issued. Code for .noinc has .ARVCNT; else the code has made the barrier wait for one more arrival or, on
// sm_90, for a transaction, which .TRANSCNT completes.
func compileARRIVES(p *program, o *op) error {
	in := o.inst
	o.space, o.mode, o.dst = spaceShared, sass.Size64, sinkRegister
	next := func(old uint64) uint64 { return arriveAmpere(old, 0) }
	if in.Arch >= sass.SM90 {
		done := arrival{count: 1}
		switch in.Mod(sass.Arvcnt) {
		case sass.ArrivesTRANSCNT:
			done = arrival{transactions: -1}
		case sass.ArrivesPlain:
			return unsupported(o)
		}
		next = func(old uint64) uint64 { return uint64(transactionBarrier(old).after(done)) }
	}
	o.run = func(w *warp, o *op) error {
		return w.arrivals(o, func(_ int, old uint64) uint64 { return next(old) })
	}
	return p.memoryOperand(o, 0)
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
	w.block.tape.began(w.block, w.acc.addr[lane])
	count := transactionBarrier(binary.LittleEndian.Uint64(word)).expected()
	w.uses(MbarrierUse{Kind: MbarrierInit, Lane: lane, Addr: w.acc.addr[lane], Count: count})
	*w.row(o, 0), *w.row(o, 1) = *broadcast(uint32(old)), *broadcast(uint32(old >> 32))
	return nil
}

// arrivals changes the barrier of each lane in turn, and gives the lane what it was before.
func (w *warp) arrivals(o *op, next func(lane int, old uint64) uint64) error {
	w.access(o, accessAtomic)
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		old, err := w.arriveAt(o, lane, w.acc.addr[lane], func(old uint64) uint64 { return next(lane, old) })
		if err != nil {
			return err
		}
		w.row(o, 0)[lane], w.row(o, 1)[lane] = uint32(old), uint32(old>>32)
	}
	return nil
}

// arriveAt changes the barrier at an address of shared memory and returns what it was.
func (w *warp) arriveAt(o *op, lane int, at uint64, next func(old uint64) uint64) (old uint64, err error) {
	b, word, err := w.block, []byte(nil), error(nil)
	if o.peer {
		b, word, err = w.peer(o, lane, at, 8)
	} else {
		word, err = w.shared(o, lane, at, 8)
	}
	if err != nil {
		return 0, err
	}
	if b != w.block && b.resident != nil {
		w.told = append(w.told, told{b, at & (windowSize - 1)})
	}
	old = binary.LittleEndian.Uint64(word)
	changed := next(old)
	binary.LittleEndian.PutUint64(word, changed)
	w.block.domain.changes++
	if o.inst.Arch >= sass.SM90 { // before, code loads a barrier to see whether its phase is complete
		w.block.tape.counted(b, at, old, changed)
	}
	return old, nil
}

// A remoteStore is STAS or REDAS: a store to the shared memory of a block of the cluster, or an operation on what is there, then as many
// transactions as bytes at a barrier there (PTX ISA, st.async and red.async with complete_tx::bytes). One register pair has both
// addresses, of 32 bits each, the barrier's in the high one.
type remoteStore struct {
	reduce *bulkReduction // of REDAS
}

func compileSTAS(p *program, o *op) (err error) {
	in := o.inst
	if m := &in.Operands[0]; m.Width != 2 || m.UReg != sass.URZ || m.Offset != 0 {
		return unsupported(o)
	}
	x := &remoteStore{}
	o.space, o.peer, o.mode, o.run = spaceShared, true, in.Mod(sass.Size), x.run
	if in.Op == sass.REDAS {
		x.reduce = &bulkReduction{op: in.Mod(sass.AtomOp)}
		if !x.reduce.on(in.Mod(sass.AtomType)) {
			return unsupported(o)
		}
		o.mode = sass.Size32
		if x.reduce.size == 8 {
			o.mode = sass.Size64
		}
	}
	if err = p.memoryOperand(o, 0); err == nil {
		o.b, err = p.source(&in.Operands[1], rawValue)
	}
	return err
}

func (x *remoteStore) run(w *warp, o *op) error {
	w.access(o, accessStore)
	size := int(w.acc.size)
	barriers := w.word(&o.a, 1)
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		_, to, err := w.peer(o, lane, w.acc.addr[lane], size)
		if err != nil {
			return err
		}
		if x.reduce == nil {
			w.give(o, lane, to)
		} else {
			var from [8]byte
			w.give(o, lane, from[:size])
			x.reduce.apply(to, from[:size])
		}
		_, err = w.arriveAt(o, lane, uint64(barriers[lane]), func(old uint64) uint64 {
			return uint64(transactionBarrier(old).after(arrival{transactions: -int32(size)}))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// syncsPhase is true where the phase is not the one that bit 31 of the operand names: that is complete.
func syncsPhase(w *warp, o *op) error {
	w.access(o, accessLoad)
	named := w.raw(&o.b)
	var complete uint32
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		word, err := w.shared(o, lane, w.acc.addr[lane], 8)
		if err != nil {
			return err
		}
		phase := binary.LittleEndian.Uint32(word[4:]) ^ named[lane]
		w.uses(MbarrierUse{Kind: MbarrierQuery, Lane: lane, Addr: w.acc.addr[lane], Done: phase>>31 != 0})
		complete |= phase >> 31 << lane
		w.asked = asked{w.acc.addr[lane], phase>>31 != 0}
	}
	w.set(o.pd, complete)
	return nil
}

// syncsInvalidate is SYNCS.CCTL.IV, which ends a barrier (PTX ISA, mbarrier.inval); there is nothing to do but to say so.
func syncsInvalidate(w *warp, o *op) error {
	w.access(o, accessNone)
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		w.uses(MbarrierUse{Kind: MbarrierInvalidate, Lane: lane, Addr: w.acc.addr[lane]})
	}
	return nil
}
