package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/launch"
	"gpa/kernels"
)

// kernelHelp explains the KERNEL argument in the help of the commands that take one.
const kernelHelp = `KERNEL is a launch file (YAML), a folder with a launch.yaml, the name of a built-in kernel, or a cubin
together with --grid, --block and one --arg for each parameter, in order. With --arch, NAME.sm_NN.cubin stands for the cubin of
that name for the GPU's architecture. A cubin may be compressed: FILE.gz is read where FILE is not there.`

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

// resolved is a target that was found: the launch file, its module and the GPU to run it on.
type resolved struct {
	file   *launch.File
	module *cubin.File
	model  *arch.Model
	source sourceFinder
}

// launches is the number of launches, repeated ones included.
func (r *resolved) launches() int {
	n := 0
	for i := range r.file.Launches {
		n += r.file.Launches[i].Repeat
	}
	return n
}

// resolve finds the launch file, reads its module and chooses the GPU.
func (t *target) resolve(name string) (*resolved, error) {
	file, err := t.launchFile(name)
	if err != nil {
		return nil, err
	}
	r := &resolved{file: file, source: sourceOf(file)}
	if t.gpu == "" {
		r.module, err = file.LoadModule(0)
		if err == nil {
			r.model, err = arch.ByName("sm_" + strconv.Itoa(int(r.module.Arch)))
		}
		return r, err
	}
	if r.model, err = arch.ByName(t.gpu); err != nil {
		return nil, err
	}
	r.module, err = file.LoadModule(sass.Arch(r.model.Arch))
	return r, err
}

// sourceOf returns where the sources of a launch file's kernels are: in its folder.
func sourceOf(file *launch.File) sourceFinder {
	switch dir := file.Dir().(type) {
	case launch.OSDir:
		return newSourceFinder(string(dir))
	case launch.FSDir:
		return newEmbeddedFinder(dir.FS)
	}
	return newSourceFinder()
}

// launchFile finds what KERNEL names. A built-in name wins over a file of the same name, which ./name reaches.
func (t *target) launchFile(name string) (*launch.File, error) {
	if kernels.Has(name) {
		folder, err := kernels.Open(name)
		if err != nil {
			return nil, err
		}
		return t.parse(name+"/"+launchFileName, launchFileName, launch.FSDir{FS: folder})
	}
	info, err := os.Stat(name)
	if err != nil {
		info, err = os.Stat(name + cubin.Compressed)
	}
	switch {
	case err != nil:
		return nil, noKernel(name)
	case info.IsDir():
		if !isRegular(filepath.Join(name, launchFileName)) {
			return nil, noLaunchFile(name)
		}
		return t.parse(filepath.Join(name, launchFileName), launchFileName, launch.OSDir(name))
	}
	dir, base := launch.OSDir(filepath.Dir(name)), filepath.Base(name)
	switch filepath.Ext(base) {
	case ".yaml", ".yml":
		return t.parse(name, base, dir)
	}
	if err := notCompiled(name); err != nil {
		return nil, err
	}
	return t.fromFlags(base, dir)
}

const launchFileName = kernels.LaunchFile

// parse reads a launch file; the flags that describe a launch have no place beside one.
func (t *target) parse(shown, name string, dir launch.Dir) (*launch.File, error) {
	if t.kernel != "" || t.grid.set() || t.block.set() || t.shared != 0 || len(t.args) > 0 {
		return nil, usagef("--kernel, --grid, --block, --shared and --arg go with a cubin, not with a launch file")
	}
	data, err := dir.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return launch.Parse(shown, data, dir)
}

func (t *target) fromFlags(module string, dir launch.Dir) (*launch.File, error) {
	c := launch.Command{Module: module, Kernel: t.kernel, Grid: t.grid, Block: t.block, Shared: t.shared, Args: t.args}
	file, err := c.File(dir)
	if err != nil || t.grid.set() && t.block.set() {
		return file, err
	}
	code, err := file.LoadModule(0)
	if err != nil {
		return nil, err
	}
	return nil, usagef("a cubin needs --grid, --block and an --arg for each parameter; this has, with parameters of so many bytes: %s", parametersOf(code))
}

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
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == 'x' })
	if len(parts) > 3 {
		return fmt.Errorf("%q has more than three dimensions", text)
	}
	size := dims{1, 1, 1}
	for i, part := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 1<<31-1 {
			return fmt.Errorf("%q is not a positive number", part)
		}
		size[i] = n
	}
	if len(parts) == 0 {
		return errors.New("there is no size")
	}
	*d = size
	return nil
}

// Type names the value in usage messages.
func (d *dims) Type() string { return "dims" }
