package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/profiler/ncurep"
	"gpa/reports"
)

// importReport imports launches of a report file, or lists them where the user has to choose.
func (f *importFlags) importReport(e *env, flags *pflag.FlagSet, name string) error {
	if err := unusable(flags, "a report file says it", slices.Concat(pageFlags, []string{"arch"})...); err != nil {
		return err
	}
	data, err := os.ReadFile(name)
	if err != nil {
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
		if f.kernel == "" || isOfKernel(&report.Results[i], f.kernel) {
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

// isOfKernel says whether a launch is of a kernel that is called by its symbol, its name or its name with parameters.
func isOfKernel(r *ncurep.Result, kernel string) bool {
	base, _, _ := strings.Cut(r.Demangled, "(")
	return kernel == r.Mangled || kernel == r.Function || kernel == r.Demangled || kernel == base
}

// A listedLaunch is a launch of a report file.
type listedLaunch struct {
	Launch           int      `json:"launch"`
	Kernel           string   `json:"kernel"`
	GPU              string   `json:"gpu,omitempty"`
	Grid             [3]int   `json:"grid"`
	Block            [3]int   `json:"block"`
	Cycles           int64    `json:"cycles,omitempty"`
	WarpInstructions int64    `json:"warp_instructions,omitempty"`
	Samples          int64    `json:"samples,omitempty"`
	Missing          []string `json:"missing,omitempty"`
	Error            string   `json:"error,omitempty"`
}

// listLaunches prints what the file holds. Each launch is read as it would be imported, so that what stands in the way is told.
func (f *importFlags) listLaunches(e *env, report *ncurep.Report, name string) error {
	list := make([]listedLaunch, len(report.Results))
	for i := range report.Results {
		r := &report.Results[i]
		list[i] = listedLaunch{Launch: i, Kernel: cmp.Or(r.Demangled, r.Function, r.Mangled), Grid: r.Grid, Block: r.Block}
		p, _, err := report.Profile(name, []int{i})
		if err != nil {
			list[i].Error = err.Error()
			continue
		}
		l := p.Launches[0]
		list[i].GPU, list[i].Cycles, list[i].WarpInstructions = l.GPU, l.Facts.Cycles, l.Facts.WarpInstructions
		list[i].Samples, list[i].Missing = l.Totals().Samples, l.Missing
	}
	if f.advice.json {
		return reports.WriteJSON(e.stdout, struct {
			Tool     string         `json:"tool,omitempty"`
			Launches []listedLaunch `json:"launches"`
		}{report.Tool, list})
	}
	if err := e.table(e.stdout, launchTable(list)); err != nil {
		return err
	}
	if !f.list {
		fmt.Fprintf(e.stderr, "gpa: %d launches: choose with --launch N[,N...], --launch all or --kernel NAME\n", len(list))
	}
	return nil
}

func launchTable(list []listedLaunch) *reports.Table {
	t := &reports.Table{Columns: []reports.Column{{Title: "launch", Right: true}, {Title: "kernel", Wrap: true}, {Title: "gpu"}, {Title: "grid"}, {Title: "block"},
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
