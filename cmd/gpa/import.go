package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/cubin"
	"gpa/profiler"
	"gpa/profiler/ncurep"
	"gpa/reports"
	"gpa/reports/listing"
)

func importCommand() command {
	return command{
		name: "import", args: "FILE", short: "blame and advise on samples of a real GPU: Nsight Compute's, or another collector's",
		setup: func(flags *pflag.FlagSet) action {
			var f importFlags
			f.advice.register(flags)
			flags.StringVar(&f.cubin, "cubin", "", "`FILE` of the cubin that ran; of a report file only where it does not hold its own")
			flags.StringVar(&f.page.GPU, "arch", "", "`GPU` that it ran on, as in v100 (default: that of the cubin's architecture)")
			flags.StringVar(&f.kernel, "kernel", "", "`NAME` of the kernel: of a report file its launches, of a source page where the page does not say it")
			flags.StringVar(&f.launches, "launch", "", "launches of a report file, `N[,N...]` counted from 0, or all")
			flags.BoolVar(&f.list, "list", false, "list the launches of a report file")
			flags.Var((*dims)(&f.page.Grid), "grid", "blocks of the grid, as in `X[,Y[,Z]]`")
			flags.Var((*dims)(&f.page.Block), "block", "threads of a block, as in `X[,Y[,Z]]`")
			flags.IntVar(&f.page.Registers, "registers", 0, "registers of a thread, `N` (default: the cubin's)")
			flags.IntVar(&f.page.SharedDynamic, "shared", 0, "dynamic shared memory of a block in `BYTES`")
			flags.IntVar(&f.page.Period, "period", 0, "`CYCLES` between two samples of an SM (2^(5+n) of --sampling-interval n)")
			flags.Int64Var(&f.page.L2Bytes, "l2-bytes", 0, "`BYTES` that the L1 caches asked of L2 (32 for each of lts__t_sectors_srcunit_tex.sum)")
			flags.Int64Var(&f.page.DRAMReadBytes, "dram-read-bytes", 0, "`BYTES` read from DRAM (dram__bytes_read.sum)")
			flags.Int64Var(&f.page.DRAMWrittenBytes, "dram-written-bytes", 0, "`BYTES` written to DRAM (dram__bytes_write.sum)")
			flags.Int64Var(&f.page.Cycles, "cycles", 0, "`CYCLES` that the launch took (sm__cycles_elapsed.max)")
			return withArgument("the report file or the source page", func(_ context.Context, e *env, name string) error {
				data, err := os.ReadFile(name)
				switch {
				case err != nil:
					return err
				case ncurep.Is(data):
					return f.importReport(e, flags, name, data)
				case bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")):
					return f.importSamples(e, flags, name, data)
				}
				return f.importPage(e, flags, name, data)
			})
		},
	}
}

// importFlags are the flags of gpa import.
type importFlags struct {
	advice   adviceFlags
	cubin    string
	kernel   string
	launches string
	list     bool
	page     profiler.PageFacts
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

// module reads the cubin that ran.
func (f *importFlags) module() (*cubin.File, error) {
	if f.cubin == "" {
		return nil, usagef("--cubin is missing: the cubin that the samples are of")
	}
	return openModule(f.cubin)
}

// importSamples imports gpa's own form.
func (f *importFlags) importSamples(e *env, flags *pflag.FlagSet, name string, data []byte) error {
	if err := unusable(flags, "the file says it", slices.Concat(pageFlags, []string{"arch", "kernel", "launch", "list"})...); err != nil {
		return err
	}
	module, err := f.module()
	if err != nil {
		return err
	}
	p, err := profiler.ReadSamples(bytes.NewReader(data), module)
	return f.tell(e, name, p, err)
}

// importPage imports a source page.
func (f *importFlags) importPage(e *env, flags *pflag.FlagSet, name string, data []byte) error {
	if err := unusable(flags, "a source page has one launch of a kernel", "launch", "list"); err != nil {
		return err
	}
	if f.page.Grid[0] == 0 || f.page.Block[0] == 0 {
		return usagef("--grid and --block are missing: a source page does not tell them")
	}
	module, err := f.module()
	if err != nil {
		return err
	}
	p, err := profiler.ReadPage(bytes.NewReader(data), module, f.kernel, f.page)
	return f.tell(e, name, p, err)
}

// tell reports on a profile of the cubin of --cubin.
func (f *importFlags) tell(e *env, name string, p *profiler.Profile, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.advice.tell(e, gpa.FromProfile(p, gpa.NewSources(filepath.Dir(f.cubin))))
}

// importReport imports launches of a report file, or lists them where the user has to choose.
func (f *importFlags) importReport(e *env, flags *pflag.FlagSet, name string, data []byte) error {
	if err := unusable(flags, "a report file says it", slices.Concat(pageFlags, []string{"arch"})...); err != nil {
		return err
	}
	report, err := ncurep.Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	chosen, err := report.Choose(f.launches, f.kernel)
	var unknown *ncurep.ChoiceError
	switch {
	case errors.As(err, &unknown):
		return usagef("--%s: %w", unknown.By, err)
	case f.list || chosen == nil && len(report.Results) > 1:
		return f.listLaunches(e, report, name)
	case len(report.Results) == 0:
		return fmt.Errorf("%s: no launch was measured", name)
	}
	if err := f.supply(report, chosen); err != nil {
		return err
	}
	p, leftOut, err := report.Profile(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), chosen)
	switch {
	case errors.Is(err, ncurep.ErrNoCubin):
		return fmt.Errorf("%s: %w: give the one that ran as --cubin FILE (cuobjdump -xelf all PROGRAM extracts it)", name, err)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, err := range leftOut {
		fmt.Fprintf(e.stderr, "gpa: left out: %v\n", err)
	}
	return f.advice.tell(e, gpa.FromProfile(p, gpa.NewSources(filepath.Dir(name))))
}

// supply gives the report the cubin of --cubin.
func (f *importFlags) supply(report *ncurep.Report, chosen []int) error {
	if f.cubin == "" {
		return nil
	}
	if report.HoldsCubins(chosen) {
		return usagef("--cubin is of no use: the report holds the cubin that ran")
	}
	module, err := openModule(f.cubin)
	if err != nil {
		return err
	}
	report.Supply(module)
	return nil
}

// listLaunches prints what the file holds.
func (f *importFlags) listLaunches(e *env, report *ncurep.Report, name string) error {
	list := report.List(name)
	if f.advice.json {
		return reports.WriteJSON(e.stdout, struct {
			Tool     string          `json:"tool,omitempty"`
			Launches []ncurep.Listed `json:"launches"`
		}{report.Tool, list})
	}
	if err := listing.LaunchTable(list, e.style()).Render(e.stdout); err != nil {
		return err
	}
	if !f.list {
		fmt.Fprintf(e.stderr, "gpa: %d launches: choose with --launch N[,N...], --launch all or --kernel NAME\n", len(list))
	}
	return nil
}

func exportCommand() command {
	return command{
		name: "export", args: "RESULT", short: "write the samples of a saved result as Nsight Compute's source page (CSV) or as JSON",
		setup: func(flags *pflag.FlagSet) action {
			asJSON := flags.Bool("json", false, "write JSON")
			return withArgument("the saved result", func(_ context.Context, e *env, name string) error {
				r, err := gpa.Open(name)
				if err != nil {
					return err
				}
				return profiler.Write(e.stdout, r.Profile, *asJSON)
			})
		},
	}
}
