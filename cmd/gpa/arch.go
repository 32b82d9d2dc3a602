package main

import (
	"context"

	"github.com/spf13/pflag"

	"gpa/emu/arch"
	"gpa/reports"
	"gpa/reports/gpus"
)

func archCommand() command {
	return command{
		name: "arch", args: "[NAME]", short: "list the GPU models, or print one with the sources of its figures",
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
		return reports.WriteJSON(e.stdout, gpus.NewModelsReport(models))
	case len(args) == 1:
		return gpus.WriteModel(e.stdout, models[0], e.style())
	}
	return gpus.WriteModels(e.stdout, models, e.style())
}

// measureArch measures a GPU.
func measureArch(ctx context.Context, e *env, args []string, asJSON bool) error {
	name, err := oneArgument(args, "the GPU")
	if err != nil {
		return err
	}
	model, err := arch.ByName(name)
	if err != nil {
		return usageError{err}
	}
	out, err := gpus.Measure(ctx, model, e.progress.Stage)
	switch {
	case err != nil:
		return err
	case asJSON:
		return reports.WriteJSON(e.stdout, out)
	}
	return out.Text(e.stdout, e.style())
}
