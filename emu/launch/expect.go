package launch

import (
	"bytes"
	"fmt"
	"math"
)

// A Check is the outcome of one expectation.
type Check struct {
	Buffer     string
	Elements   int
	Mismatches int
	First      *Mismatch // nil where all match
	// Precise: the elements are doubles, and what may differ is less than the rounding of the largest of them to single precision.
	Precise bool
}

// OK reports whether every element matches.
func (c *Check) OK() bool { return c.Mismatches == 0 }

// A Mismatch is an element that is not as expected. Got and Want are a float64, int64 or uint64 by the element type.
type Mismatch struct {
	Index     int
	Got, Want any
}

// compare checks got against want, both elements of type e.
func (x *Expectation) compare(e Elem, got, want []byte) Check {
	const block = 1024 // elements
	size := e.Size()
	c := Check{Buffer: x.Name, Elements: len(want) / size}
	for first := 0; first < c.Elements; first += block {
		end := min(first+block, c.Elements)
		if bytes.Equal(got[first*size:end*size], want[first*size:end*size]) {
			continue // what is equal bit by bit matches
		}
		for i := first; i < end; i++ {
			x.element(&c, i, e.get(got[i*size:]), e.get(want[i*size:]))
		}
	}
	c.Precise = e == F64 && x.precise(want)
	return c
}

// precise reports whether the largest of some doubles may differ by less than its rounding to single precision, of 24 bits.
func (x *Expectation) precise(want []byte) bool {
	const rounding = 1. / (1 << 24)
	largest := 0.0
	for ; len(want) > 0; want = want[F64.Size():] {
		if v := math.Abs(F64.get(want).f); !math.IsInf(v, 0) {
			largest = max(largest, v)
		}
	}
	return x.Atol+x.Rtol*largest < rounding*largest
}

// Apart tells how far two arrays of numbers lie apart, of the same type and length: the largest difference, and the largest magnitude among
// the numbers that differ. ok is false where one of these is not finite, and where the arrays do not consist of whole numbers of the type.
func (e Elem) Apart(a, b []byte) (difference, largest float64, ok bool) {
	size := e.Size()
	if len(a)%size != 0 || len(a) != len(b) {
		return 0, 0, false
	}
	for i := 0; i < len(a); i += size {
		if bytes.Equal(a[i:i+size], b[i:i+size]) {
			continue
		}
		x, y := e.get(a[i:]).f, e.get(b[i:]).f
		difference = max(difference, math.Abs(x-y))
		largest = max(largest, math.Abs(x), math.Abs(y))
	}
	return difference, largest, !math.IsNaN(difference) && !math.IsInf(largest, 0) && !math.IsNaN(largest)
}

// element checks one element.
func (x *Expectation) element(c *Check, i int, got, want number) {
	if x.matches(got, want) {
		return
	}
	if c.First == nil {
		c.First = &Mismatch{Index: i, Got: got.value(), Want: want.value()}
	}
	c.Mismatches++
}

// matches applies |got - want| <= atol + rtol·|want|; a NaN matches a NaN, an infinity the same one. Integers without a
// tolerance compare exactly, also where float64 could not tell them apart.
func (x *Expectation) matches(got, want number) bool {
	if x.Rtol == 0 && x.Atol == 0 && got.isInt && want.isInt {
		return got == want
	}
	if got.f == want.f || math.IsNaN(got.f) && math.IsNaN(want.f) {
		return true
	}
	if math.IsInf(want.f, 0) {
		return false
	}
	return math.Abs(got.f-want.f) <= x.Atol+float64(x.Rtol*math.Abs(want.f))
}

// value is the number as a plain Go value.
func (n number) value() any {
	switch {
	case n.large:
		return uint64(n.i)
	case n.isInt:
		return n.i
	}
	return n.f
}

// String says the outcome in one line.
func (c *Check) String() string {
	if c.OK() {
		return fmt.Sprintf("%s: %d values as expected", c.Buffer, c.Elements)
	}
	return fmt.Sprintf("%s: %d of %d values differ, the first at index %d: got %v, want %v",
		c.Buffer, c.Mismatches, c.Elements, c.First.Index, c.First.Got, c.First.Want)
}
