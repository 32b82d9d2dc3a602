package gpus

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"gpa/emu/arch"
	"gpa/emu/micro"
	"gpa/reports"
)

// A MeasuredReport is what gpa arch --measure --json prints.
type MeasuredReport struct {
	GPU          string              `json:"gpu"`
	Code         string              `json:"code"` // architecture of the code that was run
	Measurements []MeasurementReport `json:"measurements"`
}

// A MeasurementReport is a measurement, with what was published of the hardware where something was.
type MeasurementReport struct {
	Benchmark string  `json:"benchmark"`
	Parameter string  `json:"parameter"`
	Emulated  float64 `json:"emulated"`
	Published float64 `json:"published,omitempty"`
	Unit      string  `json:"unit"`
	Source    string  `json:"source,omitempty"`
}

// Measure runs the micro-benchmarks of a GPU: those that results were published of, or a standard set. stage is told what is measured.
func Measure(ctx context.Context, model *arch.Model, stage func(what string) (end func())) (*MeasuredReport, error) {
	bench, err := micro.New(model)
	if err != nil {
		return nil, err
	}
	list, err := bench.Published()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		list = bench.Standard()
	}
	out := &MeasuredReport{GPU: model.Name, Code: "sm_" + strconv.Itoa(bench.Code())}
	for i, m := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		end := stage(fmt.Sprintf("%d of %d, %s %s", i+1, len(list), m.Benchmark, m.Parameter))
		value, err := bench.Measure(m)
		end()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", model.Name, err)
		}
		out.Measurements = append(out.Measurements, MeasurementReport{m.Benchmark, m.Parameter, value, m.Value, m.Unit, m.Source})
	}
	return out, nil
}

// Text prints the measurements.
func (out *MeasuredReport) Text(w io.Writer, style reports.Style) error {
	if _, err := fmt.Fprintf(w, "%s, running code for %s\n\n", out.GPU, out.Code); err != nil {
		return err
	}
	t := reports.Table{Columns: []reports.Column{
		{Title: "benchmark"}, {Title: "parameter", Right: true}, {Title: "emulated", Right: true}, {Title: "published", Right: true},
		{Title: "error", Right: true}, {Title: "unit"}, {Title: "source", Wrap: true},
	}}
	for _, m := range out.Measurements {
		published, off := "", ""
		if m.Published > 0 {
			published = strconv.FormatFloat(m.Published, 'f', 1, 64)
			off = fmt.Sprintf("%+.1f%%", 100*(m.Emulated/m.Published-1))
		}
		t.Add(m.Benchmark, m.Parameter, strconv.FormatFloat(m.Emulated, 'f', 1, 64), published, off, m.Unit, m.Source)
	}
	t.Style = style
	return t.Render(w)
}
