package advisor

import (
	"math"

	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// heldCycles is for how many cycles each instruction of a row holds back the next that needs its pipe or its bank. The scheduler issues
// one every so many cycles, or as fast as the pipes take them.
func (in *Input) heldCycles(code, first, last int, every float64) []float64 {
	ports := newBankPorts(in)
	held := make([]float64, last-first+1)
	at, free := 0.0, [arch.NumPipes]float64{}
	for i := first; i <= last; i++ {
		inst := &in.Module.Codes[code].Insts[i]
		pipe, ok := in.pipe(inst)
		if !ok {
			at += every
			ports.forget()
			continue
		}
		interval := in.pipeInterval(pipe)
		at = max(at, free[pipe])
		hold := ports.read(inst, at)
		busy := max(interval, hold+min(interval, 2)) // slower pipes read their operands meanwhile
		held[i-first] = busy - interval
		free[pipe] = at + busy
		at += max(every, 1+hold)
	}
	return held
}

// bankPorts are the read ports of a scheduler's register file and the operands kept for reuse, as one warp alone finds them (Huerta et al.,
// MICRO 2025, section 5.3).
type bankPorts struct {
	banks         int
	ports, window float64
	busy          []float64
	kept          map[keptOperand]uint8 // register by place
}

// A keptOperand is a place of the register-file cache.
type keptOperand struct {
	bank int
	slot uint8
}

func newBankPorts(in *Input) *bankPorts {
	issue := &in.Model.Issue
	p := &bankPorts{banks: max(1, issue.Banks.Int()), ports: max(1, issue.BankPorts.Value), window: issue.Window.Value}
	p.busy, p.kept = make([]float64, p.banks), map[keptOperand]uint8{}
	return p
}

// forget drops what is kept: other instructions read there.
func (p *bankPorts) forget() { clear(p.kept) }

// read lets an instruction that issues in a cycle read its operands and returns by how many cycles it is held back.
func (p *bankPorts) read(inst *sass.Inst, at float64) float64 {
	want := make([]float64, p.banks)
	for _, o := range portOperands(inst) {
		bank := int(o.reg) % p.banks
		place := keptOperand{bank, o.slot}
		if reg, ok := p.kept[place]; !ok || reg != o.reg {
			want[bank]++
		}
		delete(p.kept, place)
		if o.reuse {
			p.kept[place] = o.reg
		}
	}
	hold := 0.0
	for bank, n := range want {
		if n == 0 {
			continue
		}
		p.busy[bank] = max(p.busy[bank], at) + math.Ceil(n/p.ports)
		hold = max(hold, p.busy[bank]-p.window-at)
	}
	return hold
}

// A portOperand is a source that is read through the ports.
type portOperand struct {
	reg, slot uint8
	reuse     bool
}

// portOperands lists the registers that an instruction reads through the ports.
func portOperands(inst *sass.Inst) []portOperand {
	var list []portOperand
	for i := range inst.Operands {
		o := &inst.Operands[i]
		if slot := inst.Form.Operands[i].Reuse; o.Kind == sass.KindReg && o.Source && slot > 0 && o.Reg != sass.RZ {
			list = append(list, portOperand{o.Reg, slot - 1, o.Reuse})
		}
	}
	return list
}
