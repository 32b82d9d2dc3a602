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
			flags.BoolVar(&f.portions, "sampling", false, "hold launches timed in portions against the whole launches instead")
			flags.BoolVar(&f.markdown, "markdown", false, "with --measured or --ladders, print tables in Markdown")
			flags.StringVar(&f.plot, "plot", "", "with --blame, draw single dependency coverage to an SVG `FILE`")
			flags.StringVar(&f.compare.gpu, "arch", "", "`GPU` to run on: a model as in v100, or sm_NN (default: by the cubin)")
			f.compare.machine.register(flags)
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
	portions   bool
	markdown   bool
	plot       string // SVG file
	compare    compareFlags
}

func (f *evaluateFlags) run(ctx context.Context, e *env, root string) error {
	v, err := f.evaluator(e)
	if err != nil {
		return err
	}
	switch {
	case f.markdown && (!f.measured && !f.ladders || f.portions || f.json):
		return usagef("--markdown goes with --measured or --ladders, and not with --json")
	case f.blame:
		return f.evaluateBlame(ctx, e, v, root)
	case f.plot != "":
		return usagef("--plot goes with --blame")
	case f.measured:
		return f.evaluateMeasured(ctx, e, v, root)
	case f.ladders:
		return f.evaluateLadders(ctx, e, v, root)
	case f.calibrates:
		return f.calibrate(ctx, e, v, root)
	case f.portions:
		return f.evaluateSampling(ctx, e, v, root)
	}
	return f.evaluatePairs(ctx, e, v, root)
}

// evaluator says how kernels run.
func (f *evaluateFlags) evaluator(e *env) (*evaluation.Evaluator, error) {
	o, err := f.compare.machine.options(e)
	return &evaluation.Evaluator{GPU: f.compare.gpu, Options: o}, err
}

func (f *evaluateFlags) evaluatePairs(ctx context.Context, e *env, v *evaluation.Evaluator, root string) error {
	x, err := v.Pairs(ctx, root)
	if err != nil {
		return err
	}
	if err := writeEvaluation(ctx, e, f, x, nil, reports.EvaluationText); err != nil {
		return err
	}
	return failed(evaluation.JudgePairs(x))
}

func (f *evaluateFlags) evaluateMeasured(ctx context.Context, e *env, v *evaluation.Evaluator, root string) error {
	x, err := v.Measured(ctx, root)
	var wrong *gpa.FailureError
	if errors.As(err, &wrong) {
		return failure{err}
	}
	if err != nil {
		return err
	}
	return writeEvaluation(ctx, e, f, x, reports.MeasuredMarkdown, reports.MeasuredText)
}

func (f *evaluateFlags) evaluateLadders(ctx context.Context, e *env, v *evaluation.Evaluator, root string) error {
	x, err := v.Ladders(ctx, root)
	if err != nil {
		return err
	}
	if err := writeEvaluation(ctx, e, f, x, reports.LadderMarkdown, reports.LadderText); err != nil {
		return err
	}
	return failed(evaluation.JudgeLadders(x))
}

func (f *evaluateFlags) evaluateSampling(ctx context.Context, e *env, v *evaluation.Evaluator, root string) error {
	x, err := v.Sampling(ctx, root)
	if err != nil {
		return err
	}
	return writeEvaluation(ctx, e, f, x, nil, reports.SamplingText)
}

func (f *evaluateFlags) calibrate(ctx context.Context, e *env, v *evaluation.Evaluator, root string) error {
	list, err := v.Calibrate(ctx, root)
	if err != nil {
		return err
	}
	return advisor.WriteCalibration(e.stdout, advisor.Calibrate(list))
}

// evaluateBlame writes the blame held against the true producers, and the plot where one is asked for.
func (f *evaluateFlags) evaluateBlame(ctx context.Context, e *env, v *evaluation.Evaluator, root string) error {
	v.LeftOut = func(file string, why error) { fmt.Fprintf(e.stderr, "left out: %s: %v\n", file, why) }
	x, err := v.Blame(ctx, root)
	if err != nil {
		return err
	}
	if err := files.Save(f.plot, func(w io.Writer) error { return reports.CoveragePlot(w, x) }); err != nil {
		return err
	}
	if f.json {
		err = reports.WriteJSON(e.stdout, x)
	} else {
		err = reports.BlameEvaluationText(e.stdout, x)
	}
	if err != nil {
		return err
	}
	return endedEarly(ctx)
}

// failed is a failure where err is one.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return failure{err}
}

// writeEvaluation prints an evaluation in the form that the flags ask for. It fails where ctx has ended.
func writeEvaluation[X any](ctx context.Context, e *env, f *evaluateFlags, x *X, markdown func(io.Writer, *X) error, text func(io.Writer, *X, reports.Style) error) error {
	var err error
	switch {
	case f.json:
		err = reports.WriteJSON(e.stdout, x)
	case f.markdown:
		err = markdown(e.stdout, x)
	default:
		err = text(e.stdout, x, e.style())
	}
	if err != nil {
		return err
	}
	return endedEarly(ctx)
}
