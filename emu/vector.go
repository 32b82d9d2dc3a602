package emu

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// vectorOps are operations on whole registers of a warp. They are there twice: for any processor, and with the vector
// instructions of one; both give the same bits. Results may take the place of operands. A mask has a bit for each lane.
type vectorOps struct {
	And, Or, Xor func(d, a, b *lanes)
	// Shifts by 32 and more leave nothing, or the sign.
	ShiftLeft, ShiftRight, ShiftSigned func(d, a, b *lanes)
	MinInt, MaxInt, MinUint, MaxUint   func(d, a, b *lanes)

	Add3   func(d, a, b, c *lanes) // a + b + c
	Sub3   func(d, a, b, c *lanes) // a - b + c
	MulAdd func(d, a, b, c *lanes) // a*b + c
	// MulWide and MulWideUint are a*b plus {high, low} in 64 bits, of which e gets the high word.
	MulWide, MulWideUint func(d, e, a, b, low, high *lanes)
	ShiftAdd             func(d, a, b *lanes, n uint64)                           // a<<n + b, for n below 32
	Funnel               func(d, a, b *lanes, n uint64)                           // the high word of {a, b}<<n, for n below 32
	AddCarry             func(d, a, b *lanes, flipA, flipB, in uint32) (c uint32) // a^flipA + b^flipB + the lane's bit of in
	Modify               func(d, a *lanes, and, xor, add uint32)                  // (a&and ^ xor) + add
	Lookup               func(d, a, b, c *lanes, t *truthTable)
	Permute              func(d, a, b *lanes, fromA, fromB uint32) // see byteSelectors
	Choose               func(d, a, b *lanes, mask uint32)         // a where the mask has a bit, else b
	Fill                 func(d *lanes, value, mask uint32)        // the value where the mask has a bit, else 0

	// Comparisons return the lanes in which they hold; those of floating point hold for no NaN.
	Equal, LessInt, LessUint              func(a, b *lanes) uint32
	LessFloat, LessEqualFloat, EqualFloat func(a, b *lanes) uint32

	// Of f32, as f32Mode{} computes, and where flush stands in the name as f32Mode{ftz: true} does.
	AddFloat, MulFloat, AddFlush, MulFlush func(d, a, b *lanes)
	FMA, FMAFlush                          func(d, a, b, c *lanes)
	Flush                                  func(d, a *lanes)
	MinFloat, MaxFloat                     func(d, a, b *lanes)

	Pairs    func(addr *[32]uint64, low, high *lanes, offset uint64)         // {high, low} + offset
	Extended func(addr *[32]uint64, low *lanes, offset uint64)               // low + offset, in 64 bits
	Scaled   func(addr *[32]uint64, low *lanes, shift uint64, offset uint32) // low<<shift + offset, in 32 bits

	// Sequential reports whether every address is by 1<<shift behind that of the lane before.
	Sequential func(addr *[32]uint64, shift uint64) bool
	// Within reports whether size bytes, a power of two, at the addresses of the lanes of the mask are aligned and in memory
	// of limit+size bytes that begins at base; low is size-1.
	Within func(addr *[32]uint64, mask uint32, base, limit, low uint64) bool
	// Gather reads words (1, 2 or 4) of 32 bits for each lane of a mask that is not empty into rows, one behind another, from data that
	// begins at base and holds them all.
	Gather func(rows []lanes, data []byte, base uint64, addr *[32]uint64, mask uint32, words int)
	// LoadRow and StoreRow are for words one behind another, a lane each.
	LoadRow  func(row *lanes, from []byte)
	StoreRow func(to []byte, row *lanes)
	// Scatter writes them, lane after lane.
	Scatter func(data []byte, base uint64, addr *[32]uint64, rows []lanes, mask uint32, words int)
}

// A truthTable is that of three inputs with its entries spread to words: term k is for the inputs k>>1 of a and k&1 of b, and has
// the value t[k] ^ z & t[4+k] for the inputs z of c.
type truthTable [8]uint32

func truthTableOf(lut uint32) *truthTable {
	var t truthTable
	for k := range 4 {
		t[k] = -(lut >> (2 * k) & 1)
		t[4+k] = t[k] ^ -(lut >> (2*k + 1) & 1)
	}
	return &t
}

// byteSelectors takes a selector of PRMT apart, which replicates no sign: for each byte of the result the number of the byte of a, and of
// b, that it comes from, with the top bit set where it comes from the other one.
func byteSelectors(selector uint32) (fromA, fromB uint32) {
	for k := range 4 {
		from := selector >> (4 * k) & 7
		a, b := from, uint32(0x80)
		if from > 3 {
			a, b = 0x80, from-4
		}
		fromA |= a << (8 * k)
		fromB |= b << (8 * k)
	}
	return fromA, fromB
}

// lanewise are the operations that this processor executes fastest.
var lanewise = fastestOps()

