package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/cubin/compile"
	"gpa/cubin/sass"
	"gpa/emu/launch/skeleton"
	"gpa/reports/files"
)

// initFlags are the flags of gpa init.
type initFlags struct {
	target target
	prove  proveFlags
	out    string
}

func initCommand() command {
	return command{
		name: "init", args: "FILE", short: "write the launch file of a CUDA source or cubin",
		setup: func(flags *pflag.FlagSet) action {
			var f initFlags
			flags.StringVar(&f.target.GPU, "arch", "", "`GPU` to compile for (default: "+gpa.SourceGPU+")")
			flags.StringVar(&f.out, "out", "", "write to `FILE`, - for standard output (default: beside the source, with the end .yaml)")
			f.prove.registerCompiler(flags)
			return withArgument("the source or cubin", f.run)
		},
	}
}

func (f *initFlags) run(ctx context.Context, e *env, name string) error {
	text, err := f.text(ctx, name)
	if err != nil {
		return err
	}
	if f.out == "-" {
		_, err := e.stdout.Write(text)
		return err
	}
	out := cmp.Or(f.out, gpa.BesideSource(name))
	if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already; --out names another file", out)
	}
	if err := files.Save(out, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s: look at what it does not know, then gpa profile %s\n", out, out)
	return nil
}

// text is the launch file of a source, or of a cubin, whose sources nobody knows.
func (f *initFlags) text(ctx context.Context, name string) ([]byte, error) {
	if !compile.IsSource(name) {
		m, err := openModule(name)
		if err != nil {
			return nil, err
		}
		return skeleton.Launches(nil, filepath.Base(name), m)
	}
	model, err := f.target.model()
	if err != nil {
		return nil, err
	}
	source, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	b := compile.Builder{Find: f.prove.find}
	m, err := b.Cubin(ctx, name, sass.Arch(model.Arch))
	if err != nil {
		return nil, err
	}
	return skeleton.Launches(source, skeleton.Name(name, m), m)
}
