package blamer

import (
	"math"

	"gpa/cubin/sass"
)

// A span is a range of the bytes that a warp touches, from the address in its base register on.
type span struct{ from, to float64 }

// sectors widens a span to whole sectors, the base being aligned to one.
func (s span) sectors() span {
	return span{math.Floor(s.from/sectorBytes) * sectorBytes, math.Ceil(s.to/sectorBytes) * sectorBytes}
}

func (s span) contains(t span) bool { return s.from <= t.from && t.to <= s.to }

// An access is what a load reads: a span from a base.
type access struct {
	inst int
	base string // names the value that the address begins with
	span
	dense bool    // without gaps, from one lane to the next
	ends  float64 // how many different ends of sectors its lanes meet
}

// accessOf describes a load from global memory. Lanes far apart touch the same part of as many sectors where they are a constant number
// of bytes apart: rows of arrays lie a multiple of half a sector apart, as a rule. What is read at places that come from memory lies
// anywhere.
func (a *analysis) accessOf(def int) *access {
	if x := a.accesses[def]; x != nil {
		return x
	}
	at := globalLoad(&a.code.Insts[def])
	address := a.linearOf(def, at)
	if at.UReg != sass.URZ {
		address = address.plus(a.linearOf(def, &sass.Operand{Kind: sass.KindUReg, Reg: at.UReg}))
	}
	x := &access{inst: def, dense: a.dense(def), base: address.base()}
	bytes := float64(a.code.Insts[def].AccessBytes())
	if x.dense {
		bytes = a.idealSectors[def] * sectorBytes
	}
	offset := address.constant + float64(at.Offset)
	x.span = span{offset, offset + bytes}
	x.ends = max(1, a.sectors[def])
	if !a.addressFootprint(def, at).data {
		x.ends = min(2, x.ends)
	}
	a.accesses[def] = x
	return x
}

// dense reports whether the lanes of a warp read without gaps, by the source counters: an array that does not begin at a sector's
// beginning takes one more than the bytes need.
func (a *analysis) dense(def int) bool {
	return a.idealSectors[def] > 0 && a.sectors[def] < a.idealSectors[def]+1+1e-6 && a.idealSectors[def] > 1.5
}
