package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/reports"
)

// pairFile is the name of the file that describes a pair.
const pairFile = "pair.json"

// A pairSpec is a pair.json: a kernel before and after a change that an optimizer should advise, or a kernel at which an
// optimizer must stay silent.
type pairSpec struct {
	Before    string `json:"before"` // folders or launch files, relative to the file
	After     string `json:"after"`
	Optimizer string `json:"optimizer"`
	Changed   []int  `json:"changed"` // lines of the source before that the change is about
	Silent    string `json:"silent"`  // instead of Optimizer and After
	// HeldOut: the pair was written after the estimators. SameChange: what the advice is tried by is what After does.
	HeldOut    bool `json:"held_out"`
	SameChange bool `json:"same_change"`
	// Row is the row of the GPA paper's Table 3 whose pattern the pair has.
	Row string `json:"row"`
}

func evaluateCommand() command {
	return command{
		runs: true, name: "evaluate", args: "DIR", short: "hold the advice against pairs of kernels before and after a change or ladders of them, the blame against the truth, or the time against measured one",
		long: `Every folder under DIR with a pair.json is a pair:

  {"before": "../../stencil/hotspot", "after": "../../stencil/hotspot_float",
   "optimizer": "strength-reduction", "changed": [33, 34, 35, 36]}

before and after are launch files or their folders; changed are the lines of the source before that the change is about.
"held_out": true marks a pair that was written when the estimators were finished, "same_change": true one whose change is the very
one that the what-if run makes; both are summed up apart. "row" names the row of the GPA paper's Table 3 whose pattern a pair has.
{"before": "…", "silent": "loop-unrolling"} is a kernel at which an optimizer must stay silent.

The table is that of the GPA paper's Table 3: the rank of the pair's optimizer in the advice on the kernel before, the
speedup that it estimates, the one that a what-if run has brought (see gpa profile --try), the one achieved, and the error
|estimated - achieved| / achieved. line says whether a changed
line is among its five hottest; left is the share of its stalls that the kernel after still has, then what the optimizer still
promises there.
The exit status is 1 where outputs differ or an optimizer is not silent that must be.

--json prints {"pairs": [{"pair", "optimizer", "rank", "estimated", "tried", "achieved", "error", "line", "left",
"then", "rank_then", "row", "outputs_equal", "silent", "held_out", "same_change"}], "summary": {"pairs", "first", "top3", "lines", "mean_error", "median_error",
"max_error", "tried", "tried_error"}, "held_out": {as summary}}.

` + evaluateBlameHelp + `

` + evaluateLaddersHelp + `

` + evaluateCalibrationHelp + `

` + evaluateMeasuredHelp + `

` + evaluateSamplingHelp,
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
			return f.run
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

func (f *evaluateFlags) run(ctx context.Context, e *env, args []string) error {
	root, err := oneArgument(args, "the folder")
	if err != nil {
		return err
	}
	switch {
	case f.markdown && (!f.measured && !f.ladders || f.portions || f.json):
		return usagef("--markdown goes with --measured or --ladders, and not with --json")
	case f.blame:
		return f.evaluateBlame(ctx, e, root)
	case f.plot != "":
		return usagef("--plot goes with --blame")
	case f.measured:
		return f.evaluateMeasured(ctx, e, root)
	case f.ladders:
		return f.evaluateLadders(ctx, e, root)
	case f.calibrates:
		return f.calibrate(ctx, e, root)
	case f.portions:
		return f.evaluateSampling(ctx, e, root)
	}
	evaluation := &reports.Evaluation{}
	err = eachFile(e, root, pairFile, "pair", func(file string) error {
		p, err := f.pair(ctx, e, root, file)
		if err == nil {
			evaluation.Pairs = append(evaluation.Pairs, *p)
		}
		return err
	})
	if err != nil && (ctx.Err() == nil || len(evaluation.Pairs) == 0) {
		return err
	}
	evaluation.Sum()
	if err := writeEvaluation(ctx, e, f, evaluation, nil, reports.EvaluationText); err != nil {
		return err
	}
	return judgeEvaluation(evaluation)
}

// eachFile calls do with every file of a name under a folder, up to the first error.
func eachFile(e *env, root, name, what string, do func(file string) error) error {
	files, err := filesNamed(root, name)
	if err != nil {
		return err
	}
	for i, file := range files {
		end := e.progress.stage("%s %d of %d", what, i+1, len(files))
		err := do(file)
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
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

// pair evaluates one pair.
func (f *evaluateFlags) pair(ctx context.Context, e *env, root, file string) (*reports.EvaluatedPair, error) {
	spec, err := readPair(file)
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(file)
	name, err := filepath.Rel(root, folder)
	if err != nil {
		return nil, err
	}
	before, err := f.compare.side(ctx, e, filepath.Join(folder, spec.Before))
	if err != nil {
		return nil, err
	}
	if err := f.try(ctx, before, ""); err != nil {
		return nil, err
	}
	if spec.Silent != "" {
		return reports.EvaluateSilence(filepath.ToSlash(name), spec.Silent, &before.Result), nil
	}
	after, err := f.compare.side(ctx, e, filepath.Join(folder, spec.After))
	if err != nil {
		return nil, err
	}
	p := reports.EvaluatePair(filepath.ToSlash(name), spec.Optimizer, spec.Changed, &before.Result, &after.Result)
	p.HeldOut, p.SameChange, p.Row = spec.HeldOut, spec.SameChange, spec.Row
	checks, err := after.Session().Against(before.Session(), nil)
	if err != nil {
		return nil, err
	}
	p.OutputsEqual = true
	for i := range checks {
		p.OutputsEqual = p.OutputsEqual && checks[i].OK()
	}
	return p, nil
}

// try tries the advice on a kernel that ran here, as gpa profile does, but for that on the kernel beside.
func (f *evaluateFlags) try(ctx context.Context, side *gpa.Result, beside string) error {
	if side.Session() == nil {
		return nil
	}
	return side.Try(ctx, gpa.TryOptions{Beside: beside})
}

func readPair(file string) (*pairSpec, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	spec := new(pairSpec)
	if err := json.Unmarshal(data, spec); err != nil {
		return nil, err
	}
	switch {
	case spec.Before == "":
		return nil, errors.New(`"before" is missing`)
	case (spec.Optimizer == "") == (spec.Silent == ""):
		return nil, errors.New(`one of "optimizer" and "silent" is needed`)
	case spec.Optimizer != "" && spec.After == "":
		return nil, errors.New(`"after" is missing`)
	}
	return spec, nil
}

// judgeEvaluation is the exit status.
func judgeEvaluation(x *reports.Evaluation) error {
	for _, p := range x.Pairs {
		switch {
		case p.Silent != nil && !*p.Silent:
			return failure{fmt.Errorf("%s: %s is not silent", p.Pair, p.Optimizer)}
		case p.Silent == nil && !p.OutputsEqual:
			return failure{fmt.Errorf("%s: outputs differ", p.Pair)}
		}
	}
	return nil
}
