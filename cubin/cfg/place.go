package cfg

import (
	"encoding/binary"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// places are the relocations and tables that say where the code of a section goes.
type places struct {
	file    *cubin.File
	code    *cubin.Code
	kernel  *cubin.Kernel           // of the section, nil for device functions
	at      map[uint64]*cubin.Reloc // by the pc of the instruction that they change
	slots   map[uint64]*cubin.Reloc // by offset in constant bank 4
	into    []uint64                // code addresses of the section that other places hold
	entries int                     // of jump tables that may still be read, see jumpTable
}

func newPlaces(file *cubin.File, code *cubin.Code) places {
	p := places{
		file: file, code: code, kernel: file.KernelOf(code), entries: 4 * len(code.Insts),
		at: make(map[uint64]*cubin.Reloc), slots: make(map[uint64]*cubin.Reloc),
	}
	for i := range file.Relocs {
		r := &file.Relocs[i]
		if r.Code == code {
			p.at[r.Offset] = r
		}
		if r.Target.Code == code {
			p.into = append(p.into, r.Target.Offset+uint64(r.Addend))
		}
		if r.Section == ".nv.constant4" {
			p.slots[r.Offset] = r
		}
	}
	return p
}

// addressRegister returns the register that a branch takes its target from.
func addressRegister(in *sass.Inst) (reg uint8, ok bool) {
	for i := range in.Operands {
		o := &in.Operands[i]
		if (o.Kind == sass.KindReg || o.Kind == sass.KindLabelReg) && !o.Dest && o.Reg != sass.RZ {
			return o.Reg, true
		}
	}
	return 0, false
}

// constant returns the constant-bank operand of an instruction, nil where it has none.
func constant(in *sass.Inst) *sass.Operand {
	for i := range in.Operands {
		if in.Operands[i].Kind == sass.KindConst {
			return &in.Operands[i]
		}
	}
	return nil
}

// functionTable returns the entries of device functions of the section that the kernel's constant bank 2 holds.
func (p *places) functionTable() []uint64 {
	if p.kernel == nil {
		return nil
	}
	return p.functionsIn(p.kernel.ConstBank2)
}

// functionsIn returns the entries of device functions of the section that are among 64-bit words, in order.
func (p *places) functionsIn(words []byte) []uint64 {
	entries := make(map[uint64]bool)
	for i := range p.code.Functions {
		if f := &p.code.Functions[i]; f.Kind == cubin.DeviceFunction {
			entries[f.Offset] = true
		}
	}
	var list []uint64
	for ; len(words) >= 8; words = words[8:] {
		if word := binary.LittleEndian.Uint64(words); entries[word] {
			list = append(list, word)
			delete(entries, word)
		}
	}
	return list
}

// jumpTable returns the targets of an indirect branch that the file's attributes do not name: the run of code
// addresses in constant bank 2 from where the branch's register is loaded. Together the tables may not have more
// entries than compilers give them: tables that share their words could ask for the square of the file's size.
func (p *places) jumpTable(branch *sass.Inst) []uint64 {
	reg, ok := addressRegister(branch)
	index, inside := p.code.InstIndex(branch.PC)
	if !ok || !inside || p.kernel == nil {
		return nil
	}
	for i := index - 1; i >= max(0, index-window); i-- {
		in := &p.code.Insts[i]
		if o := constant(in); in.Op == sass.LDC && o != nil && o.Bank == 2 && in.Operands[0].Reg == reg && o.Offset >= 0 {
			return p.tableAt(uint64(o.Offset), p.code.FunctionAt(branch.PC))
		}
	}
	return nil
}

// tableAt returns the code addresses of a function that stand one after the other in bank 2.
func (p *places) tableAt(offset uint64, f *cubin.Function) []uint64 {
	var list []uint64
	bank := p.kernel.ConstBank2
	for ; offset+4 <= uint64(len(bank)) && p.entries > 0; offset += 4 {
		pc := uint64(binary.LittleEndian.Uint32(bank[offset:]))
		if _, ok := p.code.InstIndex(pc); !ok || p.code.FunctionAt(pc) != f {
			break
		}
		list = append(list, pc)
		p.entries--
	}
	return list
}
