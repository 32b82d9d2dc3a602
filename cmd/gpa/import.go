package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"gpa/cubin"
	"gpa/emu/arch"
	"gpa/emu/launch"
	"gpa/profiler"
	"gpa/reports"
)

func importCommand() command {
	return command{
		name: "import", args: "FILE", short: "blame and advise on samples that Nsight Compute took on a real GPU",
		long: `FILE is a report file of Nsight Compute, which holds the cubin and the launch facts too:

  ncu -o report -f --set full --import-source yes ./program
  gpa import report.ncu-rep

Of several launches --launch or --kernel chooses; without them the launches are listed. The counts of a launch are held against
each other and against the cubin's instructions. Source lines are shown where the source files lie beside the report.

Or FILE is the source page as CSV:

  ncu --import report.ncu-rep --csv --page source --print-source sass > samples.csv
  gpa import samples.csv --cubin program.cubin --grid 128 --block 256

The cubin is the one that ran (cuobjdump -xelf all program). Its instructions have to be those of the file. A source page
has no launch facts: --grid, --block and --period give them, --registers and --shared where the cubin's do not hold. What is
lacking is named in the report, and what needs it is left out.

The result is that of gpa advise; --out keeps it as samples.gpa, so that all commands that take a result work on it.`,
		setup: func(flags *pflag.FlagSet) action {
			var f importFlags
			f.advice.register(flags)
			flags.StringVar(&f.cubin, "cubin", "", "`FILE` of the cubin that ran")
			flags.StringVar(&f.gpu, "arch", "", "`GPU` that it ran on, as in v100 (default: that of the cubin's architecture)")
			flags.StringVar(&f.kernel, "kernel", "", "`NAME` of the kernel: of a report file its launches, of a source page where the page does not say it")
			flags.StringVar(&f.launches, "launch", "", "launches of a report file, `N[,N...]` counted from 0, or all")
			flags.BoolVar(&f.list, "list", false, "list the launches of a report file")
			flags.Var(&f.grid, "grid", "blocks of the grid, as in `X[,Y[,Z]]`")
			flags.Var(&f.block, "block", "threads of a block, as in `X[,Y[,Z]]`")
			flags.IntVar(&f.registers, "registers", 0, "registers of a thread, `N` (default: the cubin's)")
			flags.IntVar(&f.shared, "shared", 0, "dynamic shared memory of a block in `BYTES`")
			flags.IntVar(&f.period, "period", 0, "`CYCLES` between two samples of an SM (2^(5+n) of --sampling-interval n)")
			flags.Int64Var(&f.cycles, "cycles", 0, "`CYCLES` that the launch took (sm__cycles_elapsed.max)")
			return func(_ context.Context, e *env, args []string) error {
				name, err := oneArgument(args, "the report file or the source page")
				if err != nil {
					return err
				}
				report, err := isReport(name)
				switch {
				case err != nil:
					return err
				case report:
					return f.importReport(e, flags, name)
				}
				return f.importPage(e, name)
			}
		},
	}
}

// importFlags are the flags of gpa import.
type importFlags struct {
	advice            adviceFlags
	cubin             string
	gpu, kernel       string
	launches          string
	list              bool
	grid, block       dims
	registers, shared int
	period            int
	cycles            int64
}

// importPage imports a source page.
func (f *importFlags) importPage(e *env, name string) error {
	switch {
	case f.launches != "" || f.list:
		return usagef("--launch and --list are for a report file")
	case f.cubin == "":
		return usagef("--cubin is missing: the cubin that the samples are of")
	case !f.grid.set() || !f.block.set():
		return usagef("--grid and --block are missing: a source page does not tell them")
	}
	module, err := openModule(f.cubin)
	if err != nil {
		return err
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	p, err := profiler.ReadCSV(file, module, f.kernel)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, l := range p.Launches {
		if err := f.complete(module, l); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := profiler.Check(p); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r := &reports.Result{Profile: p}
	if err := f.advice.analyze(r); err != nil {
		return err
	}
	return f.advice.report(e, r, sourceFinder{launch.OSDir(filepath.Dir(f.cubin))})
}

// complete enters the facts of the launch.
func (f *importFlags) complete(module *cubin.File, l *profiler.Launch) error {
	gpu := f.gpu
	if gpu == "" {
		gpu = "sm_" + strconv.Itoa(int(module.Arch))
	}
	model, err := arch.ByName(gpu)
	if err != nil {
		return err
	}
	k, err := module.Kernel(l.Kernel)
	if err != nil {
		return err
	}
	l.GPU, l.Grid, l.Block, l.Period = model.Name, f.grid, f.block, f.period
	facts := &l.Facts
	if facts.Registers = f.registers; facts.Registers == 0 {
		facts.Registers = k.Registers
	}
	facts.SharedStatic, facts.SharedDynamic, facts.LocalBytes = k.SharedStatic, f.shared, k.LocalFrame
	facts.Cycles, facts.ClockHz = f.cycles, model.Clock.Value
	facts.SMs, facts.SchedulersPerSM = model.SMs.Int(), model.Limits.Schedulers.Int()
	o := arch.OccupancyOf(model, arch.Resources{Threads: f.block[0] * max(1, f.block[1]) * max(1, f.block[2]), Registers: facts.Registers,
		SharedStatic: facts.SharedStatic, SharedDynamic: facts.SharedDynamic, Blocks: f.grid[0] * max(1, f.grid[1]) * max(1, f.grid[2])})
	if o.BlocksPerSM < 1 {
		return errors.New("a block of that shape does not fit on an SM")
	}
	facts.MaxWarpsPerScheduler = model.Limits.Warps.Int() / max(1, facts.SchedulersPerSM)
	facts.WarpsPerScheduler, facts.BlocksPerSM, facts.OccupancyLimit = o.WarpsPerScheduler, o.BlocksPerSM, o.Limit
	if f.period == 0 {
		l.Missing = append(l.Missing, "sampling period")
	}
	if f.cycles == 0 {
		l.Missing = append(l.Missing, "cycles")
	}
	return nil
}

func exportCommand() command {
	return command{
		name: "export", args: "RESULT", short: "write the samples of a saved result as Nsight Compute's source page (CSV)",
		long: `RESULT is a folder that gpa profile --out wrote, or its samples.gpa. Every launch is a kernel's name, a header and a row
for each instruction, as ncu --csv --page source --print-source sass prints them. gpa import reads it again.`,
		setup: func(*pflag.FlagSet) action {
			return func(_ context.Context, e *env, args []string) error {
				name, err := oneArgument(args, "the saved result")
				if err != nil {
					return err
				}
				if info, err := os.Stat(name); err == nil && info.IsDir() {
					name = filepath.Join(name, samplesFile)
				}
				p, err := loadProfile(name)
				if err != nil {
					return err
				}
				var out bytes.Buffer
				for _, l := range p.Launches {
					if err := profiler.WriteCSV(&out, p.Modules[l.Module], l); err != nil {
						return err
					}
				}
				_, err = e.stdout.Write(out.Bytes())
				return err
			}
		},
	}
}
