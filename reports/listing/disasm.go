package listing

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"gpa/cubin"
	"gpa/cubin/asm"
	"gpa/cubin/sass"
)

// DisasmOptions say what a listing shows.
type DisasmOptions struct {
	Choice  Choice // of functions
	Hex     bool   // instruction words
	Control bool   // control codes
	Lines   bool   // source lines with their inline stacks
}

// A listing is one that is being printed.
type listing struct {
	DisasmOptions
	calls map[codePlace]string // symbols that relocations name
}

// Disasm prints sections of a module as nvdisasm does.
func Disasm(w io.Writer, module *cubin.File, codes []*cubin.Code, o DisasmOptions) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "// %s: sm_%d\n", module.Name, module.Arch)
	if module.Relocatable {
		fmt.Fprintln(out, "// relocatable device code: addresses of symbols are 0 until it is linked")
	}
	f := listing{o, calledSymbols(module)}
	for _, code := range codes {
		f.section(out, code)
	}
	return out.Flush()
}

// section prints one .text section.
func (f *listing) section(w io.Writer, code *cubin.Code) {
	labels := asm.Labels(code)
	last := ""
	for i := range code.Insts {
		in := &code.Insts[i]
		if !f.Choice[code.FunctionAt(in.PC)] {
			continue
		}
		for _, fn := range code.Functions {
			if fn.Offset == in.PC {
				fmt.Fprintf(w, "\n%s:  // %s, %d instructions\n", fn.Name, fn.Kind, fn.Size/sass.InstSize)
			}
		}
		if label, ok := labels[in.PC]; ok && strings.HasPrefix(label, localLabel) {
			fmt.Fprintf(w, "%s:\n", label)
		}
		if f.Lines {
			if where := framesText(code.Frames(in.PC)); where != last && where != "" {
				fmt.Fprintf(w, "        //## %s\n", where)
				last = where
			}
		}
		f.instruction(w, code, in, labels)
	}
}

// A codePlace is an instruction of a section.
type codePlace struct {
	code *cubin.Code
	pc   uint64
}

// calledSymbols names the functions whose addresses relocations put into calls.
func calledSymbols(module *cubin.File) map[codePlace]string {
	calls := make(map[codePlace]string)
	for i := range module.Relocs {
		if r := &module.Relocs[i]; r.Kind == cubin.AbsCall {
			calls[codePlace{r.Code, r.Offset}] = r.Symbol
		}
	}
	return calls
}

func (f *listing) instruction(w io.Writer, code *cubin.Code, in *sass.Inst, labels map[uint64]string) {
	fmt.Fprintf(w, "        /*%04x*/ ", in.PC)
	if f.Control {
		fmt.Fprintf(w, "%s ", in.Control)
	}
	if !in.Known() {
		fmt.Fprintf(w, ".inst 0x%016x, 0x%016x  // not known\n", in.Word.Hi, in.Word.Lo)
		return
	}
	text := in.TextWith(func(pc uint64) string {
		if symbol, ok := f.calls[codePlace{code, in.PC}]; ok {
			return "`(" + symbol + ")"
		}
		if label, ok := labels[pc]; ok {
			return "`(" + label + ")"
		}
		return ""
	})
	if f.Hex {
		fmt.Fprintf(w, "%-60s /* 0x%016x 0x%016x */\n", text+" ;", in.Word.Hi, in.Word.Lo)
		return
	}
	fmt.Fprintln(w, text+" ;")
}

// localLabel begins the names of branch targets inside functions.
const localLabel = ".L_"

// framesText is an inline stack in one line, innermost first.
func framesText(frames []cubin.Frame) string {
	parts := make([]string, len(frames))
	for i, f := range frames {
		parts[i] = fmt.Sprintf("%s:%d", f.File, f.Line)
		if i < len(frames)-1 {
			parts[i] += " (" + f.Function + ")"
		}
	}
	return strings.Join(parts, " inlined at ")
}

// What gpa disasm --json prints.
type (
	DisasmReport struct {
		File     string          `json:"file"`
		Arch     string          `json:"arch"`
		Sections []SectionReport `json:"sections"`
	}
	SectionReport struct {
		Name         string         `json:"name"`
		Functions    []SymbolReport `json:"functions"`
		Instructions []InstReport   `json:"instructions"`
	}
	SymbolReport struct {
		Name   string `json:"name"`
		Kind   string `json:"kind"`
		Offset uint64 `json:"offset"`
		Size   uint64 `json:"size"`
	}
	InstReport struct {
		PC      uint64        `json:"pc"`
		Word    string        `json:"word"`
		Control string        `json:"control"`
		SASS    string        `json:"sass"`
		Purpose string        `json:"not_executed,omitempty"`
		Frames  []FrameReport `json:"frames,omitempty"`
	}
	FrameReport struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Line     int    `json:"line"`
	}
)

// NewDisasmReport makes the report of sections of a module.
func NewDisasmReport(module *cubin.File, codes []*cubin.Code, choice Choice) DisasmReport {
	object := DisasmReport{File: module.Name, Arch: fmt.Sprintf("sm_%d", module.Arch)}
	for _, code := range codes {
		s := SectionReport{Name: code.Name}
		for k := range code.Functions {
			if fn := &code.Functions[k]; choice[fn] {
				s.Functions = append(s.Functions, SymbolReport{fn.Demangled, fn.Kind.String(), fn.Offset, fn.Size})
			}
		}
		for i := range code.Insts {
			in := &code.Insts[i]
			if !choice[code.FunctionAt(in.PC)] {
				continue
			}
			d := InstReport{PC: in.PC, Word: fmt.Sprintf("%016x%016x", in.Word.Hi, in.Word.Lo), Control: in.Control.String(), SASS: in.Text(),
				Purpose: in.Purpose()}
			for _, frame := range code.Frames(in.PC) {
				d.Frames = append(d.Frames, FrameReport{frame.Function, frame.File, frame.Line})
			}
			s.Instructions = append(s.Instructions, d)
		}
		object.Sections = append(object.Sections, s)
	}
	return object
}
