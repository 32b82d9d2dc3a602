package cubin

import (
	"debug/elf"
	"fmt"
	"strconv"
	"strings"
)

// Bounds that no device exceeds; beyond them a size is an error of the file.
const (
	maxConstantBank = 1 << 16 // bytes (CUDA programming guide, "Features and technical specifications")
	maxGlobal       = 1 << 40
	maxShared       = 1 << 20
)

// Where the linker puts variables.
const (
	sectionGlobal     = ".nv.global"
	sectionGlobalInit = ".nv.global.init"
	sectionConstant3  = ".nv.constant3"
	prefixShared      = ".nv.shared."
	prefixText        = ".text."
	prefixInfo        = ".nv.info."
)

// readBanks reads the constant banks with contents. Bank 0 is not among them: a launch fills it.
func (r *reader) readBanks() error {
	for i := range r.file.Sections {
		s := &r.file.Sections[i]
		number, kernel, ok := bankOf(s.Name)
		if !ok {
			continue
		}
		if s.Size > maxConstantBank {
			return fmt.Errorf("section %s: %d bytes, a constant bank has at most %d", s.Name, s.Size, maxConstantBank)
		}
		if number != 0 {
			r.file.Banks = append(r.file.Banks, Bank{Number: number, Kernel: kernel, Data: r.file.SectionData(i)})
		}
	}
	return nil
}

// bankOf splits the name of a constant bank's section: .nv.constant3, .nv.constant2.kernel.
func bankOf(section string) (number int, kernel string, ok bool) {
	rest, ok := strings.CutPrefix(section, ".nv.constant")
	if !ok {
		return 0, "", false
	}
	digits, kernel, _ := strings.Cut(rest, ".")
	number, err := strconv.Atoi(digits)
	return number, kernel, err == nil
}

// readGlobal lays out global memory: the initialized variables, then the others.
func (r *reader) readGlobal() error {
	g := &r.file.Global
	r.globals = make(map[int]uint64)
	g.Align = 1
	for _, name := range []string{sectionGlobalInit, sectionGlobal} {
		index, ok := r.byName[name]
		if !ok {
			continue
		}
		s := &r.file.Sections[index]
		align := max(s.Addralign, 1)
		if align&(align-1) != 0 || align > maxGlobal || s.Size > maxGlobal {
			return fmt.Errorf("section %s: %d bytes aligned to %d", name, s.Size, align)
		}
		g.Align = max(g.Align, align)
		g.Size = (g.Size + align - 1) &^ (align - 1)
		r.globals[index] = g.Size
		g.Size += s.Size
	}
	g.Init = r.section(sectionGlobalInit)
	return nil
}

// readVariables lists the data symbols and the undefined functions.
func (r *reader) readVariables() error {
	for i := range r.symbols {
		s := &r.symbols[i]
		switch {
		case s.kind == elf.STT_FUNC && s.section == 0:
			r.file.Externs = append(r.file.Externs, s.name)
		case s.kind == elf.STT_OBJECT && s.section != 0:
			v := r.variable(s)
			if v == nil {
				continue
			}
			if in := &r.file.Sections[s.section]; s.value > in.Size || s.size > in.Size-s.value {
				return fmt.Errorf("variable %s: beyond the end of section %s", s.name, in.Name)
			}
			r.file.Variables = append(r.file.Variables, v)
		}
	}
	return nil
}

// variable makes a variable of a data symbol, nil where it lies in none of the spaces.
func (r *reader) variable(s *symbol) *Variable {
	v := &Variable{Name: s.name, Offset: s.value, Size: s.size}
	name := r.file.Sections[s.section].Name
	if base, ok := r.globals[s.section]; ok {
		v.Offset += base
		return v
	}
	if name == sectionConstant3 {
		v.Space = ConstantSpace
		return v
	}
	if kernel, ok := strings.CutPrefix(name, prefixShared); ok {
		v.Space, v.Kernel = SharedSpace, kernel
		return v
	}
	return nil
}
