package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"gpa"
	"gpa/blamer"
	"gpa/reports"
)

// evaluateBlameHelp is what the help of gpa evaluate says about --blame.
const evaluateBlameHelp = `With --blame, every launch.yaml under DIR is profiled, and the blame, which sees what hardware shows, is held against the
true producers, which the emulated GPU knows: the share of dependency-stall samples that are blamed on their producer, by
kernel, by the producer's class and by the rule that decided, by gpa's rules (agreement) and by those printed in the GPA
paper; best is what a blame can reach that looks at the samples of an instruction together, and overlap compares these
instruction by instruction: of the samples that a producer has caused, as many as are blamed on it. single is the share of the dependency graph's nodes with one dependency to blame, before and after pruning (the
paper's section 6.3); --plot draws it. --json prints {"kernels": [{"name", "samples", "agreement", "agreement_plain", "overlap", "best",
"single_dependency_before", "single_dependency_after"}], "by_class": […], "by_rule": […], "summary": {…,
"lowest_agreement"}}.`

// evaluateBlame profiles every launch file under a folder and holds the blame against the true producers.
func (f *evaluateFlags) evaluateBlame(ctx context.Context, e *env, root string) error {
	files, err := filesNamed(root, launchFileName)
	if err != nil {
		return err
	}
	x := new(reports.BlameEvaluation)
	for _, file := range files {
		launches, err := f.blameLaunches(ctx, file)
		if ctx.Err() != nil {
			break
		}
		if f.leftOut(err) {
			fmt.Fprintf(e.stderr, "left out: %s: %v\n", file, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		x.Add(launchName(filepath.ToSlash(name)), launches)
	}
	x.Sum()
	if err := f.printBlame(e, x); err != nil {
		return err
	}
	return endedEarly(ctx)
}

// faulted says that a kernel did not run to its end, so that its samples are not those of the kernel.
type faulted struct{ message string }

// Error is what the machine says of the fault.
func (f faulted) Error() string { return f.message }

// leftOut reports whether a kernel is none of the evaluation: on another GPU than its own it may have no cubin, or instructions that
// cannot be executed.
func (f *evaluateFlags) leftOut(err error) bool {
	var fault faulted
	return f.compare.gpu != "" && (errors.Is(err, fs.ErrNotExist) || errors.As(err, &fault))
}

// printBlame writes the evaluation, and the plot where one is asked for.
func (f *evaluateFlags) printBlame(e *env, x *reports.BlameEvaluation) error {
	if f.plot != "" {
		var svg bytes.Buffer
		if err := reports.CoveragePlot(&svg, x); err != nil {
			return err
		}
		if err := writeFile(f.plot, svg.Bytes()); err != nil {
			return err
		}
	}
	if f.json {
		return reports.WriteJSON(e.stdout, x)
	}
	return reports.BlameEvaluationText(e.stdout, x)
}

// launchName is the folder of a launch file.
func launchName(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, launchFileName), "/")
}

// blameLaunches profiles a launch file and blames its launches.
func (f *evaluateFlags) blameLaunches(ctx context.Context, file string) ([]*blamer.Result, error) {
	o, err := f.compare.machine.options(new(env))
	if err != nil {
		return nil, err
	}
	r, err := gpa.Load(file, gpa.LoadOptions{GPU: f.compare.gpu})
	if err != nil {
		return nil, err
	}
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
