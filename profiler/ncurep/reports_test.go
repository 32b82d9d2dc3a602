package ncurep

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"gpa/profiler"
)

// reportsFolder names the folder whose report files TestReports reads. They are not part of the project.
const reportsFolder = "GPA_NCU_REPORTS"

// TestReports reads every report file below the folder, checks the counts of every launch and prints them (-v).
func TestReports(t *testing.T) {
	folder := os.Getenv(reportsFolder)
	if folder == "" {
		t.Skip(reportsFolder + " does not name a folder of .ncu-rep files")
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "file\tlaunch\tgpu\tkernel\tinsts\tsamples\tperiod\tactive cycles/period\texecutions\thardware\tthreads\tlacks")
	launches := 0
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".ncu-rep" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r, err := Parse(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		launches += len(r.Results)
		for i := range r.Results {
			p, _, err := r.Profile(filepath.Base(path), []int{i})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			describe(t, w, r, i, filepath.Base(path), p)
		}
		return nil
	})
	w.Flush()
	t.Logf("%d launches\n%s", launches, table.String())
	if err != nil || launches == 0 {
		t.Errorf("%d launches in %s: %v", launches, folder, err)
	}
}

// describe prints the row of a launch and holds its counts to the hardware's counters.
func describe(t *testing.T, w *tabwriter.Writer, r *Report, launch int, file string, p *profiler.Profile) {
	l := p.Launches[0]
	metrics, err := r.Metrics(launch, func(name string) bool { return name == metricTotal || name == metricSamples })
	if err != nil {
		t.Fatal(err)
	}
	total := func(name string) int64 {
		if m := metrics[name]; m != nil {
			return int64(m.Value.Number)
		}
		return 0
	}
	totals := l.Totals()
	var executions, threads int64
	for i := range l.PCs {
		executions += l.PCs[i].Executions
		threads += l.PCs[i].ThreadExecutions
	}
	if totals.Samples != total(metricSamples) || len(l.PCs) > 0 && executions != total(metricTotal) {
		t.Errorf("%s: launch %d: %d samples of %d, %d executions of %d", file, launch, totals.Samples, total(metricSamples), executions, total(metricTotal))
	}
	expected := float64(l.Facts.SMActiveCycles) / float64(max(1, l.Period))
	fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%d\t%d\t%.0f\t%d\t%d\t%d\t%s\n", file, launch, l.GPU, r.Results[launch].Function, len(l.PCs), totals.Samples, l.Period,
		expected, executions, total(metricTotal), threads, strings.Join(l.Missing, ", "))
}