// portableOps are the operations for any processor.
func portableOps() *vectorOps {
	return &vectorOps{
		And: andLanes, Or: orLanes, Xor: xorLanes, ShiftLeft: shiftLeftLanes, ShiftRight: shiftRightLanes, ShiftSigned: shiftSignedLanes,
		MinInt: minIntLanes, MaxInt: maxIntLanes, MinUint: minUintLanes, MaxUint: maxUintLanes,
		Add3: add3Lanes, Sub3: sub3Lanes, MulAdd: mulAddLanes, MulWide: mulWideLanes, MulWideUint: mulWideUintLanes,
		ShiftAdd: shiftAddLanes, Funnel: funnelLanes, AddCarry: addCarryLanes, Modify: modifyLanes, Lookup: lookupLanes, Permute: permuteLanes,
		Choose: chooseLanes, Fill: fillLanes,
		Equal: equalLanes, LessInt: lessIntLanes, LessUint: lessUintLanes,
		LessFloat: lessFloatLanes, LessEqualFloat: lessEqualFloatLanes, EqualFloat: equalFloatLanes,
		AddFloat: addFloatLanes, MulFloat: mulFloatLanes, AddFlush: addFlushLanes, MulFlush: mulFlushLanes, FMA: fmaLanes, FMAFlush: fmaFlushLanes,
		Flush: flushLanes, MinFloat: minFloatLanes, MaxFloat: maxFloatLanes,
		Pairs: pairLanes, Extended: extendLanes, Scaled: scaleLanes,
		Sequential: sequentialLanes, LoadRow: loadRow, StoreRow: storeRow, Within: withinLanes, Gather: gatherLanes, Scatter: scatterLanes,
	}
}

func andLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func orLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func xorLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

func shiftLeftLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = a[i] << b[i]
	}
}

func shiftRightLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = a[i] >> b[i]
	}
}

func shiftSignedLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = uint32(int32(a[i]) >> b[i])
	}
}

func minIntLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = uint32(min(int32(a[i]), int32(b[i])))
	}
}

func maxIntLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = uint32(max(int32(a[i]), int32(b[i])))
	}
}

func minUintLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}

func maxUintLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

func add3Lanes(d, a, b, c *lanes) {
	for i := range d {
		d[i] = a[i] + b[i] + c[i]
	}
}

func sub3Lanes(d, a, b, c *lanes) {
	for i := range d {
		d[i] = a[i] - b[i] + c[i]
	}
}

func mulAddLanes(d, a, b, c *lanes) {
	for i := range d {
		d[i] = a[i]*b[i] + c[i]
	}
}

func mulWideLanes(d, e, a, b, low, high *lanes) {
	for i := range d {
		r := uint64(int64(int32(a[i]))*int64(int32(b[i]))) + (uint64(high[i])<<32 | uint64(low[i]))
		d[i], e[i] = uint32(r), uint32(r>>32)
	}
}

func mulWideUintLanes(d, e, a, b, low, high *lanes) {
	for i := range d {
		r := uint64(a[i])*uint64(b[i]) + (uint64(high[i])<<32 | uint64(low[i]))
		d[i], e[i] = uint32(r), uint32(r>>32)
	}
}

func shiftAddLanes(d, a, b *lanes, n uint64) {
	for i := range d {
		d[i] = a[i]<<(n&31) + b[i]
	}
}

func funnelLanes(d, a, b *lanes, n uint64) {
	for i := range d {
		d[i] = uint32((uint64(a[i])<<32 | uint64(b[i])) << (n & 31) >> 32)
	}
}

func addCarryLanes(d, a, b *lanes, flipA, flipB, in uint32) (carry uint32) {
	for i := range d {
		sum, out := bits.Add32(a[i]^flipA, b[i]^flipB, in>>i&1)
		d[i] = sum
		carry |= out << i
	}
	return carry
}

func modifyLanes(d, a *lanes, and, xor, add uint32) {
	for i := range d {
		d[i] = (a[i]&and ^ xor) + add
	}
}

func lookupLanes(d, a, b, c *lanes, t *truthTable) {
	t0, t1, t2, t3, u0, u1, u2, u3 := t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]
	for i := range d {
		y, z := b[i], c[i]
		r0, r1, r2, r3 := t0^z&u0, t1^z&u1, t2^z&u2, t3^z&u3
		low, high := r0^y&(r0^r1), r2^y&(r2^r3)
		d[i] = low ^ a[i]&(low^high)
	}
}

func permuteLanes(d, a, b *lanes, fromA, fromB uint32) {
	for i := range d {
		var r uint32
		for k := 0; k < 32; k += 8 {
			if from := fromA >> k & 0xff; from < 4 {
				r |= a[i] >> (8 * from) & 0xff << k
			} else {
				r |= b[i] >> (8 * (fromB >> k & 3)) & 0xff << k
			}
		}
		d[i] = r
	}
}

func chooseLanes(d, a, b *lanes, mask uint32) {
	for i := range d {
		v := b[i]
		if mask>>i&1 != 0 {
			v = a[i]
		}
		d[i] = v
	}
}

func fillLanes(d *lanes, value, mask uint32) {
	for i := range d {
		d[i] = value & -(mask >> i & 1)
	}
}

