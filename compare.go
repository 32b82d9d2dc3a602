package gpa

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gpa/emu/launch"
	"gpa/kernels"
	"gpa/reports"
)

// CompareOptions say how results are compared.
type CompareOptions struct {
	Optimizer string            // whose advice was followed; "" for the best of which most stalls have gone
	Tolerance *launch.Tolerance // within which outputs are equal, nil for that of the launch files
}

// A Comparison is what a change has brought.
type Comparison struct {
	*reports.Comparison
	Different []string // buffers that hold something else after the launches
}

// Compare holds a result against the one before a change, both with advice: cycles, stalls and lines by kernel, what the advice had promised, and,
// where both ran here, whether the outputs are equal.
func Compare(before, after *Result, o CompareOptions) (*Comparison, error) {
	compared, err := reports.Compare(&before.Result, &after.Result, o.reports(before, after))
	if err != nil {
		return nil, err
	}
	c := &Comparison{Comparison: compared}
	if before.session == nil || after.session == nil {
		return c, nil
	}
	checks, err := after.session.Against(before.session, o.Tolerance)
	if err != nil {
		return nil, err
	}
	for i := range checks {
		if !checks[i].OK() {
			c.Different = append(c.Different, checks[i].Buffer)
		}
	}
	for i := range c.Pairs {
		if len(checks) == 0 {
			break // nothing in common
		}
		equal := len(c.Different) == 0
		c.Pairs[i].OutputsEqual = &equal
	}
	return c, nil
}

// Failure is nil where no kernel after the change faulted, outputs are equal, and no speedup is below a limit.
func (c *Comparison) Failure(after *Result, minSpeedup float64) error {
	for _, l := range after.Profile.Launches {
		if l.Fault != nil {
			return &FailureError{fmt.Sprintf("kernel %s: %s", l.Kernel, l.Fault.Kind)}
		}
	}
	if len(c.Different) > 0 {
		return &FailureError{"outputs differ: " + strings.Join(slices.Sorted(slices.Values(c.Different)), ", ")}
	}
	for i := range c.Pairs {
		if wrong := c.Pairs[i].Wrong(minSpeedup); wrong != "" {
			return &FailureError{fmt.Sprintf("kernel %s: %s", c.Pairs[i].After.Kernel, wrong)}
		}
	}
	return nil
}

func (o *CompareOptions) reports(before, after *Result) reports.CompareOptions {
	return reports.CompareOptions{Optimizer: o.Optimizer, BeforeSource: before.Sources.Read, AfterSource: after.Sources.Read}
}

// ResultOf returns the result that a name stands for, with blame and advice: a saved one, of which nothing is tried, or that of a target, which is
// analyzed; with o.Keep.Memory it has what its launches left in memory.
func ResultOf(ctx context.Context, name string, from LoadOptions, o Options, a Analysis) (*Result, error) {
	defer o.stage(name)()
	if saved := SavedName(name); filepath.Ext(saved) == ".gpa" && isRegular(saved) {
		r, err := Open(saved)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(r.Blame(a.Blame), r.Advise(a.Advice)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return r, nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() && !isRegular(filepath.Join(name, kernels.LaunchFile)) {
		return nil, fmt.Errorf("%s is neither a saved result nor a kernel: it has no %s and no %s", name, SavedFile, kernels.LaunchFile)
	}
	t, err := Load(name, from)
	if err != nil {
		return nil, err
	}
	r, err := t.Analyze(ctx, o, a)
	if err == nil {
		err = r.Stopped
	}
	if err == nil && o.Keep.Memory {
		err = r.Recall(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
