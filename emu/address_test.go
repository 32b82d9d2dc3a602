package emu

import (
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// addressSpaces are the spaces of the addresses of instructions, in the order of their operands.
var addressSpaces = map[sass.Op][]space{
	sass.LDG: {spaceGlobal}, sass.STG: {spaceGlobal}, sass.LD: {spaceGlobal}, sass.ST: {spaceGlobal}, sass.ATOM: {spaceGlobal},
	sass.ATOMG: {spaceGlobal}, sass.RED: {spaceGlobal}, sass.REDG: {spaceGlobal}, sass.QSPC: {spaceGlobal},
	sass.LDS: {spaceShared}, sass.STS: {spaceShared}, sass.ATOMS: {spaceShared}, sass.LDSM: {spaceShared}, sass.STSM: {spaceShared},
	sass.SYNCS: {spaceShared}, sass.ARRIVES: {spaceShared}, sass.STAS: {spaceShared},
	sass.LDL: {spaceLocal}, sass.STL: {spaceLocal},
	sass.LDGSTS: {spaceShared, spaceGlobal},
}

// TestAddresses compares the addresses of all rows with the sum of their parts, for registers that hold anything: addresses of
// global and generic memory wrap around at 64 bits, those of shared and local memory and those without .E at 32.
func TestAddresses(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		if addressSpaces[f.Op] == nil {
			continue
		}
		done := 0
		samples(f, r, 200, func(in sass.Inst) bool {
			if refused(in) {
				return true
			}
			n := 0
			for k := range in.Operands {
				if in.Operands[k].Kind == sass.KindMem {
					compareAddresses(t, in, k, addressSpaces[f.Op][n], r)
					n++
				}
			}
			done++
			return done < 20 && !t.Failed()
		})
	}
}

func compareAddresses(t *testing.T, in sass.Inst, k int, s space, r *rand.Rand) {
	t.Helper()
	x := newMemoryTest(t, in, r)
	p := x.w.block.run.program
	o := &op{inst: &in, space: s}
	if err := p.memoryOperand(o, k); err != nil {
		t.Fatalf("%s: %v", in.Text(), err)
	}
	p.place(o)
	for len(x.w.regs) < p.rows() { // of the parts that the instruction itself has no use for
		x.w.regs = append(x.w.regs, lanes{})
	}
	x.w.mask = allLanes
	x.w.access(o, accessLoad)
	for lane, got := range x.w.acc.addr {
		if want := x.sum(k, s, lane); got != want {
			t.Errorf("sm_%d %s: address %#x, want %#x", in.Arch, in.Text(), got, want)
			return
		}
	}
}

// sum adds up the address of a lane: the register, without sign where it has 32 bits, times its scale, the uniform register and
// the offset, which has a sign.
func (x *memoryTest) sum(k int, s space, lane int) uint64 {
	m, slot := &x.in.Operands[k], &x.in.Form.Operands[k]
	sum := uint64(int64(m.Offset))
	if m.Reg != sass.RZ {
		v := uint64(x.w.regs[m.Reg][lane])
		if m.Width == 2 && s == spaceGlobal {
			v |= uint64(x.w.regs[m.Reg+1][lane]) << 32
		}
		if s != spaceGlobal {
			v *= map[uint8]uint64{sass.AddrX1: 1, sass.AddrX4: 4, sass.AddrX8: 8, sass.AddrX16: 16}[m.Swz]
		}
		sum += v
	}
	based := slot.URegAt.N > 0 && !slot.Descriptor && m.UReg != sass.URZ
	if based {
		sum += uint64(x.register(m.UReg, true)[lane])
		if s == spaceGlobal {
			sum += uint64(x.register(m.UReg+1, true)[lane]) << 32
		}
	}
	if s != spaceGlobal || m.Width != 2 && !based {
		sum = uint64(uint32(sum))
	}
	return sum
}
