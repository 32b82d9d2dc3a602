package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gpa"
	"gpa/reports"
)

// PairFile is the name of the file that describes a pair.
const PairFile = "pair.json"

// A Pair is a pair.json: a kernel before and after a change that an optimizer should advise, or a kernel at which an
// optimizer must stay silent.
type Pair struct {
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

// Pairs holds the advice against the pairs under a folder. Where ctx ends, the pairs until then are the result.
func (v *Evaluator) Pairs(ctx context.Context, root string) (*reports.Evaluation, error) {
	x := new(reports.Evaluation)
	v.Options.Keep.Memory = true
	err := v.eachFile(root, PairFile, "pair", func(file string) error {
		p, err := v.pair(ctx, root, file)
		if err == nil {
			x.Pairs = append(x.Pairs, *p)
		}
		return err
	})
	if err != nil && (ctx.Err() == nil || len(x.Pairs) == 0) {
		return nil, err
	}
	x.Sum()
	return x, nil
}

// pair evaluates one pair.
func (v *Evaluator) pair(ctx context.Context, root, file string) (*reports.EvaluatedPair, error) {
	spec, err := ReadPair(file)
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(file)
	name, err := filepath.Rel(root, folder)
	if err != nil {
		return nil, err
	}
	before, err := v.result(ctx, filepath.Join(folder, spec.Before), &gpa.TryOptions{})
	if err != nil {
		return nil, err
	}
	if spec.Silent != "" {
		return reports.EvaluateSilence(filepath.ToSlash(name), spec.Silent, &before.Result), nil
	}
	after, err := v.result(ctx, filepath.Join(folder, spec.After), nil)
	if err != nil {
		return nil, err
	}
	if before.Session() == nil || after.Session() == nil {
		return nil, fmt.Errorf("outputs are compared: %w", gpa.ErrNotRun)
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

// ReadPair reads and checks a pair.json.
func ReadPair(file string) (*Pair, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	spec := new(Pair)
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

// JudgePairs is the error of pairs whose outputs differ, and of optimizers that are not silent where they must be.
func JudgePairs(x *reports.Evaluation) error {
	for _, p := range x.Pairs {
		switch {
		case p.Silent != nil && !*p.Silent:
			return fmt.Errorf("%s: %s is not silent", p.Pair, p.Optimizer)
		case p.Silent == nil && !p.OutputsEqual:
			return fmt.Errorf("%s: outputs differ", p.Pair)
		}
	}
	return nil
}
