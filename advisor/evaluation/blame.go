package evaluation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"gpa"
	"gpa/blamer"
	"gpa/kernels"
	"gpa/reports"
)

// Blame profiles every launch file under a folder and holds the blame against the true producers. Where ctx ends, what there is until then is the
// result.
func (v *Evaluator) Blame(ctx context.Context, root string) (*reports.BlameEvaluation, error) {
	files, err := FilesNamed(root, kernels.LaunchFile)
	if err != nil {
		return nil, err
	}
	x := new(reports.BlameEvaluation)
	for _, file := range files {
		launches, err := v.BlameLaunches(ctx, file)
		if ctx.Err() != nil {
			break
		}
		if v.isLeftOut(err) {
			if v.LeftOut != nil {
				v.LeftOut(file, err)
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return nil, err
		}
		x.Add(launchName(filepath.ToSlash(name)), launches)
	}
	x.Sum()
	return x, nil
}

// faulted says that a kernel did not run to its end, so that its samples are not those of the kernel.
type faulted struct{ message string }

// Error is what the machine says of the fault.
func (f faulted) Error() string { return f.message }

// isLeftOut reports whether a launch file is none of the evaluation: on another GPU than its own it may have no cubin, or instructions
// that cannot be executed.
func (v *Evaluator) isLeftOut(err error) bool {
	var fault faulted
	return v.GPU != "" && (errors.Is(err, fs.ErrNotExist) || errors.As(err, &fault))
}

// launchName is the folder of a launch file.
func launchName(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, kernels.LaunchFile), "/")
}

// BlameLaunches profiles a launch file and blames its launches.
func (v *Evaluator) BlameLaunches(ctx context.Context, file string) ([]*blamer.Result, error) {
	r, err := gpa.Load(file, gpa.LoadOptions{GPU: v.GPU})
	if err != nil {
		return nil, err
	}
	o := v.Options
	o.Stdout, o.Progress = nil, nil
	ran, err := r.Profile(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, l := range ran.Profile.Launches {
		if l.Fault != nil {
			return nil, faulted{l.Fault.Message}
		}
	}
	var launches []*blamer.Result
	for _, l := range ran.Profile.Launches {
		b, err := blamer.Analyze(l, r.Module, blamer.Options{})
		if err != nil {
			return nil, err
		}
		launches = append(launches, b)
	}
	return launches, nil
}
