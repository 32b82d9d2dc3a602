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
		setup: func(flags *pflag.FlagSet) action {
			out := flags.StringP("output", "o", "", "`FILE` to write (default: that of the text with the ending .cubin)")
			return withArgument("the text", func(_ context.Context, _ *env, name string) error { return assembleFile(name, *out) })
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
