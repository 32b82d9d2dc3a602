package sass

// A Bits is a run of bits of an instruction word: N bits from bit Lo on. The zero Bits is no bits at all.
type Bits struct{ Lo, N uint8 }

// Places that are the same in all words.
var (
	opcodeAt = Bits{0, opcodeBits}
	guardAt  = Bits{12, 4}
)

const opcodeBits = 12

// bits returns the value of a run of at most 64 bits.
func (w Word) bits(b Bits) uint64 {
	if b.N == 0 {
		return 0
	}
	var v uint64
	switch {
	case b.Lo >= 64:
		v = w.Hi >> (b.Lo - 64)
	case b.Lo+b.N <= 64:
		v = w.Lo >> b.Lo
	default:
		v = w.Lo>>b.Lo | w.Hi<<(64-b.Lo)
	}
	return v & b.max()
}

// bit reports whether one bit is set; bit number 0 stands for a bit that does not exist.
func (w Word) bit(n uint8) bool {
	if n >= 64 {
		return w.Hi>>(n-64)&1 != 0
	}
	return n != 0 && w.Lo>>n&1 != 0
}

// with returns w with the run set to the low bits of v.
func (w Word) with(b Bits, v uint64) Word {
	m, v := b.max(), v&b.max()
	switch {
	case b.N == 0:
	case b.Lo >= 64:
		w.Hi = w.Hi&^(m<<(b.Lo-64)) | v<<(b.Lo-64)
	default:
		w.Lo = w.Lo&^(m<<b.Lo) | v<<b.Lo
		if b.Lo+b.N > 64 {
			w.Hi = w.Hi&^(m>>(64-b.Lo)) | v>>(64-b.Lo)
		}
	}
	return w
}

// withBit returns w with bit n, if it exists, set to v.
func (w Word) withBit(n uint8, v bool) Word {
	if n == 0 {
		return w
	}
	x := uint64(0)
	if v {
		x = 1
	}
	return w.with(Bits{n, 1}, x)
}

// max returns the largest value that fits.
func (b Bits) max() uint64 {
	if b.N >= 64 {
		return ^uint64(0)
	}
	return 1<<b.N - 1
}

// signExtend interprets the low n bits of v as two's complement.
func signExtend(v uint64, n uint8) int64 {
	if n == 0 || n >= 64 {
		return int64(v)
	}
	return int64(v<<(64-n)) >> (64 - n)
}

func (w Word) and(m Word) Word    { return Word{w.Lo & m.Lo, w.Hi & m.Hi} }
func (w Word) andNot(m Word) Word { return Word{w.Lo &^ m.Lo, w.Hi &^ m.Hi} }
func (w Word) or(m Word) Word     { return Word{w.Lo | m.Lo, w.Hi | m.Hi} }
