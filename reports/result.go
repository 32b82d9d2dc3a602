// Package reports turns finished results into what people and programs read: the advice text, JSON, tables and profiles
// for pprof. It computes nothing about a kernel that the profile, the blamer and the advisor have not found, and knows
// nothing of the emulator: results on samples of a real GPU go the same way. [Text], [JSON] and [Pprof] are where to
// begin.
package reports

import (
	"gpa/advisor"
	"gpa/blamer"
	"gpa/cubin"
	"gpa/profiler"
)

// A Result is what is known of a sequence of launches.
type Result struct {
	Profile  *profiler.Profile
	Launches []LaunchResult // one for each launch of the profile, in its order
	Checks   []Check
}

// A LaunchResult is what is known of one launch besides its profile.
type LaunchResult struct {
	Blame    *blamer.Result    // nil where nothing was blamed
	Advice   []advisor.Advice  // best first
	Warnings []advisor.Warning // by address
	Limits   []advisor.Limit   // units that are busy nearly all the time
	Seconds  float64           // host time that the launch took, 0 for unknown
}

// launch returns the i-th launch with its result and its module.
func (r *Result) launch(i int) (*profiler.Launch, *LaunchResult, *cubin.File) {
	l := r.Profile.Launches[i]
	var found LaunchResult
	if i < len(r.Launches) {
		found = r.Launches[i]
	}
	return l, &found, r.Profile.Modules[l.Module]
}

// KernelName returns the kernel's name for people: demangled, with its template arguments, without its parameters; the
// symbol where that would fit two kernels of the module.
func KernelName(module *cubin.File, symbol string) string {
	name := symbol
	for _, k := range module.Kernels {
		if k.Name == symbol && k.Demangled != "" {
			name = k.Demangled
		}
	}
	for _, k := range module.Kernels {
		if k.Name != symbol && k.Demangled == name {
			return symbol
		}
	}
	return name
}

// WithoutHostTimes returns the result without what differs from one run to the next, as files need it.
func (r *Result) WithoutHostTimes() *Result {
	out := *r
	out.Launches = append([]LaunchResult(nil), r.Launches...)
	for i := range out.Launches {
		out.Launches[i].Seconds = 0
	}
	return &out
}
