package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"gpa/emu/arch"
	"gpa/profiler/program"
	"gpa/reports"
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
	ranges      []string
	fromStart   string
}

func (f *programFlags) register(flags *pflag.FlagSet) { f.flags = flags }

// registerSelection declares which launches of a program something is done with.
func (f *programFlags) registerSelection(flags *pflag.FlagSet, verb string) {
	f.register(flags)
	flags.IntVar(&f.skip, "launch-skip", 0, "of a program, "+verb+" none of the first `N` launches that --kernel and --nvtx select")
	flags.IntVar(&f.count, "launch-count", 0, "of a program, "+verb+" at most `N` launches (default: all)")
	flags.StringArrayVar(&f.ranges, "nvtx", nil, "of a program, "+verb+" only launches in the NVTX range `RANGE`, or DOMAIN@RANGE; may be repeated")
	flags.StringVar(&f.fromStart, "profile-from-start", "on", "of a program, `off`: "+verb+" nothing before it calls cuProfilerStart")
}

// registerKernels declares for how many kernels there is advice.
func (f *programFlags) registerKernels(flags *pflag.FlagSet) {
	flags.IntVar(&f.kernels, "kernels", 3, "of a program, give advice on the `N` kernels that take most of the time")
}

// given says whether the command line has a program, which stands behind --.
func (f *programFlags) given() bool { return f.flags != nil && f.flags.ArgsLenAtDash() == 0 }

// A childProgram is a command that runs on the emulated GPU.
type childProgram struct {
	*program.Program
	env   *env
	gpu   *arch.Model
	timed bool
	quiet bool // the program's standard output goes to standard error
}

// options are those of a program of these flags. They are complete but for what is done with its launches.
func (f *programFlags) options(e *env, t *target, m *machineFlags) (o program.Options, err error) {
	if t.grid.set() || t.block.set() || t.shared != 0 || len(t.args) > 0 {
		return o, usagef("--grid, --block, --shared and --arg go with a cubin, not with a program")
	}
	if f.skip < 0 || f.count < 0 || f.kernels < 0 {
		return o, usagef("--launch-skip, --launch-count and --kernels: a number is negative")
	}
	if f.fromStart != "" && f.fromStart != "on" && f.fromStart != "off" {
		return o, usagef("--profile-from-start is on or off")
	}
	o = program.Options{Skip: f.skip, Most: f.count, Ranges: f.ranges, AfterStart: f.fromStart == "off"}
	if o.GPU, err = arch.ByName(cmp.Or(t.gpu, "a100")); err != nil {
		return o, err
	}
	if t.kernel != "" {
		if o.Only, err = regexp.Compile(t.kernel); err != nil {
			return o, usagef("--kernel: %w", err)
		}
	}
	o.Run, err = m.options(e)
	o.Run.Stdout = nil
	return o, err
}

// newProgram makes a program ready to run.
func newProgram(e *env, o program.Options) (*childProgram, error) {
	p, err := program.New(o)
	return &childProgram{Program: p, env: e, gpu: o.GPU, timed: o.Timed}, err
}

// run runs the program to its end. The error is its exit status where that is not 0.
func (p *childProgram) run(ctx context.Context, args []string) error {
	path, err := findProgram(args[0])
	if err != nil {
		return err
	}
	// An interrupt is for the program: what it still launches then is carried out.
	if err := p.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	command := exec.Command(path, args[1:]...)
	command.Args[0] = args[0]
	command.Env = p.Environment(os.Environ())
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if p.quiet {
		command.Stdout = os.Stderr
	}
	status, err := runChild(ctx, command)
	if closed := p.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	p.say()
	if status != 0 {
		return programStatus(status)
	}
	return nil
}

// say prints on standard error what who runs the program should know.
func (p *childProgram) say() {
	for _, note := range p.Notes() {
		fmt.Fprintln(p.env.stderr, wrapped("gpa: "+note))
	}
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

// table prints the kernels of the program.
func (p *childProgram) table(w io.Writer) error {
	if p.Launches() == 0 {
		return nil
	}
	list := p.Kernels()
	var seconds float64
	var instructions int64
	for _, k := range list {
		seconds += k.Seconds
		instructions += k.Instructions
	}
	t := reports.Table{Columns: []reports.Column{{Title: "kernel"}, {Title: "launches", Right: true}, {Title: "warp instructions", Right: true}}}
	if p.timed {
		t.Columns = append(t.Columns, reports.Column{Title: "profiled", Right: true}, reports.Column{Title: "time, us", Right: true})
	}
	t.Columns = append(t.Columns, reports.Column{Title: "share", Right: true})
	shown := list[:min(len(list), mostRows)]
	for _, k := range shown {
		row := []string{k.Name(), strconv.Itoa(k.Launches), strconv.FormatInt(k.Instructions, 10)}
		share := float64(k.Instructions) / float64(max(instructions, 1))
		if p.timed {
			row = append(row, strconv.Itoa(k.Timed), strconv.FormatFloat(k.Seconds*1e6, 'f', 1, 64))
			share = 0
			if seconds > 0 {
				share = k.Seconds / seconds
			}
		}
		t.Add(append(row, fmt.Sprintf("%.1f %%", 100*share))...)
	}
	if _, err := fmt.Fprintf(w, "%d launches of %d kernels on %s\n\n", p.Launches(), len(list), p.gpu.Product); err != nil {
		return err
	}
	if err := p.env.table(w, &t); err != nil || len(shown) == len(list) {
		return err
	}
	_, err := fmt.Fprintf(w, "and %d kernels that take less\n", len(list)-len(shown))
	return err
}

// mostRows is how many kernels the table lists.
const mostRows = 30
