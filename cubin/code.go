package cubin

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"

	"gpa/cubin/sass"
)

// readCodes decodes the .text sections.
func (r *reader) readCodes() error {
	if err := r.readModuleInfo(); err != nil {
		return err
	}
	r.codes = make(map[int]*Code)
	functions := r.functionSymbols()
	for i := range r.file.Sections {
		name, ok := strings.CutPrefix(r.file.Sections[i].Name, prefixText)
		if !ok {
			continue
		}
		code, err := r.readCode(i, name, functions[i])
		if err != nil {
			return fmt.Errorf("section %s: %w", r.file.Sections[i].Name, err)
		}
		r.codes[i] = code
		sum := code.deviceFrames()
		r.frameSums = append(r.frameSums, sum)
		if code.Functions[0].Kind != KernelFunction {
			r.sharedFrames += sum
		}
		r.file.Codes = append(r.file.Codes, code)
	}
	if len(r.file.Codes) == 0 {
		return ErrNoCode
	}
	return nil
}

// functionSymbols groups the indices of the function symbols by section.
func (r *reader) functionSymbols() map[int][]int {
	list := make(map[int][]int)
	for i := range r.symbols {
		if s := &r.symbols[i]; s.kind == elf.STT_FUNC && s.section != 0 {
			list[s.section] = append(list[s.section], i)
		}
	}
	return list
}

func (r *reader) readCode(section int, name string, symbols []int) (*Code, error) {
	code := &Code{Index: len(r.file.Codes), Section: section, Name: name, Address: r.loaded[section]}
	data := r.file.SectionData(section)
	if len(data) == 0 || len(data)%sass.InstSize != 0 {
		return nil, fmt.Errorf("%d bytes are no whole number of instructions", len(data))
	}
	code.decode(r.file.Arch, data)
	if err := r.splitFunctions(code, symbols); err != nil {
		return nil, err
	}
	return code, r.readIndirectTargets(code)
}

// decode decodes the instruction words of the section.
func (c *Code) decode(arch sass.Arch, data []byte) {
	c.Insts = make([]sass.Inst, len(data)/sass.InstSize)
	for i := range c.Insts {
		pc := uint64(i) * sass.InstSize
		word := sass.Word{Lo: binary.LittleEndian.Uint64(data[pc:]), Hi: binary.LittleEndian.Uint64(data[pc+8:])}
		inst, err := sass.Decode(arch, pc, word)
		if err != nil {
			inst = sass.Undecoded(arch, pc, word)
			if c.Err == nil {
				c.Err = err
			}
		}
		c.Insts[i] = inst
	}
}

// splitFunctions divides the section at the function symbols in it. The symbol of a kernel spans the section; the
// functions that the compiler put behind its code have symbols inside.
func (r *reader) splitFunctions(code *Code, symbols []int) error {
	size := uint64(len(code.Insts)) * sass.InstSize
	starts := map[uint64]int{}
	for _, i := range symbols {
		s := &r.symbols[i]
		if s.value%sass.InstSize != 0 || s.value >= size {
			return fmt.Errorf("function %s at 0x%x of 0x%x", s.name, s.value, size)
		}
		if other, ok := starts[s.value]; !ok || r.preferred(i, other) {
			starts[s.value] = i
		}
	}
	if _, ok := starts[0]; !ok {
		code.Functions = append(code.Functions, r.function(code, code.Name, false, 0))
	}
	for offset, i := range starts {
		f := r.function(code, r.symbols[i].name, r.symbols[i].entry, offset)
		f.Frame = r.stack[i].frame
		code.Functions = append(code.Functions, f)
	}
	slices.SortFunc(code.Functions, func(a, b Function) int {
		if a.Offset < b.Offset {
			return -1
		}
		return 1 // offsets are distinct
	})
	for i := range code.Functions {
		end := size
		if i+1 < len(code.Functions) {
			end = code.Functions[i+1].Offset
		}
		code.Functions[i].Size = end - code.Functions[i].Offset
	}
	return nil
}

// preferred reports whether symbol a names an address better than symbol b: a kernel does, then a global symbol, then
// the first one.
func (r *reader) preferred(a, b int) bool {
	x, y := &r.symbols[a], &r.symbols[b]
	if x.entry != y.entry {
		return x.entry
	}
	if (x.bind == elf.STB_GLOBAL) != (y.bind == elf.STB_GLOBAL) {
		return x.bind == elf.STB_GLOBAL
	}
	return a < b
}

func (r *reader) function(code *Code, symbol string, entry bool, offset uint64) Function {
	mangled, kind := functionName(code.Name, symbol)
	if entry {
		mangled, kind = symbol, KernelFunction
	}
	return Function{Name: symbol, Demangled: Demangle(mangled), Kind: kind, Code: code.Index, Offset: offset}
}

// readIndirectTargets reads where the indirect branches of the section go.
func (r *reader) readIndirectTargets(code *Code) error {
	name := prefixInfo + code.Name
	list, err := parseInfo(r.infoOf(code.Section))
	if err != nil {
		return fmt.Errorf("section %s: %w", name, err)
	}
	code.IndirectTargets = make(map[uint64][]uint64)
	for i := range list {
		if list[i].code != attrIndirectTargets {
			continue
		}
		if err := code.noteTargets(list[i].pcs()); err != nil {
			return fmt.Errorf("section %s: %w", name, err)
		}
	}
	return nil
}

// noteTargets keeps the records of one EIATTR_INDIRECT_BRANCH_TARGETS: pc, 0, n and n targets each.
func (c *Code) noteTargets(words []uint64) error {
	for len(words) >= 3 {
		pc, n := words[0], words[2]
		if n > uint64(len(words)-3) {
			return fmt.Errorf("indirect branch at 0x%x: %w", pc, errShortAttribute)
		}
		targets := words[3 : 3+n]
		for _, at := range append([]uint64{pc}, targets...) {
			if _, ok := c.InstIndex(at); !ok {
				return fmt.Errorf("indirect branch at 0x%x: no instruction at 0x%x", pc, at)
			}
		}
		c.IndirectTargets[pc] = targets
		words = words[3+n:]
	}
	return nil
}

// Size returns the number of bytes of the section.
func (c *Code) Size() uint64 { return uint64(len(c.Insts)) * sass.InstSize }

// InstIndex returns the index of the instruction at pc; ok is false where none begins there.
func (c *Code) InstIndex(pc uint64) (index int, ok bool) {
	if pc%sass.InstSize != 0 || pc >= c.Size() {
		return 0, false
	}
	return int(pc / sass.InstSize), true
}

// FunctionAt returns the function that holds pc, nil where pc is beyond the section.
func (c *Code) FunctionAt(pc uint64) *Function {
	if pc >= c.Size() {
		return nil
	}
	i := sort.Search(len(c.Functions), func(i int) bool { return c.Functions[i].Offset > pc })
	if i == 0 {
		return nil
	}
	return &c.Functions[i-1]
}

// Calls returns the offsets of the instructions of the section that call one of its functions.
func (c *Code) Calls(f *Function) (pcs []uint64) {
	for i := range c.Insts {
		in := &c.Insts[i]
		if !in.Known() || in.Op.Properties().Flow != sass.FlowCall {
			continue
		}
		if to := in.Target(); to != nil && to.Imm == f.Offset {
			pcs = append(pcs, in.PC)
		}
	}
	return pcs
}
