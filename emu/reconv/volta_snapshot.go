package reconv

import "encoding/binary"

// Snapshot names barriers by their order, as the names themselves never come again; the order is that of the barriers that
// matter.
func (v *voltaWarp) Snapshot(to []byte) []byte {
	v.sweep()
	word := func(x uint32) { to = binary.LittleEndian.AppendUint32(to, x) }
	name := func(id barrierID) { word(uint32(v.find(id) + 1)) }
	word(v.live)
	word(v.running.Lanes)
	word(uint32(v.backs))
	word(uint32(len(v.ready)))
	for _, g := range v.ready {
		word(uint32(g.PC))
		word(g.Lanes)
		if g.yielded {
			word(1)
		}
	}
	word(uint32(len(v.barriers)))
	for _, b := range v.barriers {
		word(b.mask & v.live)
		word(b.arrived)
	}
	for lane := range 32 {
		w := v.wait(lane)
		word(uint32(w.kind)<<8 | uint32(w.number))
		name(w.id)
		word(w.mask)
		word(uint32(w.pc))
		for _, r := range v.registers {
			if r == nil {
				name(0)
				continue
			}
			name(r[lane])
		}
		if v.saved == nil {
			continue
		}
		for _, s := range v.saved[lane] {
			word(s.mask)
			name(s.id)
		}
	}
	return to
}

// wait returns what a lane waits for.
func (v *voltaWarp) wait(lane int) wait {
	if v.waits == nil {
		return wait{}
	}
	return v.waits[lane]
}
