package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/emu/launch"
	"gpa/kernels"
)

// A target is what the KERNEL argument and the flags around it name.
type target struct {
	gpu         string
	kernel      string
	grid, block dims
	shared      int
	args        []string
}

func (t *target) register(flags *pflag.FlagSet) {
	flags.StringVar(&t.gpu, "arch", "", "`GPU` to run on: a model as in v100, or sm_NN for the default one (default: by the cubin)")
	flags.StringVar(&t.kernel, "kernel", "", "`NAME` of the kernel in a cubin, or how it begins (default: the only one)")
	flags.Var(&t.grid, "grid", "blocks of the grid, as in `X[,Y[,Z]]`, for a cubin")
	flags.Var(&t.block, "block", "threads of a block, as in `X[,Y[,Z]]`, for a cubin")
	flags.IntVar(&t.shared, "shared", 0, "dynamic shared memory of a block in `BYTES`, for a cubin")
	flags.StringArrayVar(&t.args, "arg", nil, "one kernel argument, for a cubin: `TYPE:VALUE` as in i32:5, or a buffer as in 'f32[1024]:uniform(0,1)' (zeros without a generator, none: what nobody has written)")
}

// resolve loads what KERNEL names.
func (t *target) resolve(name string) (*gpa.Target, error) {
	return gpa.Load(name, gpa.LoadOptions{GPU: t.gpu, Kernel: t.kernel, Grid: t.grid, Block: t.block, Shared: t.shared, Args: t.args})
}

const launchFileName = kernels.LaunchFile

// dims is a grid or block size as a flag value: 128, 16,16 or 16x16.
type dims [3]int

func (d *dims) set() bool { return d[0] != 0 }

// String is the size as the flag takes it.
func (d *dims) String() string {
	if !d.set() {
		return ""
	}
	return fmt.Sprintf("%d,%d,%d", d[0], d[1], d[2])
}

// Set parses one to three positive numbers.
func (d *dims) Set(text string) error {
	size, err := launch.ParseSize(text)
	if err == nil {
		*d = size
	}
	return err
}

// Type names the value in usage messages.
func (d *dims) Type() string { return "dims" }
