package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"gpa/emu/arch"
	"gpa/reports"
)

func archCommand() command {
	return command{
		name: "arch", args: "[NAME]", short: "list the GPU models, or print one with the sources of its figures",
		long: `NAME is a model, as in v100, or sm_NN for the default GPU of an architecture. Every figure has the source that it
was read from, or says "fitted" and to what.

--measure runs micro-benchmarks on the emulated GPU NAME, real machine code, and prints what they measure beside what
others have published of the hardware: latency against working set (KiB), bandwidth of streams (threads x blocks an SM)
and caches (KiB), results a cycle of chains of one instruction (warps), cycles of loads with lanes some elements apart or with
so many lanes at one bank of shared memory, and the sectors that such loads of global memory take.
It takes a minute or two.

--json prints {"gpus": [{"name", "product", "arch", "figures": [{"name", "value", "unit", "source"}]}]},
without NAME of all GPUs; with --measure {"gpu", "code", "measurements": [{"benchmark", "parameter", "emulated", "published",
"unit", "source"}]}.`,
		setup: func(flags *pflag.FlagSet) action {
			asJSON := flags.Bool("json", false, "print JSON")
			measure := flags.Bool("measure", false, "measure the emulated GPU with micro-benchmarks")
			return func(ctx context.Context, e *env, args []string) error {
				if *measure {
					return measureArch(ctx, e, args, *asJSON)
				}
				return printArch(e, args, *asJSON)
			}
		},
	}
}

func printArch(e *env, args []string, asJSON bool) error {
	if len(args) > 1 {
		return usagef("there is one argument at most, a GPU's name")
	}
	names := arch.Names()
	if len(args) == 1 {
		names = args
	}
	var models []*arch.Model
	for _, name := range names {
		m, err := arch.ByName(name)
		if err != nil {
			return usageError{err}
		}
		models = append(models, m)
	}
	switch {
	case asJSON:
		return reports.WriteJSON(e.stdout, archObject(models))
	case len(args) == 1:
		return printModel(e, models[0])
	}
	return printModels(e, models)
}

// printModels lists the GPUs with the figures that people know them by.
func printModels(e *env, models []*arch.Model) error {
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
	if err := e.table(e.stdout, &t); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.stdout, "\n* default GPU of its architecture; gpa arch NAME prints all figures of one\n")
	return err
}

// printModel prints every figure of a GPU.
func printModel(e *env, m *arch.Model) error {
	w := bufio.NewWriter(e.stdout)
	fmt.Fprintf(w, "%s: %s, sm_%d\n\n", m.Name, m.Product, m.Arch)
	t := reports.Table{Columns: []reports.Column{{Title: "figure"}, {Title: "value", Right: true}, {Title: "unit"}, {Title: "source", Wrap: true}}}
	for _, f := range m.Figures() {
		t.Add(f.Name, number(f.Value), f.Unit, f.Source)
	}
	if err := e.table(w, &t); err != nil {
		return err
	}
	return w.Flush()
}

// number prints a value with as many digits as it has.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// archJSON is what gpa arch --json prints.
type archJSON struct {
	GPUs []gpuJSON `json:"gpus"`
}

type gpuJSON struct {
	Name    string       `json:"name"`
	Product string       `json:"product"`
	Arch    string       `json:"arch"`
	Figures []figureJSON `json:"figures"`
}

type figureJSON struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Source string  `json:"source"`
}

func archObject(models []*arch.Model) archJSON {
	var out archJSON
	for _, m := range models {
		g := gpuJSON{Name: m.Name, Product: m.Product, Arch: "sm_" + strconv.Itoa(m.Arch)}
		for _, f := range m.Figures() {
			g.Figures = append(g.Figures, figureJSON{f.Name, f.Value, f.Unit, f.Source})
		}
		out.GPUs = append(out.GPUs, g)
	}
	return out
}
