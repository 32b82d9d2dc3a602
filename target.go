package gpa

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/launch"
	"gpa/kernels"
	"gpa/reports"
)

// LoadOptions say what of a launch the file does not. The zero value is right for launch files and built-in kernels.
type LoadOptions struct {
	GPU string // model as in v100, or sm_NN for the default one of an architecture; "" for that of the cubin

	// What follows describes the launch of a cubin.

	Kernel      string // its name or how that begins; "" for the only one of the cubin
	Grid, Block [3]int
	Shared      int      // dynamic shared memory of a block, bytes
	Args        []string // one for each parameter, as [launch.ParseArg] reads them
}

// described reports whether the options describe a launch.
func (o *LoadOptions) described() bool {
	return o.Kernel != "" || o.Grid[0] != 0 || o.Block[0] != 0 || o.Shared != 0 || len(o.Args) > 0
}

// A Target is what can be run: launches, the module with their kernels, and a GPU. A change of File.Launches or of GPU's figures before a run
// is a change of what runs.
type Target struct {
	File    *launch.File
	Module  *cubin.File
	GPU     *arch.Model
	Sources Sources // the folder of the launch file
}

// ErrDescribed is the error of a launch file or built-in kernel whose launch the options describe too.
var ErrDescribed = errors.New("a launch file says by itself what kernel runs, in what grid and blocks and with what arguments")

// A NotFoundError is of a name that stands neither for a built-in kernel nor for a file.
type NotFoundError struct{ Name string }

// Error is one line.
func (e *NotFoundError) Error() string { return e.Name + " is neither a built-in kernel nor a file" }

// Near is the end of a message that says what was probably meant; "" for nothing.
func (e *NotFoundError) Near() string {
	if near := reports.Suggestion(e.Name, kernels.Names()); near != "" {
		return near
	}
	folder := filepath.Dir(e.Name)
	var names []string
	entries, _ := os.ReadDir(folder) // what cannot be read has no names
	for _, x := range entries {
		names = append(names, x.Name())
	}
	near := reports.Suggestion(filepath.Base(e.Name), names)
	if folder != "." {
		near = strings.Replace(near, "mean ", "mean "+folder+string(filepath.Separator), 1)
	}
	return near
}

// A NoLaunchFileError is of a folder without a launch file.
type NoLaunchFileError struct{ Folder string }

// Error is one line.
func (e *NoLaunchFileError) Error() string {
	return fmt.Sprintf("there is no %s in %s", kernels.LaunchFile, e.Folder)
}

// Below lists the folders in it that have one.
func (e *NoLaunchFileError) Below() []string {
	names, _ := filepath.Glob(filepath.Join(e.Folder, "*", kernels.LaunchFile)) // a name that is no pattern has none
	for i, name := range names {
		names[i] = filepath.Dir(name)
	}
	return names
}

// An UndescribedError is of a cubin whose launch the options do not describe.
type UndescribedError struct{ Module *cubin.File }

// Error is one line and names the kernels.
func (e *UndescribedError) Error() string {
	return "a cubin needs a grid, a block and an argument for each parameter; this has, with parameters of so many bytes: " + e.Kernels()
}

// Kernels lists the kernels with the sizes of their parameters in bytes.
func (e *UndescribedError) Kernels() string {
	var list []string
	for _, k := range e.Module.Kernels {
		sizes := make([]string, len(k.Params))
		for i, p := range k.Params {
			sizes[i] = fmt.Sprint(p.Size)
		}
		list = append(list, fmt.Sprintf("%s(%s)", k.Demangled, strings.Join(sizes, ", ")))
	}
	const most = 4
	if len(list) > most {
		list = append(list[:most], fmt.Sprintf("%d more", len(list)-most))
	}
	return strings.Join(list, ", ")
}

// Load finds what a name stands for: the file of a launch (YAML), a folder with a launch.yaml, a built-in kernel, or a cubin whose launch the
// options describe. A built-in name wins over a file of the same name, which ./name reaches. Load reads the module and chooses the GPU.
func Load(name string, o LoadOptions) (*Target, error) {
	file, err := LoadFile(name, o)
	if err != nil {
		return nil, err
	}
	t := &Target{File: file, Sources: sourcesOf(file)}
	if o.GPU == "" {
		t.Module, err = file.LoadModule(0)
		if err == nil {
			t.GPU, err = arch.ByName("sm_" + strconv.Itoa(int(t.Module.Arch)))
		}
		return t, err
	}
	if t.GPU, err = arch.ByName(o.GPU); err != nil {
		return nil, err
	}
	t.Module, err = file.LoadModule(sass.Arch(t.GPU.Arch))
	return t, err
}

