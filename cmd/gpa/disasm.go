package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"gpa/cubin"
	"gpa/cubin/asm"
	"gpa/reports"
	"gpa/reports/listing"
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
}

func disasmCommand() command {
	return command{
		name: "disasm", args: "CUBIN|KERNEL", short: "print the machine code of a cubin, as nvdisasm does",
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
			return withArgument("the cubin", f.run)
		},
	}
}

func (f *disasmFlags) run(_ context.Context, e *env, name string) error {
	if f.list {
		err := listing.Entries(e.stdout, name)
		var cut *listing.CutOffError
		if errors.As(err, &cut) {
			return failure{err}
		}
		return err
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
	choice, err := listing.Choose(module, f.functions)
	if err != nil {
		return err
	}
	codes := slices.DeleteFunc(slices.Clone(module.Codes), func(c *cubin.Code) bool { return !choice.AnyIn(c) })
	if f.kernel != "" {
		k, err := module.FindKernel(f.kernel)
		if err != nil {
			return err
		}
		codes = []*cubin.Code{k.Code}
	}
	if f.json {
		return reports.WriteJSON(e.stdout, listing.NewDisasmReport(module, codes, choice))
	}
	return listing.Disasm(e.stdout, module, codes, listing.DisasmOptions{Choice: choice, Hex: f.hex, Control: f.control, Lines: f.lines})
}
