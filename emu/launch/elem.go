package launch

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// An Elem is the type of an element of a buffer or of a scalar argument.
type Elem uint8

// The element types, with the names that launch files use.
const (
	I8 Elem = iota
	U8
	I16
	U16
	I32
	U32
	I64
	U64
	F16
	BF16
	F32
	F64
	numElems
)

var elems = [numElems]struct {
	name   string
	size   int
	signed bool
	float  bool
	descr  string // the dtype of an .npy file
}{
	I8:   {"i8", 1, true, false, "i1"},
	U8:   {"u8", 1, false, false, "u1"},
	I16:  {"i16", 2, true, false, "i2"},
	U16:  {"u16", 2, false, false, "u2"},
	I32:  {"i32", 4, true, false, "i4"},
	U32:  {"u32", 4, false, false, "u4"},
	I64:  {"i64", 8, true, false, "i8"},
	U64:  {"u64", 8, false, false, "u8"},
	F16:  {"f16", 2, true, true, "f2"},
	BF16: {"bf16", 2, true, true, "u2"}, // NumPy has no bfloat16: its files hold the bits
	F32:  {"f32", 4, true, true, "f4"},
	F64:  {"f64", 8, true, true, "f8"},
}

// ParseElem finds an element type by name.
func ParseElem(name string) (Elem, bool) {
	for e := range numElems {
		if elems[e].name == name {
			return e, true
		}
	}
	return 0, false
}

// String returns the name that launch files use.
func (e Elem) String() string { return elems[e].name }

// Descr is the dtype of an array of such elements in an .npy file.
func (e Elem) Descr() string { return elems[e].descr }

// Size is the size of an element in bytes.
func (e Elem) Size() int { return elems[e].size }

// IsFloat reports whether the type is a floating-point one.
func (e Elem) IsFloat() bool { return elems[e].float }

// A number is a value as a launch file gives it: an exact integer where it was written as one (and fits 64 bits), else
// a float64.
type number struct {
	isInt bool
	large bool // the integer is uint64(i), 2^63 or more
	i     int64
	f     float64 // the value, rounded for large integers
}

func intNumber(v int64) number { return number{isInt: true, i: v, f: float64(v)} }

func uintNumber(v uint64) number {
	return number{isInt: true, large: v > math.MaxInt64, i: int64(v), f: float64(v)}
}

func floatNumber(v float64) number { return number{f: v} }

func (n number) String() string {
	switch {
	case n.large:
		return strconv.FormatUint(uint64(n.i), 10)
	case n.isInt:
		return strconv.FormatInt(n.i, 10)
	}
	return strconv.FormatFloat(n.f, 'g', -1, 64)
}

// parseNumber reads an integer (with Go's base prefixes) or a float.
func parseNumber(s string) (number, error) {
	if i, err := strconv.ParseInt(s, 0, 64); err == nil {
		return intNumber(i), nil
	}
	if u, err := strconv.ParseUint(s, 0, 64); err == nil {
		return uintNumber(u), nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return number{}, fmt.Errorf("%q is not a number", s)
	}
	return floatNumber(f), nil
}

// put stores v as an element of type e at the start of b; an error says that the type cannot hold it.
func (e Elem) put(b []byte, v number) error {
	if !e.IsFloat() {
		return e.putInt(b, v)
	}
	f := v.f
	switch e {
	case F16:
		putBits(b, 2, uint64(float16Bits(f)))
	case BF16:
		putBits(b, 2, uint64(bfloat16Bits(f)))
	case F32:
		putBits(b, 4, uint64(math.Float32bits(float32(f))))
	default:
		putBits(b, 8, math.Float64bits(f))
	}
	if !math.IsInf(f, 0) && math.IsInf(e.get(b).f, 0) {
		return fmt.Errorf("%s is out of the range of %s", v, e)
	}
	return nil
}

func (e Elem) putInt(b []byte, v number) error {
	if !v.isInt {
		switch {
		case v.f != math.Trunc(v.f) || v.f < math.MinInt64 || v.f >= 1<<64:
			return fmt.Errorf("%s is not an integer that %s can hold", v, e)
		case v.f >= 1<<63:
			v = uintNumber(uint64(v.f))
		default:
			v = intNumber(int64(v.f))
		}
	}
	if !e.holds(v) {
		return fmt.Errorf("%s is out of the range of %s", v, e)
	}
	putBits(b, e.Size(), uint64(v.i))
	return nil
}

// holds reports whether an integer is in the range of an integer type.
func (e Elem) holds(v number) bool {
	bits := 8 * e.Size()
	switch {
	case e == U64:
		return v.large || v.i >= 0
	case v.large:
		return false
	case elems[e].signed:
		return v.i>>(bits-1) == v.i>>63
	}
	return v.i >= 0 && v.i>>bits == 0
}

// get reads an element of type e from the start of b.
func (e Elem) get(b []byte) number {
	bits := getBits(b, e.Size())
	switch e {
	case F16:
		return floatNumber(float16Value(uint16(bits)))
	case BF16:
		return floatNumber(float64(math.Float32frombits(uint32(bits) << 16)))
	case F32:
		return floatNumber(float64(math.Float32frombits(uint32(bits))))
	case F64:
		return floatNumber(math.Float64frombits(bits))
	case U64:
		return uintNumber(bits)
	}
	if elems[e].signed {
		shift := 64 - 8*e.Size()
		return intNumber(int64(bits<<shift) >> shift)
	}
	return intNumber(int64(bits))
}

func putBits(b []byte, size int, bits uint64) {
	switch size {
	case 1:
		b[0] = byte(bits)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(bits))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(bits))
	default:
		binary.LittleEndian.PutUint64(b, bits)
	}
}

func getBits(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	default:
		return binary.LittleEndian.Uint64(b)
	}
}