// LoadFile finds what a name stands for as [Load] does, without the module. Of a cubin it is the launch file that the options amount to.
func LoadFile(name string, o LoadOptions) (*launch.File, error) {
	if kernels.Has(name) {
		folder, err := kernels.Open(name)
		if err != nil {
			return nil, err
		}
		return o.parse(name+"/"+kernels.LaunchFile, kernels.LaunchFile, launch.FSDir{FS: folder})
	}
	info, err := os.Stat(name)
	if err != nil {
		info, err = os.Stat(name + cubin.Compressed)
	}
	switch {
	case err != nil:
		return nil, &NotFoundError{name}
	case info.IsDir():
		if !isRegular(filepath.Join(name, kernels.LaunchFile)) {
			return nil, &NoLaunchFileError{name}
		}
		return o.parse(filepath.Join(name, kernels.LaunchFile), kernels.LaunchFile, launch.OSDir(name))
	}
	dir, base := launch.OSDir(filepath.Dir(name)), filepath.Base(name)
	switch filepath.Ext(base) {
	case ".yaml", ".yml":
		return o.parse(name, base, dir)
	}
	if err := notCompiled(name); err != nil {
		return nil, err
	}
	return o.describe(base, dir)
}

// parse reads a launch file.
func (o *LoadOptions) parse(shown, name string, dir launch.Dir) (*launch.File, error) {
	if o.described() {
		return nil, ErrDescribed
	}
	data, err := dir.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return launch.Parse(shown, data, dir)
}

// describe is the launch file of a cubin.
func (o *LoadOptions) describe(module string, dir launch.Dir) (*launch.File, error) {
	c := launch.Command{Module: module, Kernel: o.Kernel, Grid: o.Grid, Block: o.Block, Shared: o.Shared, Args: o.Args}
	file, err := c.File(dir)
	if err != nil || o.Grid[0] != 0 && o.Block[0] != 0 {
		return file, err
	}
	code, err := file.LoadModule(0)
	if err != nil {
		return nil, err
	}
	return nil, &UndescribedError{code}
}

// notCompiled is the error of a source file in place of a cubin; nil for other files.
func notCompiled(name string) error {
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	switch filepath.Ext(name) {
	case ".cu", ".cuh":
		return fmt.Errorf("%s is source: gpa takes what nvcc -cubin -arch=sm_70 -lineinfo -o %s.cubin %s makes of it", name, base, name)
	case ".ptx":
		return fmt.Errorf("%s is PTX: gpa takes what ptxas -arch=sm_70 -lineinfo -o %s.cubin %s makes of it", name, base, name)
	}
	return nil
}

// Launches is the number of launches, repeated ones included.
func (t *Target) Launches() int {
	n := 0
	for i := range t.File.Launches {
		n += t.File.Launches[i].Repeat
	}
	return n
}

// Blocks is the number of thread blocks of all launches.
func (t *Target) Blocks() int64 {
	n := int64(0)
	for i := range t.File.Launches {
		l := &t.File.Launches[i]
		n += int64(l.Repeat) * int64(l.Grid[0]) * int64(l.Grid[1]) * int64(l.Grid[2])
	}
	return n
}

// Session prepares the emulated GPU with the buffers of the target, for programs that run the launches themselves.
func (t *Target) Session(ctx context.Context, level emu.TimingLevel, o Options) (*launch.Session, error) {
	machine, err := t.machine(level, o)
	if err != nil {
		return nil, err
	}
	return launch.NewSession(ctx, t.File, machine)
}

// machine makes an emulated GPU with the module of the target, without buffers.
func (t *Target) machine(level emu.TimingLevel, o Options) (*emu.Machine, error) {
	how, err := o.Emulator(level, t.File.Heap)
	if err != nil {
		return nil, err
	}
	machine, err := emu.New(t.GPU, t.Module, how)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Module.Name, err)
	}
	return machine, nil
}

func isRegular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
