package evaluation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gpa"
	"gpa/emu/arch"
	"gpa/profiler"
	"gpa/profiler/ncurep"
	"gpa/reports"
)

// MeasuredFile is the name of the file that says what was measured.
const MeasuredFile = "measured.json"

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

// Measured runs what was measured of the launches under a folder and holds it against the measurement. Where ctx ends, what there is until then is the
// result.
func (v *Evaluator) Measured(ctx context.Context, root string) (*reports.MeasuredEvaluation, error) {
	x := new(reports.MeasuredEvaluation)
	err := v.eachFile(root, MeasuredFile, "folder", func(file string) error { return v.measuredFolder(ctx, x, root, file) })
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	x.Sum()
	return x, nil
}

// measuredFolder adds the launches of one folder.
func (v *Evaluator) measuredFolder(ctx context.Context, x *reports.MeasuredEvaluation, root, file string) error {
	folder := filepath.Dir(file)
	name, err := filepath.Rel(root, folder)
	if err != nil {
		return err
	}
	spec, err := readMeasured(file)
	if err != nil {
		return err
	}
	measured, board, err := spec.profile(folder)
	if err != nil {
		return err
	}
	gpu, clock := spec.GPU, spec.ClockHz
	if measured != nil {
		gpu, clock = measured.Launches[0].GPU, measured.Launches[0].Facts.ClockHz
	}
	emulated, err := v.emulate(ctx, filepath.Join(folder, spec.Launch), gpu, board, clock)
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
	for k := range max(m.Count, 1) {
		i, ok := p.At(m.Launch + k)
		if !ok {
			return nil, fmt.Errorf("there is no launch %d", m.Launch+k)
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

// readMeasured reads and checks a measured.json.
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

// profile reads the launches of the report in the order of the list, and what board they ran on; nil where there is no report.
func (s *measuredSpec) profile(folder string) (*profiler.Profile, arch.Board, error) {
	var none arch.Board
	if s.Report == "" {
		return nil, none, nil
	}
	data, err := os.ReadFile(filepath.Join(folder, s.Report))
	if err != nil {
		return nil, none, err
	}
	report, err := ncurep.Parse(data)
	if err != nil {
		return nil, none, fmt.Errorf("%s: %w", s.Report, err)
	}
	var numbers []int
	for _, l := range s.Launches {
		numbers = append(numbers, l.Measured)
	}
	p, leftOut, err := report.Profile(s.Report, numbers)
	if err = errors.Join(append(leftOut, err)...); err != nil {
		return nil, none, fmt.Errorf("%s: %w", s.Report, err)
	}
	board, err := report.Board(numbers[0])
	return p, board, err
}

// emulate runs a launch file on a GPU, as another board has it, at a clock, at the model's own where clock is 0.
func (v *Evaluator) emulate(ctx context.Context, file, gpu string, board arch.Board, clock float64) (*profiler.Profile, error) {
	t, err := gpa.Load(file, gpa.LoadOptions{GPU: gpu})
	if err != nil {
		return nil, err
	}
	t.GPU = t.GPU.As(board)
	if clock > 0 {
		t.GPU.SetClock(clock)
	}
	ran, err := t.Profile(ctx, v.Options)
	if err != nil {
		return nil, err
	}
	return ran.Profile, ran.Failure()
}
