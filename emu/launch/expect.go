package launch

import (
	"fmt"
	"math"
)

// A Check is the outcome of one expectation.
type Check struct {
	Buffer     string
	Elements   int
	Mismatches int
	First      *Mismatch // nil where all match
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
	c := Check{Buffer: x.Name, Elements: len(want) / e.Size()}
	for i := range c.Elements {
		g, w := e.get(got[i*e.Size():]), e.get(want[i*e.Size():])
		if x.matches(g, w) {
			continue
		}
		if c.First == nil {
			c.First = &Mismatch{Index: i, Got: g.value(), Want: w.value()}
		}
		c.Mismatches++
	}
	return c
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
