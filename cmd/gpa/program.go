package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/cuda"
	"gpa/profiler/sampler"
)

// programHelp explains in the help of a command how it takes a program in place of a kernel.
const programHelp = `

With -- CMD in place of KERNEL a whole program runs, unmodified, as on a machine with the GPU that --arch names (default a100): gpa gives it a CUDA
driver library of its own. It works with what uses the driver API (numba-cuda, cuda-python, ctypes); programs with NVIDIA's runtime library
inside, as PyTorch, CuPy and what nvcc links by default, do not accept it. The program's standard streams, signals and exit status are its
own. docs/programs.md says more.`

// programFlags are the flags that have a meaning with a program only.
type programFlags struct {
	flags       *pflag.FlagSet
	skip, count int
	kernels     int
}

func (f *programFlags) register(flags *pflag.FlagSet) { f.flags = flags }

// registerSelection declares which launches of a program something is done with.
func (f *programFlags) registerSelection(flags *pflag.FlagSet, verb string) {
	f.register(flags)
	flags.IntVar(&f.skip, "launch-skip", 0, "of a program, "+verb+" none of the first `N` launches that --kernel selects")
	flags.IntVar(&f.count, "launch-count", 0, "of a program, "+verb+" at most `N` launches (default: all)")
}

// registerKernels declares for how many kernels there is advice.
func (f *programFlags) registerKernels(flags *pflag.FlagSet) {
	flags.IntVar(&f.kernels, "kernels", 3, "of a program, give advice on the `N` kernels that take most of the time")
}

// given says whether the command line has a program, which stands behind --.
func (f *programFlags) given() bool { return f.flags != nil && f.flags.ArgsLenAtDash() == 0 }

// A program is a command that runs on the emulated GPU.
type program struct {
	env     *env
	flags   programFlags
	model   *arch.Model
	options gpa.Options
	machine emu.Options // what they come to for the launches of the program
	timed   bool
	only    *regexp.Regexp // which kernels are profiled, nil for all
	sampler *sampler.Sampler
	try     int // pieces of advice to try, as trial has it
	journal *journal
	server  *cuda.Server
	checked *programCheck  // for gpa check
	folder  *captureFolder // for gpa capture
	notes   []string       // what tell says of captures
	quiet   bool           // the program's standard output goes to standard error
}

// newProgram makes a program ready to run.
func newProgram(e *env, f programFlags, t *target, m *machineFlags, level emu.TimingLevel) (*program, error) {
	if t.grid.set() || t.block.set() || t.shared != 0 || len(t.args) > 0 {
		return nil, usagef("--grid, --block, --shared and --arg go with a cubin, not with a program")
	}
	if f.skip < 0 || f.count < 0 || f.kernels < 0 {
		return nil, usagef("--launch-skip, --launch-count and --kernels: a number is negative")
	}
	p := &program{env: e, flags: f, timed: level != emu.TimingNone, journal: newJournal()}
	gpu := t.gpu
	if gpu == "" {
		gpu = "a100"
	}
	var err error
	if p.model, err = arch.ByName(gpu); err != nil {
		return nil, err
	}
	if t.kernel != "" {
		if p.only, err = regexp.Compile(t.kernel); err != nil {
			return nil, usagef("--kernel: %w", err)
		}
	}
	if p.options, err = m.options(e); err != nil {
		return nil, err
	}
	p.options.Stdout, p.options.Fast = nil, level == emu.TimingFast
	p.machine, err = p.options.Emulator(level, 0)
	return p, err
}

// run runs the program to its end. The error is its exit status where that is not 0.
func (p *program) run(ctx context.Context, args []string) error {
	path, err := findProgram(args[0])
	if err != nil {
		return err
	}
	// An interrupt is for the program: what it still launches then is carried out.
	o := cuda.Options{GPU: p.model, Machine: p.machine, Launch: p.launch, Exact: p.checked != nil}
	p.server, err = cuda.Start(context.WithoutCancel(ctx), o)
	if err != nil {
		return err
	}
	command := exec.Command(path, args[1:]...)
	command.Args[0] = args[0]
	command.Env = p.server.Environment(os.Environ())
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if p.quiet {
		command.Stdout = os.Stderr
	}
	status, err := runChild(ctx, command)
	if closed := p.server.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	p.tell()
	if status != 0 {
		return programStatus(status)
	}
	return nil
}

// findProgram returns the path of a program.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("there is no program %q", name)
	case errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("%s cannot be executed", name)
	case err != nil && !errors.Is(err, exec.ErrDot):
		return "", err
	}
	return path, nil
}

// tell says on standard error what the program should know besides its results.
func (p *program) tell() {
	say := func(format string, args ...any) {
		fmt.Fprintln(p.env.stderr, wrapped("gpa: "+fmt.Sprintf(format, args...)))
	}
	for _, problem := range p.server.Problems() {
		say("%s", problem)
	}
	for _, note := range p.notes {
		say("%s", note)
	}
	if list := p.server.Unsupported(); len(list) > 0 {
		say("not supported, and answered with CUDA_ERROR_NOT_SUPPORTED: %s", counted(list))
	}
	switch {
	case p.server.Runtime():
		say("the program holds NVIDIA's CUDA runtime library, which accepts NVIDIA's driver only: build it with nvcc -cudart shared, or use a client of the driver API")
	case p.journal.launches == 0 && p.server.Calls() == 0:
		say("the program launched no kernel: it made no CUDA call. It may use no CUDA, look for libcuda.so.1 at a fixed path, or drop LD_LIBRARY_PATH")
	case p.journal.launches == 0:
		say("the program launched no kernel")
	}
	if p.server.Timed() {
		if p.timed {
			say("times that the program took by events are those of kernels on the emulated %s; copies take none", p.model.Product)
		} else {
			say("times that the program took by events are the least that its kernels can take, as they ran without timing (gpa profile times them)")
		}
	}
}

// wrappedAt is how many characters of a message stand on a line, which is less than what [reports.PlainWriter] cuts.
const wrappedAt = 200

// wrapped breaks a message into lines. Names of kernels that a compiler has made of closures and types can be hundreds of characters long, and what
// follows them is what matters.
func wrapped(message string) string {
	var lines []string
	rest := []rune(message)
	for len(rest) > wrappedAt {
		at := wrappedAt
		for i := wrappedAt; i > wrappedAt/2; i-- {
			if rest[i] == ' ' {
				at = i
				break
			}
		}
		lines = append(lines, string(rest[:at]))
		rest = []rune("  " + strings.TrimPrefix(string(rest[at:]), " "))
	}
	return strings.Join(append(lines, string(rest)), "\n")
}

// counted lists names with how often they occurred.
func counted(list map[string]int) string {
	var parts []string
	for _, name := range sortedKeys(list) {
		parts = append(parts, fmt.Sprintf("%s (%d)", name, list[name]))
	}
	return strings.Join(parts, ", ")
}
