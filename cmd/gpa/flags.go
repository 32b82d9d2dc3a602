package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/cubin"
	"gpa/cubin/compile"
	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/launch"
	"gpa/emu/reconv"
	"gpa/profiler/store"
	"gpa/reports"
)

// A target is what the KERNEL argument and the flags around it name.
type target gpa.LoadOptions

func (t *target) register(flags *pflag.FlagSet) {
	flags.StringVar(&t.GPU, "arch", "", "`GPU` to run on: a model as in v100, sm_NN for the default one, or a board of your own as in rtx3090,sms=46,dram=448,bus=256,l2=4 (default: by the cubin)")
	flags.StringVar(&t.Kernel, "kernel", "", "`NAME` of the kernel in a cubin or source, or how it begins (default: the only one)")
	flags.Var((*dims)(&t.Grid), "grid", "blocks of the grid, as in `X[,Y[,Z]]`, for a cubin or source")
	flags.Var((*dims)(&t.Block), "block", "threads of a block, as in `X[,Y[,Z]]`, for a cubin or source")
	flags.IntVar(&t.Shared, "shared", 0, "dynamic shared memory of a block in `BYTES`, for a cubin or source")
	flags.StringArrayVar(&t.Args, "arg", nil, "one kernel argument, for a cubin or source: `TYPE:VALUE` as in i32:5, or a buffer as in 'f32[1024]:uniform(0,1)' (zeros without a generator, none: what nobody has written)")
}

// model is the GPU of a program or source.
func (t *target) model() (*arch.Model, error) { return arch.ByName(cmp.Or(t.GPU, gpa.SourceGPU)) }

// resolve loads what KERNEL names.
func (t *target) resolve(ctx context.Context, name string, b *compile.Builder) (*gpa.Target, error) {
	o := gpa.LoadOptions(*t)
	o.Compile = func(source string, arch sass.Arch) (*cubin.File, error) { return b.Cubin(ctx, source, arch) }
	return gpa.Load(name, o)
}

// dims is a grid or block size as a flag value: 128, 16,16 or 16x16.
type dims [3]int

// String is the size as the flag takes it.
func (d *dims) String() string {
	if d[0] == 0 {
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

// launchFlags say what runs, and how.
type launchFlags struct {
	target  target
	machine machineFlags
	builds  compile.Builder
}

func (f *launchFlags) register(flags *pflag.FlagSet) {
	f.machine.register(flags)
	f.target.register(flags)
}

// load loads what KERNEL names.
func (f *launchFlags) load(ctx context.Context, e *env, name string) (*gpa.Target, gpa.Options, error) {
	o, err := f.machine.options(e)
	if err != nil {
		return nil, o, err
	}
	t, err := f.target.resolve(ctx, name, &f.builds)
	return t, o, err
}

// machineFlags are the flags that shape the emulated GPU.
type machineFlags gpa.Options

func (m *machineFlags) register(flags *pflag.FlagSet) {
	registerLimit(flags, &m.MaxInstructions)
	flags.IntVar(&m.Workers, "workers", 0, "run `N` SMs at a time; no result depends on it (default: as many as there are processors)")
	flags.BoolVar(&m.WholeGrid, "whole-grid", false, "time every block to its end, also of a large launch (by default timing ends where wave after wave has taken the same time, or after a share that takes about ten seconds; the rest only takes effect, and the cycles are extrapolated)")
	flags.BoolVar(&m.Portions, "portions", false, "time portions of the GPU with that share of the blocks of a large launch, until two come to the same cycles; the others only take effect")
	var names []string
	for _, model := range reconv.Models() {
		names = append(names, model.Name())
	}
	flags.StringVar(&m.Reconvergence, "reconvergence", names[0], "how threads of a warp come together again: `MODEL` is "+strings.Join(names, ", "))
}

// registerLimit declares --max-instructions.
func registerLimit(flags *pflag.FlagSet, limit *int64) {
	flags.Int64Var(limit, "max-instructions", emu.DefaultMaxInstructions, "stop a launch after `N` warp instructions, 0 for no limit")
}

// options is how a target runs. What kernels print goes to prints.
func (m *machineFlags) options(e *env) (o gpa.Options, err error) {
	if m.MaxInstructions < 0 {
		return o, usagef("--max-instructions: %d is negative", m.MaxInstructions)
	}
	if m.Workers < 0 {
		return o, usagef("--workers: %d is negative", m.Workers)
	}
	if _, err := reconv.ByName(m.Reconvergence); err != nil {
		return o, usagef("--reconvergence: %w", err)
	}
	o = gpa.Options(*m)
	o.Stdout, o.Progress = e.prints, e.progress
	o.Tell = func(err error) { fmt.Fprintf(e.stderr, "gpa: %s\n", reports.OneLine(err.Error())) }
	return o, nil
}

// moduleFlags choose one of the cubins that a file may hold.
type moduleFlags struct {
	arch  string
	entry int // counted from 1; 0 for none chosen
}

func (m *moduleFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&m.arch, "arch", "", "the cubin for this architecture, `sm_NN`, of a fatbin, executable, library or archive")
	flags.IntVar(&m.entry, "entry", 0, "the entry of this `NUMBER` in such a file, as gpa disasm --list counts them")
}

// open reads the cubin that an argument names: a file, one of those that a file holds, or the one of a launch file or
// built-in kernel.
func (m *moduleFlags) open(name string) (*cubin.File, error) {
	sm, err := parseArch(m.arch)
	if err != nil {
		return nil, err
	}
	return gpa.LoadModule(name, gpa.ModuleOptions{Arch: sm, Entry: m.entry})
}

// parseArch reads an --arch that names an architecture, 0 for none.
func parseArch(text string) (sass.Arch, error) {
	if text == "" {
		return 0, nil
	}
	sm, err := strconv.Atoi(strings.TrimPrefix(text, "sm_"))
	if err != nil || sm <= 0 {
		return 0, usagef("--arch %s: want sm_NN", text)
	}
	return sass.Arch(sm), nil
}

// openModule reads the cubin that an argument names, of a file that holds no other.
func openModule(name string) (*cubin.File, error) { return new(moduleFlags).open(name) }

// registerSource declares the flag that names a folder with sources.
func registerSource(flags *pflag.FlagSet, folder *string) {
	flags.StringVar(folder, "source", "", "look for source files below `DIR`, or in that of a source file, first, then beside the kernel or the result, and nowhere else")
}

// storeFlags say where results are kept from run to run.
type storeFlags struct {
	dir string
	not bool
}

func (f *storeFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "store", "", "keep results in `DIR`, or s3://BUCKET/PREFIX, and take from it what was computed before (default: $"+store.Variable+", or else nothing is kept)")
	flags.BoolVar(&f.not, "no-cache", false, "compute again what is in the store; a result that is not that in the store is an error")
}

// keeping is the store that the flags name, with what goes with it.
func (f *storeFlags) keeping() (k gpa.Keeping, err error) {
	k.Again = f.not
	if k.Store, err = store.Find(f.dir); err == nil && k.Store == nil && f.not {
		err = usagef("--no-cache: there is no store, which --store names")
	}
	return k, err
}
