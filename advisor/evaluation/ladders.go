package evaluation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gpa"
	"gpa/advisor"
	"gpa/reports"
)

// LadderFile is the name of the file that describes a ladder.
const LadderFile = "ladder.json"

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

// Ladders holds the advice on each version of every ladder under a folder against the next version. Where ctx ends, what there is until then is the
// result.
func (v *Evaluator) Ladders(ctx context.Context, root string) (*reports.LadderEvaluation, error) {
	x := new(reports.LadderEvaluation)
	err := v.eachFile(root, LadderFile, "ladder", func(file string) error {
		l, err := v.ladder(ctx, root, file)
		if err == nil {
			x.Ladders = append(x.Ladders, *l)
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	x.Sum()
	return x, nil
}

// ladder evaluates one ladder.
func (v *Evaluator) ladder(ctx context.Context, root, file string) (*reports.EvaluatedLadder, error) {
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
	for i, version := range spec.Versions {
		var try *gpa.TryOptions
		if i+1 < len(spec.Versions) { // the advice on the last one has nothing to be held against
			try = &gpa.TryOptions{Beside: spec.Beside}
		}
		side, err := v.result(ctx, filepath.Join(folder, version.Version+".yaml"), try)
		if err != nil {
			return nil, err
		}
		l.GPU = side.Profile.Launches[0].GPU
		l.Add(reports.EvaluateVersion(version.Version, spec.Beside, &side.Result), reports.LadderStep{Change: version.Change, Kind: version.Kind, Optimizers: version.Optimizers})
	}
	return l, nil
}

// readLadder reads and checks a ladder.json.
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

// JudgeLadders is the error of ladders with a version whose outputs are not as expected.
func JudgeLadders(x *reports.LadderEvaluation) error {
	for _, l := range x.Ladders {
		for _, v := range l.Versions {
			if !v.AsExpected {
				return fmt.Errorf("%s/%s: outputs are not as expected", l.Ladder, v.Version)
			}
		}
	}
	return nil
}