func equalLanes(a, b *lanes) (r uint32) {
	for i := range a {
		if a[i] == b[i] {
			r |= 1 << i
		}
	}
	return r
}

func lessIntLanes(a, b *lanes) (r uint32) {
	for i := range a {
		if int32(a[i]) < int32(b[i]) {
			r |= 1 << i
		}
	}
	return r
}

func lessUintLanes(a, b *lanes) (r uint32) {
	for i := range a {
		if a[i] < b[i] {
			r |= 1 << i
		}
	}
	return r
}

func lessFloatLanes(a, b *lanes) (r uint32) {
	for i := range a {
		if math.Float32frombits(a[i]) < math.Float32frombits(b[i]) {
			r |= 1 << i
		}
	}
	return r
}

func lessEqualFloatLanes(a, b *lanes) (r uint32) {
	for i := range a {
		if math.Float32frombits(a[i]) <= math.Float32frombits(b[i]) {
			r |= 1 << i
		}
	}
	return r
}

func equalFloatLanes(a, b *lanes) (r uint32) {
	for i := range a {
		if math.Float32frombits(a[i]) == math.Float32frombits(b[i]) {
			r |= 1 << i
		}
	}
	return r
}

func addFloatLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = bitsF32(math.Float32frombits(a[i]) + math.Float32frombits(b[i]))
	}
}

func mulFloatLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = bitsF32(math.Float32frombits(a[i]) * math.Float32frombits(b[i]))
	}
}

// addFlushLanes: a sum below the smallest normal number is exact, so that it is flushed before or after rounding alike.
func addFlushLanes(d, a, b *lanes) {
	for i := range d {
		x, y := math.Float32frombits(flushF32(a[i])), math.Float32frombits(flushF32(b[i]))
		d[i] = flushF32(bitsF32(x + y))
	}
}

func mulFlushLanes(d, a, b *lanes) {
	for i := range d {
		x, y := math.Float32frombits(flushF32(a[i])), math.Float32frombits(flushF32(b[i]))
		d[i] = roundFlush(float64(x) * float64(y))
	}
}

func fmaLanes(d, a, b, c *lanes) {
	for i := range d {
		if s := productSum(a[i], b[i], c[i]); singleRounding(s) {
			d[i] = math.Float32bits(float32(s))
		} else {
			d[i] = f32Mode{}.fma(a[i], b[i], c[i])
		}
	}
}

func fmaFlushLanes(d, a, b, c *lanes) {
	for i := range d {
		x, y, z := flushF32(a[i]), flushF32(b[i]), flushF32(c[i])
		if s := productSum(x, y, z); singleRounding(s) {
			d[i] = math.Float32bits(float32(s))
		} else {
			d[i] = f32Mode{ftz: true}.fma(x, y, z)
		}
	}
}

func flushLanes(d, a *lanes) {
	for i := range d {
		d[i] = flushF32(a[i])
	}
}

func minFloatLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = minF32(a[i], b[i])
	}
}

func maxFloatLanes(d, a, b *lanes) {
	for i := range d {
		d[i] = maxF32(a[i], b[i])
	}
}

func pairLanes(addr *[32]uint64, low, high *lanes, offset uint64) {
	for i := range addr {
		addr[i] = uint64(high[i])<<32 + uint64(low[i]) + offset
	}
}

func extendLanes(addr *[32]uint64, low *lanes, offset uint64) {
	for i := range addr {
		addr[i] = uint64(low[i]) + offset
	}
}

func scaleLanes(addr *[32]uint64, low *lanes, shift uint64, offset uint32) {
	for i := range addr {
		addr[i] = uint64(low[i]<<shift + offset)
	}
}

func sequentialLanes(addr *[32]uint64, shift uint64) bool {
	next := addr[0]
	for _, a := range addr {
		if a != next {
			return false
		}
		next += 1 << shift
	}
	return true
}

func withinLanes(addr *[32]uint64, mask uint32, base, limit, low uint64) bool {
	for m := mask; m != 0; m &= m - 1 {
		if a := addr[bits.TrailingZeros32(m)&31]; a-base > limit || a&low != 0 {
			return false
		}
	}
	return true
}

func loadRow(row *lanes, from []byte) {
	from = from[:4*len(row)]
	for i := range row {
		row[i] = binary.LittleEndian.Uint32(from[4*i:])
	}
}

func storeRow(to []byte, row *lanes) {
	to = to[:4*len(row)]
	for i, v := range row {
		binary.LittleEndian.PutUint32(to[4*i:], v)
	}
}

func gatherLanes(rows []lanes, data []byte, base uint64, addr *[32]uint64, mask uint32, words int) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		from := data[addr[i]-base:]
		for k := range words {
			rows[k][i] = binary.LittleEndian.Uint32(from[4*k:])
		}
	}
}

func scatterLanes(data []byte, base uint64, addr *[32]uint64, rows []lanes, mask uint32, words int) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		to := data[addr[i]-base:]
		for k := range words {
			binary.LittleEndian.PutUint32(to[4*k:], rows[k][i])
		}
	}
}
