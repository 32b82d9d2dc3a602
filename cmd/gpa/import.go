package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/cubin"
	"gpa/profiler"
	"gpa/profiler/ncurep"
	"gpa/reports"
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
	chosen, err := f.choose(report)
	switch {
	case err != nil:
		return err
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

// supply gives the report the cubin of --cubin. Where the file holds the cubins of all launches that were asked for, another is
// refused: it could only be one that did not run.
func (f *importFlags) supply(report *ncurep.Report, chosen []int) error {
	if f.cubin == "" {
		return nil
	}
	if chosen == nil {
		chosen = []int{0}
	}
	if !slices.ContainsFunc(chosen, func(launch int) bool { return !report.HoldsCubin(launch) }) {
		return usagef("--cubin is of no use: the report holds the cubin that ran")
	}
	module, err := openModule(f.cubin)
	if err != nil {
		return err
	}
	report.Supply(module)
	return nil
}

// choose returns the launches that --launch and --kernel name, nil where neither is given.
func (f *importFlags) choose(report *ncurep.Report) ([]int, error) {
	if f.launches == "" && f.kernel == "" {
		return nil, nil
	}
	asked, err := launchNumbers(f.launches, len(report.Results))
	if err != nil {
		return nil, err
	}
	var chosen []int
	for _, i := range asked {
		if f.kernel == "" || report.Results[i].IsOf(f.kernel) {
			chosen = append(chosen, i)
		}
	}
	if len(chosen) == 0 {
		return nil, usagef("--kernel: no such launch of %q; --list tells which there are", f.kernel)
	}
	return chosen, nil
}

// launchNumbers reads --launch: numbers from 0 with commas between, or all.
func launchNumbers(list string, launches int) ([]int, error) {
	var numbers []int
	if list == "" || list == "all" {
		for i := range launches {
			numbers = append(numbers, i)
		}
		return numbers, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n >= launches {
			return nil, usagef("--launch: %q is none of the %d launches, which are counted from 0", word, launches)
		}
		if !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
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
	if err := launchTable(list, e.style()).Render(e.stdout); err != nil {
		return err
	}
	if !f.list {
		fmt.Fprintf(e.stderr, "gpa: %d launches: choose with --launch N[,N...], --launch all or --kernel NAME\n", len(list))
	}
	return nil
}

func launchTable(list []ncurep.Listed, style reports.Style) *reports.Table {
	t := &reports.Table{Style: style, Columns: []reports.Column{{Title: "launch", Right: true}, {Title: "kernel", Wrap: true}, {Title: "gpu"}, {Title: "grid"}, {Title: "block"},
		{Title: "cycles", Right: true}, {Title: "warp instructions", Right: true}, {Title: "samples", Right: true}, {Title: "lacks", Wrap: true}}}
	for i := range list {
		l := &list[i]
		t.Add(strconv.Itoa(l.Launch), l.Kernel, l.GPU, shape(l.Grid), shape(l.Block), count(l.Cycles), count(l.WarpInstructions), count(l.Samples),
			cmp.Or(l.Error, strings.Join(l.Missing, "; ")))
	}
	return t
}

// shape writes the size of a grid or a block without dimensions of one.
func shape(size [3]int) string {
	text := fmt.Sprintf("%dx%dx%d", size[0], size[1], size[2])
	return strings.TrimSuffix(strings.TrimSuffix(text, "x1"), "x1")
}

// count writes a count, nothing where it is not known.
func count(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func exportCommand() command {
	return command{
		name: "export", args: "RESULT", short: "write the samples of a saved result as Nsight Compute's source page (CSV) or as JSON",
		setup: func(flags *pflag.FlagSet) action {
			asJSON := flags.Bool("json", false, "write JSON")
			return withArgument("the saved result", func(_ context.Context, e *env, name string) error {
				r, err := openResult(name)
				if err != nil {
					return err
				}
				return profiler.Write(e.stdout, r.Profile, *asJSON)
			})
		},
	}
}
