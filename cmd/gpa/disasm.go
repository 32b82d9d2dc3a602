package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"gpa/cubin"
	"gpa/cubin/asm"
	"gpa/cubin/sass"
	"gpa/reports"
)

// disasmFlags are the choices of gpa disasm.
type disasmFlags struct {
	moduleFlags
	list    bool
	json    bool
	hex     bool
	control bool
	lines   bool
	asm     bool
	kernel  string

	functions []string
	choose    chooser
	calls     map[codePlace]string // symbols that relocations name
}

func disasmCommand() command {
	return command{
		name: "disasm", args: "CUBIN|KERNEL", short: "print the machine code of a cubin, as nvdisasm does",
		long: `The argument is a cubin, a built-in kernel, or a fatbin, executable, object, library or archive that holds cubins, of which
--arch or --entry choose one (compressed ones too). Control codes are printed as [B012345:Rr:Ww:Y:Sss]: the dependence
counters that the instruction waits for, its read and write barriers, yield, and the stall count. Relocatable device code
(nvcc -rdc=true) is printed as it is, with addresses that the linker is to fill in as 0.

--json prints {"file", "arch", "sections": [{"name", "functions": [{"name", "kind", "offset", "size"}],
"instructions": [{"pc", "word", "control", "sass", "not_executed", "frames": [{"function", "file", "line"}, …]}]}]},
frames innermost first. "not_executed" says of an instruction that no other command executes what it is for: "textures and
surfaces", "shaders", or "traps, drivers and debuggers".`,
		setup: func(flags *pflag.FlagSet) action {
			var f disasmFlags
			flags.BoolVar(&f.json, "json", false, "print JSON")
			flags.BoolVar(&f.hex, "hex", false, "print the instruction words")
			flags.BoolVar(&f.control, "control", false, "print the control codes")
			flags.BoolVar(&f.lines, "lines", false, "print source lines with their inline stacks")
			flags.BoolVar(&f.asm, "asm", false, "print the whole file as text that gpa asm makes the same file of")
			flags.BoolVar(&f.list, "list", false, "list the cubins and PTX in a fatbin, executable, library or archive")
			f.register(flags)
			flags.StringArrayVar(&f.functions, "function", nil, "only this function, `NAME`, by symbol or demangled; may be repeated")
			flags.StringVar(&f.kernel, "kernel", "", "only the section of this kernel, `NAME` or how it begins")
			return func(_ context.Context, e *env, args []string) error {
				name, err := oneArgument(args, "the cubin")
				if err != nil {
					return err
				}
				return f.run(e, name)
			}
		},
	}
}

func (f *disasmFlags) run(e *env, name string) error {
	if f.list {
		return listEntries(e.stdout, name)
	}
	module, err := f.open(name)
	if err != nil {
		return err
	}
	if f.asm {
		if f.json || f.kernel != "" || len(f.functions) > 0 {
			return usagef("--asm prints the whole file, without --json, --kernel and --function")
		}
		return asm.Print(e.stdout, module)
	}
	if f.choose, err = newChooser(module, f.functions); err != nil {
		return err
	}
	codes := slices.DeleteFunc(slices.Clone(module.Codes), func(c *cubin.Code) bool { return !f.choose.anyIn(c) })
	if f.kernel != "" {
		k, err := module.FindKernel(f.kernel)
		if err != nil {
			return err
		}
		codes = []*cubin.Code{k.Code}
	}
	if f.json {
		return reports.WriteJSON(e.stdout, f.object(module, codes))
	}
	w := bufio.NewWriter(e.stdout)
	fmt.Fprintf(w, "// %s: sm_%d\n", module.Name, module.Arch)
	if module.Relocatable {
		fmt.Fprintln(w, "// relocatable device code: addresses of symbols are 0 until it is linked")
	}
	f.calls = calledSymbols(module)
	for _, code := range codes {
		f.section(w, code)
	}
	return w.Flush()
}

// section prints one .text section.
func (f *disasmFlags) section(w io.Writer, code *cubin.Code) {
	labels := asm.Labels(code)
	last := ""
	for i := range code.Insts {
		in := &code.Insts[i]
		if !f.choose.has(code.FunctionAt(in.PC)) {
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
		if f.lines {
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

func (f *disasmFlags) instruction(w io.Writer, code *cubin.Code, in *sass.Inst, labels map[uint64]string) {
	fmt.Fprintf(w, "        /*%04x*/ ", in.PC)
	if f.control {
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
	if f.hex {
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

// The JSON of gpa disasm.
type (
	disasmObject struct {
		File     string          `json:"file"`
		Arch     string          `json:"arch"`
		Sections []disasmSection `json:"sections"`
	}
	disasmSection struct {
		Name         string           `json:"name"`
		Functions    []disasmFunction `json:"functions"`
		Instructions []disasmInst     `json:"instructions"`
	}
	disasmFunction struct {
		Name   string `json:"name"`
		Kind   string `json:"kind"`
		Offset uint64 `json:"offset"`
		Size   uint64 `json:"size"`
	}
	disasmInst struct {
		PC      uint64        `json:"pc"`
		Word    string        `json:"word"`
		Control string        `json:"control"`
		SASS    string        `json:"sass"`
		Purpose string        `json:"not_executed,omitempty"`
		Frames  []disasmFrame `json:"frames,omitempty"`
	}
	disasmFrame struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Line     int    `json:"line"`
	}
)

func (f *disasmFlags) object(module *cubin.File, codes []*cubin.Code) disasmObject {
	object := disasmObject{File: module.Name, Arch: fmt.Sprintf("sm_%d", module.Arch)}
	for _, code := range codes {
		s := disasmSection{Name: code.Name}
		for k := range code.Functions {
			if fn := &code.Functions[k]; f.choose.has(fn) {
				s.Functions = append(s.Functions, disasmFunction{fn.Demangled, fn.Kind.String(), fn.Offset, fn.Size})
			}
		}
		for i := range code.Insts {
			in := &code.Insts[i]
			if !f.choose.has(code.FunctionAt(in.PC)) {
				continue
			}
			d := disasmInst{PC: in.PC, Word: fmt.Sprintf("%016x%016x", in.Word.Hi, in.Word.Lo), Control: in.Control.String(), SASS: in.Text(),
				Purpose: in.Purpose()}
			for _, frame := range code.Frames(in.PC) {
				d.Frames = append(d.Frames, disasmFrame{frame.Function, frame.File, frame.Line})
			}
			s.Instructions = append(s.Instructions, d)
		}
		object.Sections = append(object.Sections, s)
	}
	return object
}
