package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"gpa/cubin/asm"
	"gpa/reports/files"
)

func asmCommand() command {
	return command{
		name: "asm", args: "FILE.sass", short: "assemble text SASS into a cubin",
		long: `A kernel in text looks like this; a control code may stand before an instruction, and instructions without one
wait for everything before them (docs/asm.md has the whole format):

    .arch sm_70
    .kernel scale
        .param data, 8              // a pointer; c[0x0][data] is its place
        .param factor, 4
        S2R R0, SR_TID.X
        MOV R2, 0x4
        IMAD.WIDE R2, R0, R2, c[0x0][data]
        [B------:R-:W0:-:S02] LDG.E.SYS R4, [R2]
        [B0-----:R-:W-:-:S05] FMUL R4, R4, c[0x0][factor]
        STG.E.SYS [R2], R4
        EXIT

gpa disasm --asm prints a cubin in a form that assembles back to the same bytes.`,
		setup: func(flags *pflag.FlagSet) action {
			out := flags.StringP("output", "o", "", "`FILE` to write (default: that of the text with the ending .cubin)")
			return func(_ context.Context, _ *env, args []string) error {
				name, err := oneArgument(args, "the text")
				if err != nil {
					return err
				}
				return assembleFile(name, *out)
			}
		},
	}
}

// assembleFile writes the cubin that a file of text describes.
func assembleFile(name, out string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	data, err := asm.Assemble(name, text)
	if err != nil {
		return err
	}
	if out == "" {
		out = strings.TrimSuffix(name, filepath.Ext(name)) + ".cubin"
	}
	return files.WriteOne(out, data)
}
