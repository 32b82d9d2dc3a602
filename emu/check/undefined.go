package check

import (
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu"
)

// undefined are the registers of a warp that hold what a shuffle took from a lane that did not take part, which is nobody knows
// what (PTX ISA, shfl.sync), and what was computed of that. Reductions over a part of a warp have such values in lanes whose
// result nobody uses; so what is reported is not the shuffle but that such a value decides something: that it is stored, is
// part of an address, or says which lanes go on where.
type undefined struct {
	registers map[sass.Resource]uint32 // and predicates: the lanes whose value is undefined
	from      party                    // a shuffle that it comes from
}

func (u *undefined) any() bool { return len(u.registers) > 0 }

// of returns the lanes in which one of the resources is undefined.
func (u *undefined) of(list []sass.Resource) uint32 {
	var lanes uint32
	for _, r := range list {
		lanes |= u.registers[r]
	}
	return lanes
}

// set says in which of the lanes of a mask a resource is undefined.
func (u *undefined) set(r sass.Resource, mask, lanes uint32) {
	if u.registers == nil {
		u.registers = make(map[sass.Resource]uint32)
	}
	if v := u.registers[r]&^mask | lanes; v != 0 {
		u.registers[r] = v
	} else {
		delete(u.registers, r)
	}
}

// undefined follows undefined values through an instruction.
func (c *Checker) undefined(w *warp, s *emu.Step) {
	u := &w.undefined
	var buffer [24]sass.Resource
	lanes := u.of(s.Inst.Uses(buffer[:0])) & s.Mask
	if s.Inst.Op == sass.SHFL {
		lanes = u.shuffled(s)
		if s.Absent != 0 {
			lane := int32(bits.TrailingZeros32(s.Absent))
			u.from = party{c.site(s.Code, s.Inst), int32(s.Block), int32(s.Warp), lane}
			lanes |= s.Absent
		}
	}
	if lanes != 0 && decides(s) {
		at := party{c.site(s.Code, s.Inst), int32(s.Block), int32(s.Warp), int32(bits.TrailingZeros32(lanes))}
		from := u.from
		from.lane = at.lane
		f := c.about(AbsentLane, from, at)
		f.Detail = "its value is undefined, and is used"
		u.registers = nil
		return
	}
	for _, r := range s.Inst.Defs(buffer[:0]) {
		if r < sass.ResSB {
			u.set(r, s.Mask, lanes)
		}
	}
}

// shuffled returns the lanes that a shuffle gives an undefined value of another lane.
func (u *undefined) shuffled(s *emu.Step) uint32 {
	var buffer [8]sass.Resource
	var lanes uint32
	value := u.of(s.Inst.Uses(buffer[:0]))
	for m := s.Mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		lanes |= value >> s.Shuffled(lane) & 1 << lane
	}
	return lanes
}

// decides reports whether what an instruction does with its operands shows outside of registers.
func decides(s *emu.Step) bool {
	if kind, _, _ := s.Access(); kind != emu.NoAccess {
		return true
	}
	return s.Inst.Op == sass.BAR || s.Inst.Op.Properties().Redirects()
}
