package emu

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"gpa/cubin/sass"
)

// tmaSharedBytes holds the boxes of these tests; the transaction barrier lies behind them.
const tmaSharedBytes = 8 << 10

// newTMATest makes a copy of a random box of a random tensor of words ready; nil for an instruction that is refused.
func newTMATest(t *testing.T, in sass.Inst, typ TensorType, r *rand.Rand) (x *memoryTest, m *TensorMap, first []int32) {
	if refused(in) {
		return nil, nil, nil
	}
	in.Operands = slices.Clone(in.Operands)
	in.Operands[0].UReg, in.Operands[1].UReg = uint8(r.IntN(20)), uint8(40+2*r.IntN(8)) // apart
	a, b := in.Operands[0].UReg, in.Operands[1].UReg
	if in.Mod(sass.Multicast) != 0 {
		in.Operands[2].Reg = 60
	}
	x = newSharedTest(t, in, r, tmaSharedBytes+16)
	x.w.active = allLanes
	rank := int(in.Mod(sass.TmaDim))
	m = &TensorMap{Address: x.global.addr, Type: typ, Swizzle: TensorSwizzle(r.IntN(4))}
	elements, stride := 1, uint64(4)
	for i := range rank {
		m.Sizes = append(m.Sizes, uint64(1+r.IntN(4)))
		m.Box = append(m.Box, uint32(1+r.IntN(3)))
		m.ElementStrides = append(m.ElementStrides, 1)
		first = append(first, int32(r.IntN(6)-2))
		if i > 0 {
			m.Strides = append(m.Strides, stride)
		} else {
			m.Sizes[0], m.Box[0] = uint64(1+r.IntN(8)), 4
		}
		stride = (stride*m.Sizes[i] + 15) / 16 * 16
		elements *= int(m.Box[i])
	}
	if stride > memoryBytes-TensorMapBytes {
		return nil, nil, nil
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	encoded := m.Encode()
	copy(x.global.data[memoryBytes-TensorMapBytes:], encoded[:])
	set := func(u uint8, v uint32) { *x.w.uniformRegister(int(u)) = *broadcast(v) }
	at := x.global.addr + memoryBytes - TensorMapBytes
	if in.Mod(sass.Multicast) != 0 { // for the only block that there is
		set(60, 1<<16)
	}
	set(b, uint32(at))
	set(b+1, uint32(at>>32))
	set(a, 0)
	c := a + 1
	if in.Op == sass.UTMALDG {
		set(a+1, tmaSharedBytes)
		barrier := transactionBarrier(0).addTo(expectedAt, arrivalBits, 1<<arrivalBits-1).addTo(pendingAt, arrivalBits, 1<<arrivalBits-1)
		binary.LittleEndian.PutUint64(x.w.block.shared[tmaSharedBytes:], uint64(barrier.after(arrival{transactions: int32(4 * elements)})))
		c++
	}
	if in.Op == sass.UTMAPF {
		c = a
	}
	for i, v := range first {
		set(c+uint8(i), uint32(v))
	}
	return x, m, first
}

// TestTensorCopyRows compares every row of the copies of boxes of tensors, all five dimensions and all swizzles, with the definition: element
// by element, those outside the tensor zero in shared memory and left alone in global memory, and a barrier that waits for no byte more.
func TestTensorCopyRows(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		if !slices.Contains([]sass.Op{sass.UTMALDG, sass.UTMASTG, sass.UTMAREDG, sass.UTMAPF}, f.Op) {
			continue
		}
		done := 0
		samples(f, r, 2000, func(in sass.Inst) bool {
			x, m, first := newTMATest(t, in, TensorU32, r)
			if x == nil {
				return true
			}
			compareTensorCopy(t, x, m, first)
			tested.Store(f, true)
			done++
			return done < 20 && !t.Failed()
		})
		if done == 0 && canExecute(f) {
			t.Errorf("no instruction like %s was tried", sampleText(f))
		}
	}
}

// reduced is what a word becomes by a reduction with another one (PTX ISA, red).
func reduced(op uint16, old, v uint32) uint32 {
	switch op {
	case sass.AtomADD:
		return old + v
	case sass.AtomMIN:
		return min(old, v)
	case sass.AtomMAX:
		return max(old, v)
	case sass.AtomINC:
		if old >= v {
			return 0
		}
		return old + 1
	case sass.AtomDEC:
		if old == 0 || old > v {
			return v
		}
		return old - 1
	case sass.AtomAND:
		return old & v
	case sass.AtomOR:
		return old | v
	}
	return old ^ v
}

