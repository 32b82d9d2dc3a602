package emu

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gpa/cubin/sass"
)

// TestBulkRows compares every row of the copies, reductions and prefetches of consecutive bytes with their definition, also in the direction
// from shared memory to shared memory, and the transaction barrier with one that waits for no byte more.
func TestBulkRows(t *testing.T) {
	r := rand.New(rand.NewPCG(57, 58))
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		if !slices.Contains([]sass.Op{sass.UBLKCP, sass.UBLKRED, sass.UBLKPF}, f.Op) {
			continue
		}
		done := 0
		samples(f, r, 3000, func(in sass.Inst) bool {
			if refused(in) {
				return true
			}
			compareBulk(t, in, r)
			tested.Store(f, true)
			done++
			return done < 100 && !t.Failed()
		})
		if done == 0 {
			t.Errorf("no instruction like %s was tried", sampleText(f))
		}
	}
}

// In these tests what is read begins at 512 of its memory, what is written at 1024, and the barrier is at 64.
const bulkFrom, bulkTo, bulkBarrier = 512, 1024, 64

func compareBulk(t *testing.T, in sass.Inst, r *rand.Rand) {
	t.Helper()
	in.Operands = slices.Clone(in.Operands)
	to, from, count := uint8(4), uint8(8), uint8(12)
	bytes := bulkUnit * (1 + r.IntN(16))
	if in.Op == sass.UBLKPF {
		in.Operands[0].UReg, in.Operands[1].Reg = from, count
	} else {
		in.Operands[0].UReg, in.Operands[1].UReg, in.Operands[2].Reg = to, from, count
	}
	x := newSharedTest(t, in, r, 4096)
	x.w.active = allLanes
	set := func(u uint8, v uint64) {
		*x.w.uniformRegister(int(u)), *x.w.uniformRegister(int(u) + 1) = *broadcast(uint32(v)), *broadcast(uint32(v >> 32))
	}
	reads, writes := x.global.data, x.global.data
	set(from, x.global.addr+bulkFrom)
	set(to, x.global.addr+bulkTo)
	if in.Mod(sass.BulkFrom) != 0 {
		reads = x.w.block.shared
		set(from, bulkFrom)
	}
	if in.Mod(sass.BulkTo) != 0 {
		writes = x.w.block.shared
		set(to, bulkTo|bulkBarrier<<32)
		barrier := transactionBarrier(0).addTo(expectedAt, arrivalBits, 1<<arrivalBits-1).addTo(pendingAt, arrivalBits, 1<<arrivalBits-1)
		binary.LittleEndian.PutUint64(x.w.block.shared[bulkBarrier:], uint64(barrier.after(arrival{transactions: int32(bytes)})))
	}
	set(count, uint64(bytes/bulkUnit|1<<16))
	if in.Op == sass.UBLKRED { // numbers of no extreme size
		for at := 0; at < 2048; at += 2 {
			binary.LittleEndian.PutUint16(reads[at:], uint16(0x3c00+r.IntN(0x400))|uint16(r.IntN(2))<<15)
			binary.LittleEndian.PutUint16(writes[at:], uint16(0x3c00+r.IntN(0x400))|uint16(r.IntN(2))<<15)
		}
		if in.Mod(sass.BulkTo) != 0 {
			barrier := transactionBarrier(0).addTo(expectedAt, arrivalBits, 1<<arrivalBits-1).addTo(pendingAt, arrivalBits, 1<<arrivalBits-1)
			binary.LittleEndian.PutUint64(x.w.block.shared[bulkBarrier:], uint64(barrier.after(arrival{transactions: int32(bytes)})))
		}
	}
	global, shared := slices.Clone(x.global.data), slices.Clone(x.w.block.shared)
	wanted, source := global, global
	if in.Mod(sass.BulkTo) != 0 {
		wanted = shared
		b := transactionBarrier(binary.LittleEndian.Uint64(shared[bulkBarrier:]))
		binary.LittleEndian.PutUint64(shared[bulkBarrier:], uint64(b.addTo(transactionsAt, transactionBits, -b.field(transactionsAt, transactionBits))))
	}
	if in.Mod(sass.BulkFrom) != 0 {
		source = shared
	}
	switch in.Op {
	case sass.UBLKCP:
		copy(wanted[bulkTo:], source[bulkFrom:][:bytes])
	case sass.UBLKRED:
		reduceBytes(t, in, wanted[bulkTo:][:bytes], source[bulkFrom:])
	}
	if err := x.w.step(); err != nil {
		t.Fatalf("%s: %v", in.Text(), err)
	}
	if !slices.Equal(x.global.data, global) || !slices.Equal(x.w.block.shared, shared) {
		t.Errorf("%s of %d bytes leaves other memory than it should", in.Text(), bytes)
	}
}

