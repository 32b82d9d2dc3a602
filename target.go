package gpa

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gpa/cubin"
	"gpa/cubin/compile"
	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/launch"
	"gpa/kernels"
	"gpa/reports"
)

// LoadOptions say what of a launch the file does not. The zero value is right for launch files and built-in kernels.
type LoadOptions struct {
	GPU string // model as in v100, or sm_NN for the default one of an architecture; "" for that of the cubin, of a source [SourceGPU]

	// Compile makes a cubin of a CUDA source, a file whose name ends in .cu; nil for no sources.
	Compile func(source string, arch sass.Arch) (*cubin.File, error)

	// What follows describes the launch of a cubin or source.

	Kernel      string // its name or how that begins; "" for the only one of the cubin
	Grid, Block [3]int
	Shared      int      // dynamic shared memory of a block, bytes
	Args        []string // one for each parameter, as [launch.ParseArg] reads them
}

// SourceGPU is the model that a source is compiled for where none is named.
const SourceGPU = "a100"

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

// Near is the end of a message that says which folders in it have one.
func (e *NoLaunchFileError) Near() string {
	names, _ := filepath.Glob(filepath.Join(e.Folder, "*", kernels.LaunchFile)) // a name that is no pattern has none
	if len(names) == 0 {
		return "the README shows what one holds"
	}
	const most = 8
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	for i, name := range names {
		names[i] = filepath.Dir(name)
	}
	return "there are kernels in " + strings.Join(names, ", ") + more
}

// An UndescribedError is of a cubin whose launch the options do not describe, or of a source that has no launch file beside it either.
type UndescribedError struct {
	Module *cubin.File
	Source string // the name of the source, "" for a cubin
}

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
// options describe. A built-in name wins over a file of the same name, which ./name reaches. Load reads the module and chooses the GPU. A CUDA
// source is compiled; its launch is described as a cubin's, or by the launch file beside it ([BesideSource]). So is the source of a launch file whose
// module is not there: NAME.cu beside it for NAME.cubin and NAME.sm_80.cubin.
func Load(name string, o LoadOptions) (*Target, error) {
	if o.Compile != nil && compile.IsSource(name) && isRegular(name) {
		return o.loadSource(name)
	}
	file, err := LoadFile(name, o)
	if err != nil {
		return nil, err
	}
	if source := sourceOf(file); o.Compile != nil && source != "" {
		return o.compiled(source, file)
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

// BesideSource is the name of the launch file of a source: that of the source, with another end.
func BesideSource(source string) string {
	return strings.TrimSuffix(source, filepath.Ext(source)) + ".yaml"
}

// loadSource finds what launches the kernels of a source, and compiles it.
func (o *LoadOptions) loadSource(name string) (*Target, error) {
	dir, beside := launch.OSDir(filepath.Dir(name)), BesideSource(name)
	switch {
	case o.Grid[0] != 0 && o.Block[0] != 0:
		file, err := o.command(filepath.Base(name), dir)
		if err != nil {
			return nil, err
		}
		return o.compiled(name, file)
	case !isRegular(beside):
		t, err := o.compiled(name, nil)
		if err != nil {
			return nil, err
		}
		return nil, &UndescribedError{t.Module, name}
	}
	file, err := o.parse(beside, filepath.Base(beside), dir)
	if err != nil {
		return nil, err
	}
	return o.compiled(name, file)
}

// compiled is the target of a launch file whose module a source makes.
func (o *LoadOptions) compiled(source string, file *launch.File) (t *Target, err error) {
	t = &Target{File: file, Sources: NewSources(filepath.Dir(source))}
	if t.GPU, err = arch.ByName(cmp.Or(o.GPU, SourceGPU)); err != nil {
		return nil, err
	}
	t.Module, err = o.Compile(source, sass.Arch(t.GPU.Arch))
	return t, err
}

// sourceOf is the source beside a launch file whose module is not there, "" where it is or there is none.
func sourceOf(file *launch.File) string {
	dir, ok := file.Dir().(launch.OSDir)
	if !ok {
		return ""
	}
	module := filepath.Join(string(dir), file.Module)
	if isRegular(module) || isRegular(module+cubin.Compressed) {
		return ""
	}
	stem, _, _ := strings.Cut(strings.TrimSuffix(module, filepath.Ext(module)), ".sm_")
	if source := stem + ".cu"; isRegular(source) {
		return source
	}
	return ""
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
	file, err := o.command(module, dir)
	if err != nil || o.Grid[0] != 0 && o.Block[0] != 0 {
		return file, err
	}
	code, err := file.LoadModule(0)
	if err != nil {
		return nil, err
	}
	return nil, &UndescribedError{Module: code}
}

// command is the launch file that the options describe.
func (o *LoadOptions) command(module string, dir launch.Dir) (*launch.File, error) {
	c := launch.Command{Module: module, Kernel: o.Kernel, Grid: o.Grid, Block: o.Block, Shared: o.Shared, Args: o.Args}
	return c.File(dir)
}

// notCompiled is the error of a source file in place of a cubin; nil for other files.
func notCompiled(name string) error {
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	switch filepath.Ext(name) {
	case ".cu", ".cuh":
		return fmt.Errorf("%s is source: this takes what nvcc -cubin -arch=sm_80 -lineinfo -o %s.cubin %s makes of it", name, base, name)
	case ".ptx":
		return fmt.Errorf("%s is PTX: gpa takes what ptxas -arch=sm_80 -lineinfo -o %s.cubin %s makes of it", name, base, name)
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
