package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/advisor"
	"gpa/advisor/evaluation"
	"gpa/reports"
	"gpa/reports/files"
)

func evaluateCommand() command {
	return command{
		runs: true, name: "evaluate", args: "DIR", short: "hold the advice against pairs of kernels before and after a change or ladders of them, the blame against the truth, or the time against measured one",
		setup: func(flags *pflag.FlagSet) action {
			var f evaluateFlags
			flags.BoolVar(&f.json, "json", false, "print JSON")
			flags.BoolVar(&f.blame, "blame", false, "hold the blame against the true producers instead")
			flags.BoolVar(&f.measured, "measured", false, "hold emulated launches against measured ones instead")
			flags.BoolVar(&f.ladders, "ladders", false, "hold the advice against ladders of versions instead")
			flags.BoolVar(&f.calibrates, "calibrate", false, "count how estimates come out when they are tried, over pairs and ladders")
			flags.BoolVar(&f.sampling, "sampling", false, "hold launches timed in part against the whole launches instead")
			flags.BoolVar(&f.markdown, "markdown", false, "with --measured or --ladders, print tables in Markdown")
			flags.StringVar(&f.plot, "plot", "", "with --blame, draw single dependency coverage to an SVG `FILE`")
			flags.StringVar(&f.compare.gpu, "arch", "", "`GPU` to run on: a model as in v100, or sm_NN (default: by the cubin)")
			f.compare.machine.register(flags)
			f.compare.store.register(flags)
			return withArgument("the folder", f.run)
		},
	}
}

// evaluateFlags are the flags of gpa evaluate.
type evaluateFlags struct {
	json       bool
	blame      bool
	measured   bool
	ladders    bool
	calibrates bool
	sampling   bool
	markdown   bool
	plot       string // SVG file
	compare    compareFlags
}

func (f *evaluateFlags) run(ctx context.Context, e *env, root string) error {
	o, err := f.compare.options(e)
	if err != nil {
		return err
	}
	v := &evaluation.Evaluator{GPU: f.compare.gpu, Options: o}
	switch {
	case f.markdown && (!f.measured && !f.ladders || f.sampling || f.json):
		return usagef("--markdown goes with --measured or --ladders, and not with --json")
	case f.plot != "" && !f.blame:
		return usagef("--plot goes with --blame")
	case f.blame:
		v.LeftOut = func(file string, why error) { fmt.Fprintf(e.stderr, "left out: %s: %v\n", file, why) }
		plotted := func(ctx context.Context, root string) (*reports.BlameEvaluation, error) {
			x, err := v.Blame(ctx, root)
			if err != nil {
				return nil, err
			}
			return x, files.Save(f.plot, func(w io.Writer) error { return reports.CoveragePlot(w, x) })
		}
		text := func(w io.Writer, x *reports.BlameEvaluation, _ reports.Style) error {
			return reports.BlameEvaluationText(w, x)
		}
		return evaluate(ctx, e, f, root, plotted, nil, text, nil)
	case f.measured:
		return evaluate(ctx, e, f, root, v.Measured, reports.MeasuredMarkdown, reports.MeasuredText, nil)
	case f.ladders:
		return evaluate(ctx, e, f, root, v.Ladders, reports.LadderMarkdown, reports.LadderText, evaluation.JudgeLadders)
	case f.calibrates:
		list, err := v.Calibrate(ctx, root)
		if err != nil {
			return err
		}
		return advisor.WriteCalibration(e.stdout, advisor.Calibrate(list))
	case f.sampling:
		return evaluate(ctx, e, f, root, v.Sampling, nil, reports.SamplingText, nil)
	}
	return evaluate(ctx, e, f, root, v.Pairs, nil, reports.EvaluationText, evaluation.JudgePairs)
}

// evaluate runs an evaluation, prints it in the form that the flags ask for, and judges it. It fails where ctx has ended.
func evaluate[X any](ctx context.Context, e *env, f *evaluateFlags, root string, run func(context.Context, string) (*X, error),
	markdown func(io.Writer, *X) error, text func(io.Writer, *X, reports.Style) error, judge func(*X) error) error {
	x, err := run(ctx, root)
	var wrong *gpa.FailureError
	switch {
	case errors.As(err, &wrong):
		return failure{err}
	case err != nil:
		return err
	case f.json:
		err = reports.WriteJSON(e.stdout, x)
	case f.markdown:
		err = markdown(e.stdout, x)
	default:
		err = text(e.stdout, x, e.style())
	}
	if err == nil {
		err = endedEarly(ctx)
	}
	if err != nil || judge == nil {
		return err
	}
	return failed(judge(x))
}