// reduceBytes reduces the elements of a type one after the other (PTX ISA, cp.reduce.async.bulk).
func reduceBytes(t *testing.T, in sass.Inst, to, from []byte) {
	op, typ := in.Mod(sass.AtomOp), in.Mod(sass.AtomType)
	le := binary.LittleEndian
	for k := 0; k < len(to); {
		switch typ {
		case sass.TypeU32, sass.TypeS32:
			a, b := le.Uint32(to[k:]), le.Uint32(from[k:])
			if typ == sass.TypeS32 && (op == sass.AtomMIN || op == sass.AtomMAX) { // by the order of the signed numbers
				le.PutUint32(to[k:], reduced(op, a^1<<31, b^1<<31)^1<<31)
			} else {
				le.PutUint32(to[k:], reduced(op, a, b))
			}
			k += 4
		case sass.TypeU64, sass.TypeS64:
			le.PutUint64(to[k:], reduced64(op, typ == sass.TypeS64, le.Uint64(to[k:]), le.Uint64(from[k:])))
			k += 8
		case sass.TypeF32, sass.TypeF32RN:
			le.PutUint32(to[k:], math.Float32bits(math.Float32frombits(le.Uint32(to[k:]))+math.Float32frombits(le.Uint32(from[k:]))))
			k += 4
		case sass.TypeF64:
			le.PutUint64(to[k:], math.Float64bits(math.Float64frombits(le.Uint64(to[k:]))+math.Float64frombits(le.Uint64(from[k:]))))
			k += 8
		default:
			reduceHalf(t, op, typ == sass.TypeBF16x2, to[k:k+2], from[k:k+2])
			k += 2
		}
	}
}

func reduced64(op uint16, signed bool, old, v uint64) uint64 {
	flip := uint64(0)
	if signed {
		flip = 1 << 63
	}
	switch op {
	case sass.AtomADD:
		return old + v
	case sass.AtomMIN:
		return min(old^flip, v^flip) ^ flip
	case sass.AtomMAX:
		return max(old^flip, v^flip) ^ flip
	case sass.AtomAND:
		return old & v
	case sass.AtomOR:
		return old | v
	}
	return old ^ v
}

func reduceHalf(t *testing.T, op uint16, brain bool, to, from []byte) {
	f := &formatF16
	if brain {
		f = &formatBF16
	}
	old, v := uint64(binary.LittleEndian.Uint16(to)), uint64(binary.LittleEndian.Uint16(from))
	a, b := valueOf(f, old), valueOf(f, v)
	want := v
	switch {
	case op == sass.AtomADD:
		x, _ := a.Float64()
		y, _ := b.Float64()
		want = uint64(f16FromF64(x+y, roundRN))
		if brain {
			u := math.Float32bits(float32(x + y)) // exact for these numbers
			want = uint64((u + 0x7fff + u>>16&1) >> 16)
		}
	case (op == sass.AtomMIN) == (a.Cmp(b) <= 0):
		want = old
	}
	binary.LittleEndian.PutUint16(to, uint16(want))
}

// A tensor may have an odd number of halves, and of those in a row reductions see each by itself.
func TestBulkReductionOfTypes(t *testing.T) {
	for typ, want := range map[TensorType]bool{TensorU8: false, TensorU16: false, TensorU32: true, TensorF16: true, TensorBF16: true, TensorF32: true, TensorF64: true, TensorU64: true} {
		r := bulkReduction{op: sass.AtomADD}
		if r.of(typ) != want {
			t.Errorf("type %d: %v", typ, !want)
		}
	}
	if r := (&bulkReduction{op: sass.AtomINC}); r.of(TensorF32) {
		t.Error("numbers of single precision are incremented")
	}
}

// Of a copy for a pair of blocks the barrier can be in the other block of the pair, and with a mask it is in the first or the second of each.
func TestPairDestination(t *testing.T) {
	w := newTestWarp(t, sass.SM100, "NOP")
	c := &cluster{blocks: []*block{w.block, {rank: 1}, {rank: 2}, {rank: 3}}}
	for _, b := range c.blocks {
		b.cluster = c
	}
	const at, barrier = 0x800, 0x400
	for _, x := range []struct {
		text             string
		rank, of         uint64 // whose the destination and the barrier are
		mask             uint32
		blocks, counting []int
	}{
		{"UTMALDG.3D [UR16], [UR28]", 1, 0, 0, nil, nil},
		{"UTMALDG.3D [UR16], [UR28]", 1, 1, 0, []int{1}, []int{1}},
		{"UTMALDG.3D.2CTA [UR16], [UR28]", 1, 0, 0, []int{1}, []int{0}},
		{"UTMALDG.3D.2CTA [UR16], [UR28]", 2, 0, 0, nil, nil},
		{"UTMALDG.3D.MULTICAST.2CTA [UR16], [UR28], UR0", 1, 0, 0xd, []int{0, 2, 3}, []int{0, 2, 2}},
		{"UTMALDG.3D.MULTICAST.2CTA [UR16], [UR28], UR0", 0, 1, 0xd, []int{0, 2, 3}, []int{1, 3, 3}},
	} {
		in, err := sass.Parse(sass.SM100, 0, x.text, sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1})
		if err != nil {
			t.Fatal(err)
		}
		to, err := w.destination(&op{inst: &in}, 0, x.rank<<rankAt|at, x.of<<rankAt|barrier, x.mask)
		if err != nil {
			if x.blocks != nil {
				t.Errorf("%s: %v", x.text, err)
			}
			continue
		}
		var blocks, counting []int
		for i := range to.blocks {
			blocks, counting = append(blocks, to.blocks[i].rank), append(counting, to.counting[i].rank)
		}
		if !slices.Equal(blocks, x.blocks) || !slices.Equal(counting, x.counting) || to.at != at || to.barrier != barrier {
			t.Errorf("%s: to %v at %#x, counted by %v at %#x", x.text, blocks, to.at, counting, to.barrier)
		}
	}
}
