package main

import (
	"context"

	"github.com/spf13/pflag"

	"gpa/reports"
	"gpa/reports/listing"
)

// cfgFlags are the choices of gpa cfg.
type cfgFlags struct {
	moduleFlags
	json, dot, frontiers bool
	functions            []string
}

func cfgCommand() command {
	return command{
		name: "cfg", args: "CUBIN|KERNEL", short: "print control-flow graphs, call graph and loop nests",
		setup: func(flags *pflag.FlagSet) action {
			var f cfgFlags
			flags.BoolVar(&f.json, "json", false, "print JSON")
			flags.BoolVar(&f.dot, "dot", false, "print a graph for Graphviz")
			flags.BoolVar(&f.frontiers, "frontiers", false, "print thread frontiers, re-convergence points and interacting edges too")
			flags.StringArrayVar(&f.functions, "function", nil, "only this function, `NAME`, by symbol or demangled; may be repeated")
			f.register(flags)
			return withArgument("the cubin", f.run)
		},
	}
}

func (f *cfgFlags) run(_ context.Context, e *env, name string) error {
	if f.json && f.dot || f.frontiers && (f.json || f.dot) {
		return usagef("--json, --dot and --frontiers exclude each other")
	}
	module, err := f.open(name)
	if err != nil {
		return err
	}
	list, err := listing.Graphs(module, f.functions)
	if err != nil {
		return err
	}
	switch {
	case f.json:
		return reports.WriteJSON(e.stdout, listing.NewGraphReport(module, list))
	case f.dot:
		return listing.DOT(e.stdout, list)
	}
	return listing.GraphText(e.stdout, module, list, f.frontiers)
}
