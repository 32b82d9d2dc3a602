package main

import (
	"context"
	"fmt"
	"strconv"

	"gpa/emu/arch"
	"gpa/emu/micro"
	"gpa/reports"
)

// measuredJSON is what gpa arch --measure --json prints.
type measuredJSON struct {
	GPU          string            `json:"gpu"`
	Code         string            `json:"code"` // architecture of the code that was run
	Measurements []measurementJSON `json:"measurements"`
}

type measurementJSON struct {
	Benchmark string  `json:"benchmark"`
	Parameter string  `json:"parameter"`
	Emulated  float64 `json:"emulated"`
	Published float64 `json:"published,omitempty"`
	Unit      string  `json:"unit"`
	Source    string  `json:"source,omitempty"`
}

// measureArch runs the micro-benchmarks of a GPU: those that results were published of, or a standard set.
func measureArch(ctx context.Context, e *env, args []string, asJSON bool) error {
	name, err := oneArgument(args, "the GPU")
	if err != nil {
		return err
	}
	model, err := arch.ByName(name)
	if err != nil {
		return usageError{err}
	}
	bench, err := micro.New(model)
	if err != nil {
		return err
	}
	list, err := bench.Published()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		list = bench.Standard()
	}
	out := measuredJSON{GPU: model.Name, Code: "sm_" + strconv.Itoa(bench.Code())}
	for i, m := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := e.progress.stage("%d of %d, %s %s", i+1, len(list), m.Benchmark, m.Parameter)
		value, err := bench.Measure(m)
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", model.Name, err)
		}
		out.Measurements = append(out.Measurements, measurementJSON{m.Benchmark, m.Parameter, value, m.Value, m.Unit, m.Source})
	}
	if asJSON {
		return reports.WriteJSON(e.stdout, out)
	}
	return printMeasurements(e, &out)
}

func printMeasurements(e *env, out *measuredJSON) error {
	if _, err := fmt.Fprintf(e.stdout, "%s, running code for %s\n\n", out.GPU, out.Code); err != nil {
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
	return e.table(e.stdout, &t)
}
