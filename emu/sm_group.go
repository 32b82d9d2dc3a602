package emu

import (
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/mem"
)

// groups works out the time of a matrix product of a warpgroup and of what waits for such. A product takes the tensor core of each of the
// four warps for as long as its multiplications take, or as the shared memory of the SM needs to read its matrices once for all four, or a
// least time.
func (t *timing) groups(in *sass.Inst, m *arch.Model) {
	if n, ok := in.AwaitsGroups(); ok {
		t.depbar, t.depbarMax = groupCount, n
	}
	if t.path != pathGroup {
		return
	}
	columns := int64(in.Mod(sass.GmmaN))
	bytes := columns * groupRowBytes
	if in.Mod(sass.Sparse) != 0 {
		bytes *= 2 // of the depth of B half counts
	}
	if !in.Operands[1].Source {
		bytes += 4 * groupRows * groupRowBytes
	}
	g := &m.Groups
	t.interval = max(columns/max(g.Columns.Cycles(), 1), bytes/max(m.Shared.Banks.Cycles()*m.Shared.BankSize.Cycles(), 1), g.Least.Cycles())
	t.latency = g.Complete.Cycles()
	t.closes = in.ClosesGroup()
	t.empty = in.Operands[0].Reg == sass.RZ
}

// ahead reports whether the warp waits for products of which other warps of its warpgroup have yet to issue their parts.
func (v *resident) ahead() bool {
	return v.next.t.depbar == groupCount && v.warp.events == nil && v.warp.ahead(v.next)
}

// gather lets the others of a warpgroup go on that have waited for a warp: it has closed a group, or will close none.
func (s *sm) gather(v *resident) {
	for _, w := range v.warp.warpgroup() {
		if p := &v.block.warps[w.id]; p.ready == mem.Never && !p.ended && p.next != nil && p.next.t.depbar == groupCount {
			p.gathered = max(s.now, v.multiplied)
			p.settle()
			if p.ready != mem.Never {
				p.core.expect(p)
			}
		}
	}
}

// product sends a product of the warpgroup to the tensor core in cycle t.
func (c *subcore) product(v *resident, o *op, t int64) {
	if !o.t.empty {
		start := max(t, c.pipes[o.t.pipe])
		c.pipes[o.t.pipe] = start + o.t.interval
		v.product, v.multiplied = o, start+o.t.interval+o.t.latency
	}
	if !o.t.closes {
		return
	}
	producer := v.product
	if producer == nil {
		producer = o
	}
	v.counters[groupCount].add(t, max(v.multiplied, t), producer)
}
