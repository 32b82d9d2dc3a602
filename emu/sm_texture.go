package emu

import (
	"math/bits"

	"gpa/emu/mem"
)

// texture times an access to a texture or a surface and counts its sectors.
func (s *sm) texture(c *subcore, v *resident, o *op, t int64) (read, done int64) {
	w := v.warp
	a := &w.acc
	if a.kind == accessNone { // no thread reaches memory
		return t + s.run.latency.entry, t + o.t.latency
	}
	n := &s.domain.tally.memory[o.index]
	lines := w.lines[:0]
	touched := func(addr *[32]uint64, mask uint32) {
		w.coalescer.Add(addr, mask, int(a.size))
		n.GlobalSectorsIdeal += int64(w.coalescer.Ideal)
		lines = withLines(lines, w.coalescer.Lines())
	}
	if w.texels.n == 0 { // a surface, or a fetch that is replayed
		touched(&a.addr, a.mask)
	}
	for k := range w.texels.n {
		if x := &w.texels.corners[k]; x.mask != 0 {
			touched(&x.addr, x.mask)
		}
	}
	w.lines = lines
	for i := range lines {
		n.GlobalSectors += int64(bits.OnesCount8(lines[i].Sectors))
	}
	return s.reach(c, v, o, t, lines, mem.Global{Kind: requestKind(a), Words: a.words(), Quads: s.quads(w)})
}

// quads returns the cycles that the texture units take for an access: they take quads of lanes, once for every four corners between which
// there is filtering.
func (s *sm) quads(w *warp) int {
	texels := 0
	for m := w.mask; m != 0; m >>= 4 {
		if m&0xf != 0 {
			texels += 4
		}
	}
	turns := 0
	for k := 0; k < w.texels.n; k += 4 {
		var lanes uint32
		for _, c := range w.texels.corners[k:min(k+4, w.texels.n)] {
			lanes |= c.mask
		}
		if lanes != 0 {
			turns++
		}
	}
	return max(1, int(float64(texels*max(turns, 1))/s.run.latency.texels))
}

// withLines adds lines to others, of which some may be the same.
func withLines(lines, more []mem.Line) []mem.Line {
next:
	for i := range more {
		for k := range lines {
			if l := &lines[k]; l.Number == more[i].Number {
				l.Sectors |= more[i].Sectors
				for b := range l.Bytes {
					l.Bytes[b] |= more[i].Bytes[b]
				}
				continue next
			}
		}
		lines = append(lines, more[i])
	}
	return lines
}
