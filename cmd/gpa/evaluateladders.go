package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gpa/advisor"
	"gpa/reports"
)

// ladderFile is the name of the file that describes a ladder.
const ladderFile = "ladder.json"

// evaluateLaddersHelp is what the help of gpa evaluate says about --ladders.
const evaluateLaddersHelp = `With --ladders, every folder under DIR with a ladder.json holds the versions of a kernel that was made faster step by step:

  {"about": "Transpose of a matrix", "beside": "digest", "versions": [{"version": "naive"},
   {"version": "tiled", "change": "a tile goes through shared memory", "optimizers": ["memory-coalescing"]}]}

VERSION.yaml is the launch file of a version. change is what sets it apart from the one before it, optimizers are those that stand for
the change, none where gpa has none; "kind" names one that is not quite any of them; "beside" names a kernel that is not timed, as one that condenses the outputs for the comparison. Of each
step the table has the speedup achieved, and the rank of the first of its optimizers in the advice on the costliest kernel of the version
before, with its estimate, what a what-if run of it has brought and the error |tried - achieved| / achieved. A ladder is in order where no version takes
longer than the one before it. The summary is of the steps that gain at least 2 %; those whose change is not among the first three
follow by name. The exit status is 1 where outputs are not as expected. --json prints {"ladders": [{"ladder", "about", "gpu", "versions": [{"version", "cycles",
"as_expected"}], "steps": [{"from", "to", "change", "kind", "optimizers", "achieved", "rank", "optimizer", "estimated", "tried", "error", "first"}],
"ordered"}], "summary": {"ladders", "versions", "ordered", "steps", "gaining", "first", "top3", "advised", "tried", "tried_error",
"bias"}}, --markdown the page that docs/advice.md ends with.`

// A ladderSpec is a ladder.json: the versions of a kernel, each with one more change that makes it faster.
type ladderSpec struct {
	About    string        `json:"about"`
	Beside   string        `json:"beside"` // a kernel that is not timed
	Versions []versionSpec `json:"versions"`
}

// A versionSpec is a version of a ladder; its launch file has its name.
type versionSpec struct {
	Version    string   `json:"version"`
	Change     string   `json:"change"`     // against the version before
	Optimizers []string `json:"optimizers"` // that stand for the change
	Kind       string   `json:"kind"`       // what the change is called where no optimizer is quite it
}

// evaluateLadders holds the advice on each version of every ladder against the next version.
func (f *evaluateFlags) evaluateLadders(ctx context.Context, e *env, root string) error {
	x := new(reports.LadderEvaluation)
	err := eachFile(e, root, ladderFile, "ladder", func(file string) error {
		l, err := f.ladder(ctx, e, root, file)
		if err == nil {
			x.Ladders = append(x.Ladders, *l)
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		return err
	}
	x.Sum()
	if err := writeEvaluation(ctx, e, f, x, reports.LadderMarkdown, reports.LadderText); err != nil {
		return err
	}
	return judgeLadders(x)
}

// ladder evaluates one ladder.
func (f *evaluateFlags) ladder(ctx context.Context, e *env, root, file string) (*reports.EvaluatedLadder, error) {
	spec, err := readLadder(file)
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(file)
	name, err := filepath.Rel(root, folder)
	if err != nil {
		return nil, err
	}
	if name == "." {
		name = filepath.Base(folder)
	}
	l := &reports.EvaluatedLadder{Ladder: filepath.ToSlash(name), About: spec.About}
	for i, v := range spec.Versions {
		side, err := f.compare.side(ctx, e, filepath.Join(folder, v.Version+".yaml"))
		if err != nil {
			return nil, err
		}
		if i+1 < len(spec.Versions) { // the advice on the last one has nothing to be held against
			if err := f.try(ctx, side, spec.Beside); err != nil {
				return nil, err
			}
		}
		l.GPU = side.Profile.Launches[0].GPU
		l.Add(reports.EvaluateVersion(v.Version, spec.Beside, &side.Result), reports.LadderStep{Change: v.Change, Kind: v.Kind, Optimizers: v.Optimizers})
	}
	return l, nil
}

func readLadder(file string) (*ladderSpec, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	spec := new(ladderSpec)
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(spec); err != nil {
		return nil, err
	}
	if len(spec.Versions) < 2 {
		return nil, errors.New(`"versions" are at least two`)
	}
	for i, v := range spec.Versions {
		switch {
		case v.Version == "":
			return nil, fmt.Errorf(`"version" is missing in version %d`, i+1)
		case (v.Change == "") != (i == 0):
			return nil, fmt.Errorf(`%s: "change" goes with every version but the first`, v.Version)
		}
		for _, o := range v.Optimizers {
			if !slices.ContainsFunc(advisor.Optimizers(), func(x advisor.Optimizer) bool { return x.Name() == o }) {
				return nil, fmt.Errorf("%s: there is no optimizer %q", v.Version, o)
			}
		}
	}
	return spec, nil
}

// judgeLadders is the exit status.
func judgeLadders(x *reports.LadderEvaluation) error {
	for _, l := range x.Ladders {
		for _, v := range l.Versions {
			if !v.AsExpected {
				return failure{fmt.Errorf("%s/%s: outputs are not as expected", l.Ladder, v.Version)}
			}
		}
	}
	return nil
}
