package reports

import (
	"strings"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// A Location is a place in a kernel's code. Function, File and Line are those of the innermost (inlined) function; what
// the cubin does not tell is left out.
type Location struct {
	PC        uint64  `json:"pc"` // offset in the function's section
	Function  string  `json:"function,omitempty"`
	File      string  `json:"file,omitempty"`
	Line      int     `json:"line,omitempty"` // 1-based
	SASS      string  `json:"sass,omitempty"`
	InlinedAt []Frame `json:"inlined_at,omitempty"` // the calls that were inlined, innermost first
}

// A Frame is a call that the compiler replaced by the called function's code.
type Frame struct {
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// Locate describes the instruction at an offset of a code section. Where no such section or instruction exists the
// location has the pc alone.
func Locate(module *cubin.File, code int, pc uint64) Location {
	at := Location{PC: pc}
	if code < 0 || code >= len(module.Codes) {
		return at
	}
	section := module.Codes[code]
	if f := section.FunctionAt(pc); f != nil {
		at.Function = f.Demangled
	}
	if in := instruction(module, code, pc); in != nil {
		at.SASS = statement(in)
	}
	frames := section.Frames(pc)
	if len(frames) == 0 {
		return at
	}
	if frames[0].Function != "" {
		at.Function = frames[0].Function
	}
	at.File, at.Line = frames[0].File, frames[0].Line
	for _, f := range frames[1:] {
		at.InlinedAt = append(at.InlinedAt, Frame{Function: f.Function, File: f.File, Line: f.Line})
	}
	return at
}

// own is a location without the inlined functions of the toolkit around it.
func own(at Location) Location {
	for i := 0; cubin.OfToolkit(at.File) && i < len(at.InlinedAt); i++ {
		if f := at.InlinedAt[i]; !cubin.OfToolkit(f.File) {
			at.Function, at.File, at.Line, at.InlinedAt = f.Function, f.File, f.Line, at.InlinedAt[i+1:]
		}
	}
	return at
}

// instruction returns the instruction at a place, nil where there is none that could be decoded.
func instruction(module *cubin.File, code int, pc uint64) *sass.Inst {
	if code < 0 || code >= len(module.Codes) {
		return nil
	}
	section := module.Codes[code]
	if i, ok := section.InstIndex(pc); ok && section.Insts[i].Known() {
		return &section.Insts[i]
	}
	return nil
}

// statement is the text of an instruction as nvdisasm ends it.
func statement(in *sass.Inst) string { return strings.TrimSuffix(in.Text(), " ;") + " ;" }
