package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gpa"
	"gpa/emu/arch"
	"gpa/profiler"
	"gpa/profiler/ncurep"
	"gpa/reports"
)

// measuredFile is the name of the file that says what was measured.
const measuredFile = "measured.json"

// evaluateMeasuredHelp is what the help of gpa evaluate says about --measured.
const evaluateMeasuredHelp = `With --measured, every folder under DIR with a measured.json is a launch file and what was measured of its launches:

  {"launch": "launch.yaml", "report": "report.ncu-rep", "launches": [{"launch": 0, "measured": 2}]}
  {"launch": "launch.yaml", "gpu": "h100", "fixed": 3950, "source": "…", "launches": [{"launch": 0, "cycles": 5055}]}

Launches are counted from 0, in the launch file and in the report file of Nsight Compute. A report gives the GPU, its clock, the cycles in
which SMs were active, samples and executions; else cycles are those of the launch, and fixed is what of them the launch itself
takes. The launches run on the GPU's model, at the measured clock, which "clock_hz" tells where no report does. Cycles may be those of "count" launches in a row. error is |emulated - measured| / measured; stall
distance is half the sum of the differences of the stall reasons' shares (total variation); hot pcs are of the five
hottest measured instructions those among the five hottest emulated; executions says whether each instruction was executed as often. The
launches of one kernel with blocks of one shape, and of the same "series" where some are named, are a series: the sizes of each are
to come in the measured order. --json names the shares of the stall reasons too, measured and emulated, and the rank correlation of
each series; --markdown prints the page that docs/measured.md ends with.`

// A measuredSpec is a measured.json.
type measuredSpec struct {
	Launch   string          `json:"launch"`
	Report   string          `json:"report"`
	GPU      string          `json:"gpu"`
	Fixed    float64         `json:"fixed"`
	ClockHz  float64         `json:"clock_hz"`
	Source   string          `json:"source"`
	Launches []measuredPoint `json:"launches"`
}

// A measuredPoint is a launch of the launch file with its launch in the report, or its cycles.
type measuredPoint struct {
	Launch   int     `json:"launch"`
	Measured int     `json:"measured"`
	Cycles   float64 `json:"cycles"`
	Series   string  `json:"series"`
	Count    int     `json:"count"` // launches from Launch on that Cycles are of, 0 for one
}

// evaluateMeasured runs what was measured and holds it against the measurement.
func (f *evaluateFlags) evaluateMeasured(ctx context.Context, e *env, root string) error {
	x := new(reports.MeasuredEvaluation)
	err := eachFile(e, root, measuredFile, "folder", func(file string) error { return f.measuredFolder(ctx, e, x, root, file) })
	if err != nil && ctx.Err() == nil {
		return err
	}
	x.Sum()
	return writeEvaluation(ctx, e, f, x, reports.MeasuredMarkdown, reports.MeasuredText)
}

// filesNamed lists the files of a name under a folder.
func filesNamed(root, name string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == name {
			files = append(files, path)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there is no %s under %s", name, root)
	}
	return files, err
}

// measuredFolder adds the launches of one folder.
func (f *evaluateFlags) measuredFolder(ctx context.Context, e *env, x *reports.MeasuredEvaluation, root, file string) error {
	folder := filepath.Dir(file)
	name, err := filepath.Rel(root, folder)
	if err != nil {
		return err
	}
	spec, err := readMeasured(file)
	if err != nil {
		return err
	}
	measured, err := spec.profile(folder)
	if err != nil {
		return err
	}
	gpu, clock := spec.GPU, spec.ClockHz
	if measured != nil {
		gpu, clock = measured.Launches[0].GPU, measured.Launches[0].Facts.ClockHz
	}
	emulated, err := f.emulate(ctx, e, filepath.Join(folder, spec.Launch), gpu, clock)
	if err != nil {
		return err
	}
	for i, at := range spec.Launches {
		launches, err := at.emulated(emulated)
		if err != nil {
			return fmt.Errorf("%w in %s", err, spec.Launch)
		}
		var row reports.MeasuredLaunch
		if measured != nil {
			row = reports.EvaluateMeasured(emulated.Modules[0], measured.Launches[i], launches[0])
		} else {
			cycles := at.Cycles - spec.Fixed*float64(len(launches))
			row = reports.MeasuredCycles(emulated.Modules[0], launches[0], cycles, sumCycles(launches))
		}
		row.Name, row.Series, row.Launch, row.Source = filepath.ToSlash(name), at.Series, at.Launch, spec.Source
		x.Launches = append(x.Launches, row)
	}
	return nil
}

// emulated returns the launches that the measurement is of.
func (m *measuredPoint) emulated(p *profiler.Profile) ([]*profiler.Launch, error) {
	var list []*profiler.Launch
	for n := m.Launch; n < m.Launch+max(m.Count, 1); n++ {
		i, ok := p.At(n)
		if !ok {
			return nil, fmt.Errorf("there is no launch %d", n)
		}
		list = append(list, p.Launches[i])
	}
	return list, nil
}

func sumCycles(launches []*profiler.Launch) (sum float64) {
	for _, l := range launches {
		sum += float64(l.Facts.Cycles)
	}
	return sum
}

func readMeasured(file string) (*measuredSpec, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	spec := new(measuredSpec)
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(spec); err != nil {
		return nil, err
	}
	switch {
	case spec.Launch == "" || len(spec.Launches) == 0:
		return nil, errors.New(`"launch" and "launches" are needed`)
	case (spec.Report == "") == (spec.GPU == ""):
		return nil, errors.New(`one of "report" and "gpu" is needed`)
	case spec.ClockHz < 0:
		return nil, errors.New(`"clock_hz" is negative`)
	}
	for _, l := range spec.Launches {
		switch fixed := spec.Fixed * float64(max(l.Count, 1)); {
		case l.Count < 0 || l.Count > 0 && spec.Report != "":
			return nil, fmt.Errorf("launch %d: \"count\" is of cycles, and positive", l.Launch)
		case spec.Report == "" && l.Cycles <= fixed:
			return nil, fmt.Errorf("launch %d: %v cycles are not more than the fixed %v", l.Launch, l.Cycles, fixed)
		}
	}
	return spec, nil
}

// profile reads the launches of the report in the order of the list, nil where there is no report.
func (s *measuredSpec) profile(folder string) (*profiler.Profile, error) {
	if s.Report == "" {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(folder, s.Report))
	if err != nil {
		return nil, err
	}
	report, err := ncurep.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Report, err)
	}
	var numbers []int
	for _, l := range s.Launches {
		numbers = append(numbers, l.Measured)
	}
	p, leftOut, err := report.Profile(s.Report, numbers)
	if err = errors.Join(append(leftOut, err)...); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Report, err)
	}
	return p, nil
}

// emulate runs a launch file on a GPU at a clock, at the model's own where clock is 0.
func (f *evaluateFlags) emulate(ctx context.Context, e *env, file, gpu string, clock float64) (*profiler.Profile, error) {
	o, err := f.compare.machine.options(e)
	if err != nil {
		return nil, err
	}
	t, err := gpa.Load(file, gpa.LoadOptions{GPU: gpu})
	if err != nil {
		return nil, err
	}
	setClock(t.GPU, clock)
	ran, err := t.Profile(ctx, o)
	if err != nil {
		return nil, err
	}
	return ran.Profile, failureOf(ran)
}

func setClock(m *arch.Model, hz float64) {
	if hz > 0 {
		m.SetClock(hz)
	}
}
