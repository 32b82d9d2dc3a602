package emu

import (
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// writePorts are the write ports of a sub-core's register file, one a bank. A load whose result comes for a bank in the cycle of
// one of fixed latency is late. Those of fixed latency may wait in a queue that nobody sees, as their consumers get them past the
// register file (Huerta et al., MICRO 2025, section 5.3); here all are written the same time after they issue, so two never meet.
type writePorts struct {
	banks uint8
	after int64                       // cycles from issue to write, 0 where nothing is late
	taken [maxBanks][portsAhead]int64 // by bank: the cycles in which it is written, each at its remainder
}

// portsAhead is more than a result of fixed latency takes, held back as long as can be.
const portsAhead = 16

func newWritePorts(m *arch.Model) writePorts {
	return writePorts{banks: registerBanks(m), after: m.Issue.Written.Cycles()}
}

// write takes the ports for the result of an instruction of fixed latency that has been dispatched in cycle t.
func (p *writePorts) write(tm *timing, t int64) {
	if tm.result == sass.RZ {
		return
	}
	at := t + p.after
	for reg := range min(tm.words, p.banks) {
		p.taken[(tm.result+reg)%p.banks][at%portsAhead] = at
	}
}

// busy reports whether in cycle t the bank of a result is taken that is there then. Of several registers the last comes last.
func (p *writePorts) busy(tm *timing, t int64) bool {
	return tm.result != sass.RZ && p.taken[(tm.result+tm.words-1)%p.banks][t%portsAhead] == t
}

// late puts off by a cycle the loads that a warp waits for and that come in cycle t, where they find the port taken, and reports
// whether there are such.
func (v *resident) late(p *writePorts, t int64) bool {
	found := false
	for m := v.next.t.wait; m != 0; m &= m - 1 {
		n := bits.TrailingZeros8(m)
		if v.clear(n) != t {
			continue
		}
		for i, e := range v.visible(n) {
			if e.done == t && e.op.t.loads() && p.busy(&e.op.t, t) {
				v.putOff(n, i)
				found = true
			}
		}
	}
	return found
}

// putOff makes an event of a counter end a cycle later.
func (v *resident) putOff(n, event int) {
	c := &v.counters[n]
	e := &c.events[event]
	e.done++
	c.clear = max(c.clear, e.done)
	if v.hidden>>n&1 != 0 {
		v.hiddenDone[n] = max(v.hiddenDone[n], e.done)
	}
}

// loads reports whether the result of an instruction comes from a memory.
func (t *timing) loads() bool {
	return t.path == pathShared || t.path == pathGlobal || t.path == pathConst
}
