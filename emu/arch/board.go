package arch

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Board is what boards with one chip, and chips of one architecture, differ in. What is 0 is as in the model.
type Board struct {
	SMs    float64
	Clock  float64 // of the SMs, Hz
	Peak   float64 // of DRAM, bytes a second
	Bus    float64 // of DRAM, bits
	L2     float64 // bytes
	Memory float64 // bytes
}

// A boardKey is a figure of a board as it is written.
type boardKey struct {
	name, unit  string
	scale       float64 // of its unit
	least, most float64
	of          func(*Board) *float64
}

// boardKeys are the names of a board's figures, as in "rtx3090,sms=68,dram=760", with their units and
// what is possible.
var boardKeys = []boardKey{
	{"sms", "SMs", 1, 1, 1024, func(b *Board) *float64 { return &b.SMs }},
	{"clock", "MHz", 1e6, 100, 10000, func(b *Board) *float64 { return &b.Clock }},
	{"dram", "GB/s", 1e9, 1, 100000, func(b *Board) *float64 { return &b.Peak }},
	{"bus", "bits", 1, 32, 16384, func(b *Board) *float64 { return &b.Bus }},
	{"l2", "MiB", 1 << 20, 0.0625, 4096, func(b *Board) *float64 { return &b.L2 }},
	{"memory", "GiB", 1 << 30, 0.0625, 65536, func(b *Board) *float64 { return &b.Memory }},
}

// ParseBoard reads a board as in "sms=68,dram=760".
func ParseBoard(text string) (b Board, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		i := slices.IndexFunc(boardKeys, func(k boardKey) bool { return k.name == name })
		if i < 0 {
			return b, fmt.Errorf("%q is no figure of a GPU; there are %s", name, boardUnits())
		}
		k := &boardKeys[i]
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || v < k.least || v > k.most || math.IsNaN(v) {
			return b, fmt.Errorf("%s=%s: %s takes %g to %g %s", name, number, name, k.least, k.most, k.unit)
		}
		if name == "sms" && v != math.Trunc(v) {
			return b, fmt.Errorf("%s=%s is no whole number", name, number)
		}
		*k.of(&b) = v * k.scale
	}
	return b, nil
}

// boardUnits lists the figures with their units.
func boardUnits() string {
	var list []string
	for _, k := range boardKeys {
		list = append(list, fmt.Sprintf("%s (%s)", k.name, k.unit))
	}
	return strings.Join(list, ", ")
}

// text writes the figures that are not 0, as ParseBoard reads them.
func (b Board) text() string {
	var list []string
	for _, k := range boardKeys {
		if v := *k.of(&b); v != 0 {
			list = append(list, k.name+"="+strconv.FormatFloat(v/k.scale, 'g', 6, 64))
		}
	}
	return strings.Join(list, ",")
}

// nearby is how far a figure may be from the model's to be the same: what is measured or rounded.
const nearby = .005

// differs keeps of a board's figures those in which it differs from a model; the clock is what it runs at, and stays.
func (b Board) differs(m *Model) Board {
	for _, f := range []struct {
		own   *float64
		model float64
	}{{&b.SMs, m.SMs.Value}, {&b.Peak, m.DRAM.Peak.Value}, {&b.L2, m.L2.Size.Value}, {&b.Memory, m.DRAM.Size.Value}} {
		if math.Abs(*f.own-f.model) <= nearby*f.model {
			*f.own = 0
		}
	}
	if m.busWidth() == b.Bus {
		b.Bus = 0
	}
	return b
}

// busWidth is the width of the memory bus in bits. Channels are of 16 for GDDR6 and GDDR7, which have two in a chip, and of 128 for HBM2, 64 for HBM3.
func (m *Model) busWidth() float64 {
	switch m.Arch {
	case 70, 80:
		return 128 * m.DRAM.Channels.Value
	case 90, 100, 103:
		return 64 * m.DRAM.Channels.Value
	}
	return 16 * m.DRAM.Channels.Value
}

// As returns the GPU of a model with the figures of another board: as many SMs, that much of L2 and DRAM. Of L2's slices and DRAM's channels there are as
// many in proportion as the bus is wide. What an SM has, and latencies, are the model's.
func (m *Model) As(b Board) *Model {
	p := *m
	b = b.differs(m)
	if b == (Board{}) {
		return &p
	}
	source := "as given for a board: " + b.text()
	set := func(f *Figure, v float64) { f.Value, f.Source = v, source }
	if b.SMs > 0 {
		set(&p.SMs, b.SMs)
	}
	if b.Bus > 0 {
		p.scaleMemory(b.Bus / m.busWidth())
		p.DRAM.Channels.Source, p.L2.Slices.Source = source, source
	}
	if b.Peak > 0 {
		p.DRAM.Achieved.Value *= b.Peak / p.DRAM.Peak.Value
		set(&p.DRAM.Peak, b.Peak)
	}
	if b.L2 > 0 {
		set(&p.L2.Size, b.L2)
	}
	if b.Memory > 0 {
		set(&p.DRAM.Size, b.Memory)
	}
	if b.Clock > 0 {
		p.SetClock(b.Clock)
	}
	p.Name, p.Product = m.Name+","+b.text(), m.Product+" ("+b.text()+")"
	return &p
}
