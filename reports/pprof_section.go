package reports

import (
	"gpa/cubin"
	"gpa/cubin/sass"
)

// A pprofSection is what locations need to know of a code section.
type pprofSection struct {
	code     *cubin.Code
	base     uint64              // where the section lies in the mapping
	calls    map[uint64][]uint64 // entry of a function → pcs of the calls of it
	indirect bool                // a call through a register may reach any function
}

// section returns what is known of a code section, nil where there is none.
func (m *pprofModule) section(code int) *pprofSection {
	if code < 0 || code >= len(m.file.Codes) {
		return nil
	}
	if s, ok := m.sections[code]; ok {
		return s
	}
	s := &pprofSection{
		code: m.file.Codes[code], base: m.file.Sections[m.file.Codes[code].Section].Offset, calls: make(map[uint64][]uint64),
	}
	s.scan(m.firstLine)
	m.sections[code] = s
	return s
}

// scan notes the first line of every function and the calls.
func (s *pprofSection) scan(firstLine map[functionKey]int) {
	for i := range s.code.Insts {
		in := &s.code.Insts[i]
		for _, f := range s.frames(in.PC) {
			key := functionKey{f.Function, f.File}
			if first, ok := firstLine[key]; f.Line > 0 && (!ok || f.Line < first) {
				firstLine[key] = f.Line
			}
		}
		if in.Op != sass.CALL {
			continue
		}
		if target, ok := callTarget(in); ok {
			s.calls[target] = append(s.calls[target], in.PC)
		} else {
			s.indirect = true
		}
	}
}

// callTarget returns the address that a call goes to; false where a register says it.
func callTarget(in *sass.Inst) (uint64, bool) {
	var target uint64
	var found bool
	for i := range in.Operands {
		switch o := &in.Operands[i]; o.Kind {
		case sass.KindReg, sass.KindLabelReg:
			if o.Reg != sass.RZ {
				return 0, false
			}
		case sass.KindTarget:
			target, found = o.Imm, true
		}
	}
	return target, found
}

// callers returns the pcs of the calls that lead to an instruction, innermost first, up to the kernel or to a function
// that has not exactly one.
func (s *pprofSection) callers(pc uint64) []uint64 {
	var stack []uint64
	for len(stack) < len(s.code.Functions) {
		f := s.code.FunctionAt(pc)
		if f == nil || f.Kind == cubin.KernelFunction || s.indirect || len(s.calls[f.Offset]) != 1 {
			break
		}
		pc = s.calls[f.Offset][0]
		stack = append(stack, pc)
	}
	return stack
}

// frames returns the inline stack of an instruction, innermost first; its function alone where the line is unknown.
func (s *pprofSection) frames(pc uint64) []cubin.Frame {
	if frames := s.code.Frames(pc); len(frames) > 0 {
		return frames
	}
	if f := s.code.FunctionAt(pc); f != nil {
		return []cubin.Frame{{Function: f.Demangled, Symbol: f.Name}}
	}
	return []cubin.Frame{{Function: s.code.Name, Symbol: s.code.Name}}
}
