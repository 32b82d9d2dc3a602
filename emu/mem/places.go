package mem

import "gpa/emu/arch"

// A places says to which set of a partition of L2 a line belongs, and so to which slice: sets are dealt out to the slices in turns.
//
// In a part of a GPU ([arch.Model.Part]) a slice takes the lines of neighbouring slices of the GPU: what crowds few slices there, as
// blocks that all walk along rows of a power of two, crowds as large a share of them here.
type places struct {
	slices, l2Sets int
	whole          index  // of the GPU
	rows           index  // of a part: the sets of a slice
	wholeSlices    uint64 // of the GPU
	wholeSets      uint64
	merged         uint64 // slices of the GPU that are one
	part           bool
	share          float64 // of the GPU
}

// newPlaces returns the places of one partition.
func newPlaces(m *arch.Model) places {
	of := m
	if m.Whole != nil {
		of = m.Whole
	}
	x := places{slices: slicesOf(m), l2Sets: setsOf(m), wholeSlices: uint64(slicesOf(of)), part: m.Whole != nil, share: m.SMs.Value / of.SMs.Value}
	x.whole = newIndex(setsOf(of))
	x.wholeSets = x.whole.sets
	x.merged = max((x.wholeSlices+uint64(x.slices)/2)/uint64(x.slices), 1)
	if x.part {
		x.rows = newIndex(x.l2Sets / x.slices)
		x.l2Sets = int(x.rows.sets) * x.slices
	}
	return x
}

func slicesOf(m *arch.Model) int { return m.L2.Slices.Int() / m.L2.Partitions.Int() }

func setsOf(m *arch.Model) int {
	return m.L2.Size.Int() / m.L1.Line.Int() / m.L2.Ways.Int() / m.L2.Partitions.Int()
}

// sequence returns the slice of lines, or sets, that are dealt out to slices in turns, and which of those of the slice in a row it is.
func (x *places) sequence(line uint64) (slice, n uint64) {
	turn, at := line/x.wholeSlices, line%x.wholeSlices
	return at / x.merged, turn*x.merged + at%x.merged
}

// set returns the set that a line belongs to.
func (x *places) set(line uint64) uint64 {
	set := x.whole.set(line)
	if !x.part {
		return set
	}
	slices := uint64(x.slices)
	slice := set % x.wholeSlices * slices / x.wholeSlices
	_, n := x.sequence(line)
	return x.rows.set(n)*slices + slice
}
