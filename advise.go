package gpa

import (
	"fmt"

	"gpa/advisor"
	"gpa/blamer"
	"gpa/reports"
)

// Blame attributes the stalls of each launch to the instructions that cause them, and finds what limits the launch and what its code risks:
// Launches[i].Blame, Limits and Warnings.
func (r *Result) Blame(o blamer.Options) error {
	if r.Launches == nil {
		r.Launches = make([]reports.LaunchResult, len(r.Profile.Launches))
	}
	warnings := make(map[string][]advisor.Warning) // by module and kernel
	for i, l := range r.Profile.Launches {
		blame, err := blamer.Analyze(l, r.Profile.Modules[l.Module], o)
		if err != nil {
			return err
		}
		r.Launches[i].Blame = blame
		if r.Launches[i].Limits, err = advisor.Limits(blame); err != nil {
			return err
		}
		key := fmt.Sprintf("%d %s", l.Module, l.Kernel)
		if _, ok := warnings[key]; !ok {
			if warnings[key], err = advisor.Warnings(r.Profile.Modules[l.Module], l.Kernel); err != nil {
				return err
			}
		}
		r.Launches[i].Warnings = warnings[key]
	}
	return nil
}

// blamed blames by the default rules what is not blamed.
func (r *Result) blamed() error {
	for i := range r.Profile.Launches {
		if i >= len(r.Launches) || r.Launches[i].Blame == nil {
			return r.Blame(blamer.Options{})
		}
	}
	return nil
}

// AdviceOptions say which advice is listed.
type AdviceOptions struct {
	All bool // also what gains less than 2 % or makes the kernel slower
	// Beside is a kernel with which no other one is made one.
	Beside string
}

// Advise ranks the changes of each launch that are worth making, the best first: Launches[i].Advice. What-if runs that the profile holds count
// before estimates. A result that was not blamed is.
func (r *Result) Advise(o AdviceOptions) error {
	if err := r.blamed(); err != nil {
		return err
	}
	joined := r.Profile.Joined(o.Beside)
	for i := range r.Launches {
		opt := advisor.Options{Candidates: o.All, Tries: r.Profile.Launches[i].Tries, Alternatives: r.Profile.Launches[i].Alternatives, Chains: r.Profile.Chains(i), Joined: r.Profile.JoinedOf(joined, i), Precise: r.Profile.Precise}
		var err error
		if r.Launches[i].Advice, err = advisor.Advise(r.Launches[i].Blame, opt); err != nil {
			return err
		}
	}
	return nil
}
