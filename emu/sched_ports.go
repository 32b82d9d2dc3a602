package emu

import (
	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// maxBanks is the most banks that a register file has.
const maxBanks = 4

// registerBanks returns the banks of a sub-core's register file.
func registerBanks(m *arch.Model) uint8 { return uint8(min(m.Issue.Banks.Int(), maxBanks)) }

// registerPorts are the read ports of a sub-core's register file with the register-file cache before them (Huerta et
// al., MICRO 2025, section 5.3). An instruction has a window of cycles in which each bank must deliver its operands;
// while a bank cannot, the instruction is held back and the next with it. An operand marked .reuse is kept for its slot
// until something else of the same bank is read there.
type registerPorts struct {
	banks  uint8
	ports  int64
	window int64
	busy   [maxBanks]int64 // by bank: read operands occupy it up to this cycle
	cache  [maxBanks][3]cached
	kept   int // valid elements of cache
}

// A cached operand is a register of a warp.
type cached struct {
	warp *resident
	reg  uint8
}

func newRegisterPorts(m *arch.Model) registerPorts {
	return registerPorts{banks: registerBanks(m), ports: m.Issue.BankPorts.Cycles(), window: m.Issue.Window.Cycles()}
}

// read lets the instruction of a warp that issues in cycle t read its operands and returns by how many cycles it is held
// back.
func (p *registerPorts) read(v *resident, t *timing, at int64) int64 {
	var want [maxBanks]int64
	for slot, reg := range t.registers {
		if reg == sass.RZ {
			continue
		}
		bank := reg % p.banks
		if p.kept > 0 && p.hit(&p.cache[bank][slot], v, reg) {
			continue
		}
		want[bank]++
	}
	p.keep(v, t)
	var hold int64
	for bank := range p.banks {
		if want[bank] == 0 {
			continue
		}
		cycles := (want[bank] + p.ports - 1) / p.ports
		begin := max(p.busy[bank], at)
		hold = max(hold, begin+cycles-p.window-at)
	}
	for bank := range p.banks {
		if want[bank] > 0 {
			p.busy[bank] = max(p.busy[bank], at) + (want[bank]+p.ports-1)/p.ports
		}
	}
	return hold
}

// hit reports whether the cache holds the operand. Anything else that is read there makes it forget.
func (p *registerPorts) hit(c *cached, v *resident, reg uint8) bool {
	if c.warp == nil {
		return false
	}
	if c.warp == v && c.reg == reg {
		return true
	}
	c.warp = nil
	p.kept--
	return false
}

// keep fills the cache with the operands marked .reuse and drops those that are read without the mark.
func (p *registerPorts) keep(v *resident, t *timing) {
	if t.reuse == 0 && p.kept == 0 {
		return
	}
	for slot, reg := range t.registers {
		if reg == sass.RZ {
			continue
		}
		c := &p.cache[reg%p.banks][slot]
		marked := t.reuse>>slot&1 != 0
		switch {
		case marked && c.warp == nil:
			p.kept++
			*c = cached{v, reg}
		case marked:
			*c = cached{v, reg}
		case c.warp != nil:
			*c = cached{}
			p.kept--
		}
	}
}
