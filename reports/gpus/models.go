// Package gpus prints GPU models with the sources of their figures, and what micro-benchmarks measure on the emulated GPU beside what was published of the
// hardware.
package gpus

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"gpa/emu/arch"
	"gpa/reports"
)

// WriteModels lists the GPUs with the figures that people know them by.
func WriteModels(w io.Writer, models []*arch.Model, style reports.Style) error {
	t := reports.Table{Columns: []reports.Column{
		{Title: "name"}, {Title: "product"}, {Title: "arch"}, {Title: "SMs", Right: true}, {Title: "MHz", Right: true},
		{Title: "warps/SM", Right: true}, {Title: "L1 KiB", Right: true}, {Title: "L2 MiB", Right: true}, {Title: "DRAM GB/s", Right: true},
	}}
	seen := map[int]bool{}
	for _, m := range models {
		sm := "sm_" + strconv.Itoa(m.Arch)
		if !seen[m.Arch] {
			sm += " *"
		}
		seen[m.Arch] = true
		t.Add(m.Name, m.Product, sm, number(m.SMs.Value), number(m.Clock.Value/1e6), number(m.Limits.Warps.Value),
			number(m.L1.Unified.Value/1024), number(m.L2.Size.Value/(1<<20)), number(m.DRAM.Peak.Value/1e9))
	}
	t.Style = style
	if err := t.Render(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n* default GPU of its architecture; gpa arch NAME prints all figures of one\n")
	return err
}

// WriteModel prints every figure of a GPU.
func WriteModel(to io.Writer, m *arch.Model, style reports.Style) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "%s: %s, sm_%d\n\n", m.Name, m.Product, m.Arch)
	t := reports.Table{Columns: []reports.Column{{Title: "figure"}, {Title: "value", Right: true}, {Title: "unit"}, {Title: "source", Wrap: true}}}
	for _, f := range m.Figures() {
		t.Add(f.Name, number(f.Value), f.Unit, f.Source)
	}
	t.Style = style
	if err := t.Render(w); err != nil {
		return err
	}
	return w.Flush()
}

// number prints a value with as many digits as it has.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// A ModelsReport is what gpa arch --json prints.
type ModelsReport struct {
	GPUs []ModelReport `json:"gpus"`
}

// A ModelReport is a GPU.
type ModelReport struct {
	Name    string         `json:"name"`
	Product string         `json:"product"`
	Arch    string         `json:"arch"`
	Figures []FigureReport `json:"figures"`
}

// A FigureReport is a figure of a GPU with the source it was read from.
type FigureReport struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Source string  `json:"source"`
}

// NewModelsReport has every figure of models with its source.
func NewModelsReport(models []*arch.Model) ModelsReport {
	var out ModelsReport
	for _, m := range models {
		g := ModelReport{Name: m.Name, Product: m.Product, Arch: "sm_" + strconv.Itoa(m.Arch)}
		for _, f := range m.Figures() {
			g.Figures = append(g.Figures, FigureReport{f.Name, f.Value, f.Unit, f.Source})
		}
		out.GPUs = append(out.GPUs, g)
	}
	return out
}
