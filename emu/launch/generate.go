package launch

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
)

// draw is the i-th value of the splitmix64 sequence of a seed (Steele, Lea, Flood 2014), which every random generator of
// launch files is made of. It can be computed for any i, so all implementations agree whatever their order.
func draw(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// unit is a draw as a number in [0, 1).
func unit(seed, i uint64) float64 { return float64(draw(seed, i)>>11) * 0x1p-53 }

// filledAtOnce is the number of elements between two looks at the context: some milliseconds.
const filledAtOnce = 1 << 18

// generate fills data with elements of type e, unless they are zero. It ends with the context.
func (in *Init) generate(ctx context.Context, e Elem, data []byte) error {
	switch in.Kind {
	case InitPermutation:
		return permute(ctx, e, data, in.Seed)
	}
	size := e.Size()
	n := len(data) / size
	for i := 0; i < n; i++ {
		if i%filledAtOnce == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		end := min(n, (i/filledAtOnce+1)*filledAtOnce)
		if i += in.plain(e, data[i*size:end*size], uint64(i)); i == end {
			i--
			continue
		}
		if err := e.put(data[i*size:], in.element(e, uint64(i))); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

// plain stores elements from the first on as element and put do, in one loop for a kind and a type that launch files have most of. It ends
// before the first that the type cannot hold or that rounds to the upper end, and returns how many it has stored.
func (in *Init) plain(e Elem, data []byte, first uint64) (n int) {
	low, high := in.A.f, in.B.f
	switch {
	case in.Kind == InitUniform && e == F32:
		for ; n < len(data)/4; n++ {
			v := float32(low + float64(unit(in.Seed, first+uint64(n))*(high-low)))
			if !(float64(v) < high) || v < -math.MaxFloat32 {
				break
			}
			binary.LittleEndian.PutUint32(data[4*n:], math.Float32bits(v))
		}
	case in.Kind == InitUniform && (e == I32 || e == U32):
		least, most := 0.0, math.Min(high, 1<<32)
		if e == I32 {
			least, most = math.MinInt32, math.Min(high, 1<<31)
		}
		for ; n < len(data)/4; n++ {
			v := math.Floor(low + float64(unit(in.Seed, first+uint64(n))*(high-low)))
			if !(v >= least && v < most) {
				break
			}
			binary.LittleEndian.PutUint32(data[4*n:], uint32(int64(v)))
		}
	}
	return n
}

// element is the value of element i.
func (in *Init) element(e Elem, i uint64) number {
	switch in.Kind {
	case InitIota:
		return in.iota(i)
	case InitUniform:
		return in.uniform(e, i)
	case InitNormal:
		sum := 0.0
		for k := range uint64(12) {
			sum += unit(in.Seed, 12*i+k)
		}
		v := float64(in.B.f*(sum-6)) + in.A.f
		if !e.IsFloat() {
			v = math.Floor(v)
		}
		return floatNumber(v)
	default:
		return in.A
	}
}

// iota is start + i·step, exact for integers.
func (in *Init) iota(i uint64) number {
	v := in.A.f + float64(float64(i)*in.B.f)
	if !in.A.isInt || !in.B.isInt || v < math.MinInt64 || v >= 1<<64 {
		return floatNumber(v)
	}
	exact := in.A.i + int64(i)*in.B.i // modulo 2^64
	if v > math.MaxInt64 {
		return uintNumber(uint64(exact))
	}
	return intNumber(exact)
}

// uniform is low + u·(high - low); a value that rounds to high becomes the next below.
func (in *Init) uniform(e Elem, i uint64) number {
	low, high := in.A.f, in.B.f
	v := low + float64(unit(in.Seed, i)*(high-low))
	if !e.IsFloat() {
		if v = math.Floor(v); v >= high {
			v = math.Ceil(high) - 1
		}
		return floatNumber(v)
	}
	var b [8]byte
	if err := e.put(b[:], floatNumber(v)); err != nil || e.get(b[:]).f < high {
		return floatNumber(v)
	}
	return floatNumber(e.below(high))
}

// below is the largest value of a floating-point type under v.
func (e Elem) below(v float64) float64 {
	var b [8]byte
	if e.put(b[:], floatNumber(v)) != nil || v == 0 {
		return v
	}
	bits := getBits(b[:], e.Size())
	for e.get(b[:]).f >= v {
		if v > 0 {
			bits--
		} else {
			bits++ // away from zero: the magnitude of a negative number grows
		}
		putBits(b[:], e.Size(), bits)
	}
	return e.get(b[:]).f
}

// permute stores the numbers from 0 on in an order drawn by Fisher and Yates's shuffle.
func permute(ctx context.Context, e Elem, data []byte, seed uint64) error {
	size := e.Size()
	n := len(data) / size
	for i := range n {
		if i%filledAtOnce == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := e.put(data[i*size:], intNumber(int64(i))); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	at := func(i int) []byte { return data[i*size : (i+1)*size] }
	var held [8]byte
	for i := n - 1; i > 0; i-- {
		if i%filledAtOnce == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		a, b := at(i), at(int(draw(seed, uint64(i))%uint64(i+1)))
		copy(held[:], a)
		copy(a, b)
		copy(b, held[:size])
	}
	return nil
}
