package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/cubin"
	"gpa/emu/arch"
	"gpa/profiler"
)

func importCommand() command {
	return command{
		name: "import", args: "FILE", short: "blame and advise on samples of a real GPU: Nsight Compute's, or another collector's",
		setup: func(flags *pflag.FlagSet) action {
			var f importFlags
			f.advice.register(flags)
			flags.StringVar(&f.cubin, "cubin", "", "`FILE` of the cubin that ran; of a report file only where it does not hold its own")
			flags.StringVar(&f.gpu, "arch", "", "`GPU` that it ran on, as in v100 (default: that of the cubin's architecture)")
			flags.StringVar(&f.kernel, "kernel", "", "`NAME` of the kernel: of a report file its launches, of a source page where the page does not say it")
			flags.StringVar(&f.launches, "launch", "", "launches of a report file, `N[,N...]` counted from 0, or all")
			flags.BoolVar(&f.list, "list", false, "list the launches of a report file")
			flags.Var(&f.grid, "grid", "blocks of the grid, as in `X[,Y[,Z]]`")
			flags.Var(&f.block, "block", "threads of a block, as in `X[,Y[,Z]]`")
			flags.IntVar(&f.registers, "registers", 0, "registers of a thread, `N` (default: the cubin's)")
			flags.IntVar(&f.shared, "shared", 0, "dynamic shared memory of a block in `BYTES`")
			flags.IntVar(&f.period, "period", 0, "`CYCLES` between two samples of an SM (2^(5+n) of --sampling-interval n)")
			flags.Int64Var(&f.l2, "l2-bytes", 0, "`BYTES` that the L1 caches asked of L2 (32 for each of lts__t_sectors_srcunit_tex.sum)")
			flags.Int64Var(&f.read, "dram-read-bytes", 0, "`BYTES` read from DRAM (dram__bytes_read.sum)")
			flags.Int64Var(&f.written, "dram-written-bytes", 0, "`BYTES` written to DRAM (dram__bytes_write.sum)")
			flags.Int64Var(&f.cycles, "cycles", 0, "`CYCLES` that the launch took (sm__cycles_elapsed.max)")
			return func(_ context.Context, e *env, args []string) error {
				name, err := oneArgument(args, "the report file or the source page")
				if err != nil {
					return err
				}
				form, err := formOf(name)
				switch {
				case err != nil:
					return err
				case form == reportForm:
					return f.importReport(e, flags, name)
				case form == samplesForm:
					return f.importSamples(e, flags, name)
				}
				return f.importPage(e, flags, name)
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
	l2, read, written int64 // bytes
}

// The forms of files that are imported, told apart by how they begin.
type importForm uint8

const (
	pageForm    importForm = iota // the source page as CSV
	reportForm                    // a report file of Nsight Compute
	samplesForm                   // gpa's own JSON
)

// formOf finds out which form a file has.
func formOf(name string) (importForm, error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	start := make([]byte, 64)
	n, err := io.ReadFull(file, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	switch start = bytes.TrimLeft(start[:n], " \t\r\n"); {
	case bytes.HasPrefix(start, []byte("NVR\x00")):
		return reportForm, nil
	case bytes.HasPrefix(start, []byte("{")):
		return samplesForm, nil
	}
	return pageForm, nil
}

// pageFlags are the flags that say of a launch what a source page does not.
var pageFlags = []string{"grid", "block", "registers", "shared", "period", "cycles", "l2-bytes", "dram-read-bytes", "dram-written-bytes"}

// unusable refuses flags that the file's form has no use for.
func unusable(flags *pflag.FlagSet, why string, names ...string) error {
	for _, name := range names {
		if flags.Changed(name) {
			return usagef("--%s is of no use: %s", name, why)
		}
	}
	return nil
}

// open opens the cubin and the file with its samples.
func (f *importFlags) open(name string) (*cubin.File, *os.File, error) {
	if f.cubin == "" {
		return nil, nil, usagef("--cubin is missing: the cubin that the samples are of")
	}
	module, err := openModule(f.cubin)
	if err != nil {
		return nil, nil, err
	}
	file, err := os.Open(name)
	return module, file, err
}

// importSamples imports gpa's own form.
func (f *importFlags) importSamples(e *env, flags *pflag.FlagSet, name string) error {
	if err := unusable(flags, "the file says it", slices.Concat(pageFlags, []string{"arch", "kernel", "launch", "list"})...); err != nil {
		return err
	}
	module, file, err := f.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	p, err := profiler.ReadSamples(file, module)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.advice.tell(e, gpa.FromProfile(p, gpa.NewSources(filepath.Dir(f.cubin))))
}

// importPage imports a source page.
func (f *importFlags) importPage(e *env, flags *pflag.FlagSet, name string) error {
	if err := unusable(flags, "a source page has one launch of a kernel", "launch", "list"); err != nil {
		return err
	}
	if !f.grid.set() || !f.block.set() {
		return usagef("--grid and --block are missing: a source page does not tell them")
	}
	module, file, err := f.open(name)
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
	return f.advice.tell(e, gpa.FromProfile(p, gpa.NewSources(filepath.Dir(f.cubin))))
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
	l.Grid, l.Block, l.Period = f.grid, f.block, f.period
	facts := &l.Facts
	if facts.Registers = f.registers; facts.Registers == 0 {
		facts.Registers = k.Registers
	}
	facts.SharedStatic, facts.SharedDynamic, facts.LocalBytes = k.SharedStatic, f.shared, k.LocalFrame
	facts.Cycles = f.cycles
	facts.L2Bytes, facts.DRAMReadBytes, facts.DRAMWrittenBytes = f.l2, f.read, f.written
	if err := l.SetGPU(model); err != nil {
		return err
	}
	if f.period == 0 {
		l.Missing = append(l.Missing, profiler.MissingPeriod)
	}
	if f.cycles == 0 {
		l.Missing = append(l.Missing, profiler.MissingCycles)
	}
	l.NoteTraffic()
	return nil
}

func exportCommand() command {
	return command{
		name: "export", args: "RESULT", short: "write the samples of a saved result as Nsight Compute's source page (CSV) or as JSON",
		setup: func(flags *pflag.FlagSet) action {
			asJSON := flags.Bool("json", false, "write JSON")
			return func(_ context.Context, e *env, args []string) error {
				name, err := oneArgument(args, "the saved result")
				if err != nil {
					return err
				}
				r, err := openResult(name)
				if err != nil {
					return err
				}
				return exportProfile(e, r.Profile, *asJSON)
			}
		},
	}
}

// exportProfile writes the samples of a profile.
func exportProfile(e *env, p *profiler.Profile, asJSON bool) error {
	var out bytes.Buffer
	switch {
	case asJSON && len(p.Modules) != 1:
		return fmt.Errorf("the result is of %d cubins, the form of one", len(p.Modules))
	case asJSON:
		if err := profiler.WriteSamples(&out, p, 0); err != nil {
			return err
		}
	default:
		for _, l := range p.Launches {
			if err := profiler.WriteCSV(&out, p.Modules[l.Module], l); err != nil {
				return err
			}
		}
	}
	_, err := e.stdout.Write(out.Bytes())
	return err
}