func compareTensorCopy(t *testing.T, x *memoryTest, m *TensorMap, first []int32) {
	t.Helper()
	global, shared := slices.Clone(x.global.data), slices.Clone(x.w.block.shared)
	index := make([]int, len(first)) // in the box
	for at := 0; ; at += 4 {
		offset, inside := uint64(0), true
		for i := range index {
			n := int64(first[i]) + int64(index[i])
			inside = inside && n >= 0 && n < int64(m.Sizes[i])
			if i == 0 {
				offset += uint64(n) * 4
			} else {
				offset += uint64(n) * m.Strides[i-1]
			}
		}
		line := at &^ 15
		switch m.Swizzle { // the unit of 16 bytes, by the rows of 128 bytes
		case Swizzle32:
			line ^= at >> 7 % 2 << 4
		case Swizzle64:
			line ^= at >> 7 % 4 << 4
		case Swizzle128:
			line ^= at >> 7 % 8 << 4
		}
		in := shared[line+at%16:][:4]
		switch {
		case x.in.Op == sass.UTMASTG && inside:
			copy(global[offset:], in)
		case x.in.Op == sass.UTMAREDG && inside:
			to := global[offset:][:4]
			binary.LittleEndian.PutUint32(to, reduced(x.in.Mod(sass.AtomOp), binary.LittleEndian.Uint32(to), binary.LittleEndian.Uint32(in)))
		case x.in.Op == sass.UTMALDG && inside:
			copy(in, global[offset:])
		case x.in.Op == sass.UTMALDG:
			clear(in)
		}
		i := 0
		for ; i < len(index); i++ {
			if index[i]++; index[i] < int(m.Box[i]) {
				break
			}
			index[i] = 0
		}
		if i == len(index) {
			break
		}
	}
	if x.in.Op == sass.UTMALDG { // all bytes are there
		b := transactionBarrier(binary.LittleEndian.Uint64(shared[tmaSharedBytes:]))
		binary.LittleEndian.PutUint64(shared[tmaSharedBytes:], uint64(b.addTo(transactionsAt, transactionBits, -b.field(transactionsAt, transactionBits))))
	}
	if err := x.w.step(); err != nil {
		t.Fatalf("%s: %v", x.in.Text(), err)
	}
	if !slices.Equal(x.global.data, global) {
		t.Errorf("%s of a box at %v of %+v: global memory is wrong", x.in.Text(), first, m)
	}
	if !slices.Equal(x.w.block.shared, shared) {
		t.Errorf("%s of a box at %v of %+v: shared memory is wrong", x.in.Text(), first, m)
	}
}

// A load through a map of tf32 rounds; stores and reductions through one, of which nothing is known, are refused.
func TestTensorCopyOfTF32(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 56))
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		if !slices.Contains([]sass.Op{sass.UTMALDG, sass.UTMASTG, sass.UTMAREDG}, f.Op) {
			continue
		}
		done := 0
		samples(f, r, 2000, func(in sass.Inst) bool {
			x, m, first := newTMATest(t, in, TensorTF32, r)
			if x == nil {
				return true
			}
			done++
			if in.Op != sass.UTMALDG {
				var fault *Fault
				if err := x.w.step(); !errors.As(err, &fault) || fault.Kind != Unsupported {
					t.Errorf("%s: %v", in.Text(), err)
				}
				return done < 3
			}
			before := slices.Clone(x.global.data)
			want := make([]byte, 4)
			binary.LittleEndian.PutUint32(want, 0x3f801001)
			b, err := m.at(first)
			if err != nil {
				t.Fatal(err)
			}
			for k := range b.units() {
				if addr, inside := b.element(k); inside {
					copy(x.global.data[addr-x.global.addr:], want)
					copy(before[addr-x.global.addr:], want)
				}
			}
			if err := x.w.step(); err != nil {
				t.Fatalf("%s: %v", in.Text(), err)
			}
			for k := range b.units() {
				v := uint32(0)
				if _, inside := b.element(k); inside {
					v = 0x3f802000
				}
				if got := binary.LittleEndian.Uint32(x.w.block.shared[b.Swizzle.of(4*k):]); got != v {
					t.Errorf("%s: element %d is %#x, want %#x", in.Text(), k, got, v)
				}
			}
			if !slices.Equal(x.global.data, before) {
				t.Errorf("%s: global memory has changed", in.Text())
			}
			return done < 3 && !t.Failed()
		})
		if done == 0 && canExecute(f) {
			t.Errorf("no instruction like %s was tried", sampleText(f))
		}
	}
}
