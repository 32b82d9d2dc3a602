package asm

import (
	"debug/elf"
	"encoding/binary"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// minRegisters is the least number of registers that a thread is given.
const minRegisters = 8

// registers is the number of registers of a code: as .reg says, or as many as the instructions name.
func (b *builder) registers(i int) int {
	if n := b.a.codes[i].registers; n > 0 {
		return n
	}
	n := minRegisters
	for k := range b.insts[i] {
		for _, o := range b.insts[i][k].Operands {
			if (o.Kind == sass.KindReg || o.Kind == sass.KindMem || o.Kind == sass.KindConst || o.Kind == sass.KindLabelReg) && o.Reg != sass.RZ {
				n = max(n, int(o.Reg)+max(int(o.Width), 1))
			}
		}
	}
	return min(n, maxRegisters)
}

// barriers is the number of named barriers of a code: as .barriers says, or as many as the instructions name.
func (b *builder) barriers(i int) int {
	n := b.a.codes[i].barriers
	for k := range b.insts[i] {
		in := &b.insts[i][k]
		if in.Op != sass.BAR || b.a.codes[i].barriers > 0 {
			continue
		}
		used := maxBarriers // the register may name any
		for _, o := range in.Operands {
			if o.Kind == sass.KindImm {
				used = int(min(o.Imm, maxBarriers-1)) + 1
				break
			}
			if o.Kind == sass.KindReg {
				break
			}
		}
		n = max(n, used)
	}
	return n
}

// words appends an attribute whose payload are 32-bit words.
func words(out []byte, code byte, list ...uint32) []byte {
	out = binary.LittleEndian.AppendUint16(append(out, 4, code), uint16(4*len(list)))
	for _, w := range list {
		out = binary.LittleEndian.AppendUint32(out, w)
	}
	return out
}

// short appends an attribute that is one 16-bit value.
func short(out []byte, code byte, v int) []byte {
	return binary.LittleEndian.AppendUint16(append(out, 3, code), uint16(v))
}

// addInfo writes the attributes of the module and of the kernels.
func (b *builder) addInfo() {
	module := b.image.Section(".nv.info")
	for i, c := range b.a.codes {
		symbol := uint32(b.symbols[c.name])
		module.Data = words(module.Data, attrRegCount, symbol, uint32(b.registers(i)))
		module.Data = words(module.Data, attrFrameSize, symbol, uint32(c.local))
		module.Data = words(module.Data, attrMinStack, symbol, uint32(c.local))
		s := b.image.Section(".nv.info." + c.name)
		s.Data = words(s.Data, attrAPIVersion, elfVersion)
		if c.kernel {
			s.Data = b.kernelInfo(s.Data, c)
		}
		s.Data = b.codeInfo(s.Data, i)
	}
}

// kernelInfo writes what a launch needs to know.
func (b *builder) kernelInfo(out []byte, c *code) []byte {
	bank := uint32(b.symbols[".nv.constant0."+c.name])
	out = words(out, attrParamCBank, bank, uint32(paramBase(b.a.arch))|uint32(c.paramSize)<<16)
	out = short(out, attrParamSize, c.paramSize)
	for i := len(c.params) - 1; i >= 0; i-- {
		p := &c.params[i]
		const constantBank = 0x1f << 12
		out = words(out, attrParam, 0, uint32(i)|uint32(p.offset)<<16, uint32(p.size)<<18|constantBank)
	}
	out = short(out, attrMaxReg, maxRegisters)
	for _, t := range []struct {
		code byte
		dims [3]int
	}{{attrMaxThreads, c.maxThreads}, {attrReqThreads, c.reqThreads}} {
		if t.dims[0] > 0 {
			out = words(out, t.code, uint32(t.dims[0]), uint32(t.dims[1]), uint32(t.dims[2]))
		}
	}
	return out
}

// codeInfo writes the attributes that hold addresses of instructions.
func (b *builder) codeInfo(out []byte, i int) []byte {
	var exits, externs, calls []uint32
	for k := range b.insts[i] {
		if in := &b.insts[i][k]; in.Op == sass.EXIT {
			exits = append(exits, uint32(in.PC))
		}
	}
	seen := make(map[string]bool)
	for _, r := range b.a.codes[i].relocs {
		symbol := b.symbols[r.symbol]
		if s := &b.image.Symbols[symbol]; s.Section != 0 || s.Info&0xf != functionSym {
			continue
		}
		if !seen[r.symbol] {
			seen[r.symbol] = true
			externs = append(externs, uint32(symbol))
		}
		if r.kind == relAbsCall(b.a.arch) {
			calls = append(calls, uint32(r.offset))
		}
	}
	for _, l := range []struct {
		code byte
		list []uint32
	}{{attrExterns, externs}, {attrSyscalls, calls}, {attrExits, exits}} {
		if len(l.list) > 0 {
			out = words(out, l.code, l.list...)
		}
	}
	return out
}

// addLines writes the line table.
func (b *builder) addLines() {
	if !b.hasLines() {
		return
	}
	var marks [][]cubin.LineMark
	var sizes []uint64
	var symbols []int
	for i, c := range b.a.codes {
		var list []cubin.LineMark
		for _, m := range c.marks {
			list = append(list, cubin.LineMark{PC: uint64(m.inst) * sass.InstSize, File: m.file, Line: m.line})
		}
		if len(list) > 0 {
			symbols = append(symbols, b.symbols[c.name])
		}
		marks, sizes = append(marks, list), append(sizes, uint64(len(b.insts[i]))*sass.InstSize)
	}
	section, relocations := b.image.SectionIndex(".debug_line"), b.image.Section(".rel.debug_line")
	data, places := cubin.EncodeLines(marks, sizes)
	b.image.Sections[section].Data = data
	relocations.Info = uint32(section)
	for i, at := range places {
		relocations.Data = binary.LittleEndian.AppendUint64(relocations.Data, at)
		relocations.Data = binary.LittleEndian.AppendUint64(relocations.Data, elf.R_INFO(uint32(symbols[i]), rel64))
	}
}

// addRelocations writes the relocations of code.
func (b *builder) addRelocations() {
	for _, c := range b.a.codes {
		if len(c.relocs) == 0 {
			continue
		}
		s := b.image.Section(".rela.text." + c.name)
		for _, r := range c.relocs {
			s.Data = binary.LittleEndian.AppendUint64(s.Data, r.offset)
			s.Data = binary.LittleEndian.AppendUint64(s.Data, elf.R_INFO(uint32(b.symbols[r.symbol]), r.kind))
			s.Data = binary.LittleEndian.AppendUint64(s.Data, uint64(r.addend))
		}
	}
}
