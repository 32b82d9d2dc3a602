package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/advisor/tune"
	"gpa/cubin/compile"
	"gpa/emu/launch"
)

// proveFlags are the flags of the commands that compile and run patches.
type proveFlags struct {
	compiler, extra string // command line and further flags
	patches         int
	rtol, atol      float64

	tolerance *launch.Tolerance // of all outputs, nil for the launch file's
}

func (f *proveFlags) register(flags *pflag.FlagSet) {
	f.registerCompiler(flags)
	flags.IntVar(&f.patches, "patches", 16, "compile and run at most `N` patches, those of the best advice")
	flags.Float64Var(&f.rtol, "rtol", 0, "relative tolerance `R` of a patched kernel's outputs (default: the launch file's; of floats that it expects nothing of, 1e-4 for patches that change rounding, otherwise none)")
	flags.Float64Var(&f.atol, "atol", 0, "absolute tolerance `A` of a patched kernel's outputs")
}

// registerCompiler declares the flags that say how sources are compiled.
func (f *proveFlags) registerCompiler(flags *pflag.FlagSet) {
	flags.StringVar(&f.compiler, "compiler", "", "compile with `CMD`, run without a shell in the folder of the source or its copy, where {in}, {out} and {arch} (as sm_80) stand for what they say and {flags} for the flags of a patch (otherwise at the end; default: nvcc -cubin -arch={arch} -lineinfo -o {out} {in}, or NVRTC of a Python package where there is no nvcc)")
	flags.StringVar(&f.extra, "compiler-flags", "", "further `FLAGS` for the compiler, separated by spaces (folders of -I are relative to where gpa runs; that of the source is searched anyway)")
}

// check refuses flags that make no sense, and notes which were given.
func (f *proveFlags) check(flags *pflag.FlagSet) error {
	if f.patches < 1 {
		return usagef("--patches: %d is not positive", f.patches)
	}
	if !(f.rtol >= 0) || !(f.atol >= 0) {
		return usagef("--rtol, --atol: a tolerance is not negative")
	}
	if flags.Changed("rtol") || flags.Changed("atol") {
		f.tolerance = &launch.Tolerance{Rtol: f.rtol, Atol: f.atol}
	}
	return nil
}

// options is how patches are made and judged.
func (f *proveFlags) options(c *compile.Compiler, source string, o gpa.Options) tune.Options {
	return tune.Options{Compiler: c, Source: source, Patches: f.patches, Tolerance: f.tolerance, Run: o}
}

// find returns the compiler that the flags name, else one that is at hand.
func (f *proveFlags) find() (*compile.Compiler, error) {
	c, err := compile.Named(f.compiler, f.extra, os.Getenv)
	switch {
	case errors.Is(err, compile.ErrNoCompiler):
		return nil, fmt.Errorf("%w, or name another by --compiler 'CMD … {in} {out} {arch}'", err)
	case err != nil:
		return nil, usagef("--compiler, --compiler-flags: %w", err)
	}
	return c, nil
}
