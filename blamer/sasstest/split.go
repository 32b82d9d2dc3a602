package sasstest

import (
	"slices"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// Split gives each function of a program a section of its own, as the linker of separately compiled device code does: calls of other
// functions are relocations. Sections are numbered as the functions, so that their instructions keep their order.
func (p *Program) Split() {
	whole := p.Module.Codes[0]
	p.Module.Codes = nil
	for i, f := range whole.Functions {
		code := &cubin.Code{Index: i, Name: f.Name}
		first := f.Offset / sass.InstSize
		for _, in := range whole.Insts[first : first+f.Size/sass.InstSize] {
			code.Insts = append(code.Insts, moved(in, f.Offset))
		}
		f.Code, f.Offset = i, 0
		code.Functions = []cubin.Function{f}
		p.Module.Codes = append(p.Module.Codes, code)
	}
	p.Module.Kernels[0].Code = p.Module.Codes[0]
	for _, from := range p.Module.Codes {
		p.relocate(whole, from)
	}
	for i := range p.Launch.Samples {
		s := &p.Launch.Samples[i]
		s.Code, s.PC = place(whole, s.PC)
		if s.Producer.Known {
			s.Producer.Code, s.Producer.PC = place(whole, s.Producer.PC)
		}
	}
	for i := range p.Launch.PCs {
		c := &p.Launch.PCs[i]
		c.Code, c.PC = place(whole, c.PC)
	}
}

// moved returns an instruction so many bytes nearer to the beginning of its section, with its targets.
func moved(in sass.Inst, by uint64) sass.Inst {
	in.PC -= by
	in.Operands = slices.Clone(in.Operands)
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == sass.KindTarget {
			o.Imm -= by
		}
	}
	return in
}

// relocate enters the calls of a section.
func (p *Program) relocate(whole, from *cubin.Code) {
	for i := range from.Insts {
		in := &from.Insts[i]
		if in.Op != sass.CALL {
			continue
		}
		for j := range in.Operands {
			if o := &in.Operands[j]; o.Kind == sass.KindTarget {
				to, pc := place(whole, o.Imm+whole.Functions[from.Index].Offset)
				p.Module.Relocs = append(p.Module.Relocs, cubin.Reloc{Code: from, Offset: in.PC, Target: cubin.Target{Code: p.Module.Codes[to], Offset: pc}})
			}
		}
	}
}

// place returns the function of a pc of the whole program, by number, and the pc in it.
func place(whole *cubin.Code, pc uint64) (code int, at uint64) {
	for i := range slices.Backward(whole.Functions) {
		if f := &whole.Functions[i]; pc >= f.Offset {
			return i, pc - f.Offset
		}
	}
	return 0, pc
}
