package advisor

import "math"

// The estimators of section 5.2 of the paper. They take numbers of samples and return speedups, at least 1. At least
// one sample is taken to remain, so that every estimate is finite.

// EliminateStalls is Equation 2, T/(T-M): the speedup when the matched samples are gone.
func EliminateStalls(total, matched float64) float64 {
	return total0(total) / remaining(total, matched)
}

// HideLatency is Equation 4, T/(T-min(A, M^L)): the speedup when other instructions fill the matched latency samples.
// There are no more of these to move than the active samples. With the active samples of a loop and of the loops nested
// in it, or of a function, it is Equation 5.
func HideLatency(total, active, matchedLatency float64) float64 {
	return total0(total) / remaining(total, min(active, matchedLatency))
}

// ScopeSamples are the samples of one scope that Equation 5 takes.
type ScopeSamples struct {
	Active         float64 // active samples of the scope, nested ones included
	MatchedLatency float64
}

// HideLatencyInScopes is Equation 5 for several disjoint scopes of a kernel together: what each can hide adds up, and
// all together cannot hide more than the kernel has active samples.
func HideLatencyInScopes(total, active float64, scopes []ScopeSamples) float64 {
	hidden := 0.0
	for _, s := range scopes {
		hidden += min(s.Active, s.MatchedLatency)
	}
	return HideLatency(total, active, hidden)
}

// A Parallelism is a change of the warps that a scheduler holds.
type Parallelism struct {
	Warps       float64 // W, active warps of one scheduler now
	NewWarps    float64 // W_new
	IssuedRatio float64 // R_I, issued samples among all samples
	Factor      float64 // f, what else the optimizer expects to change; 1 where nothing
}

// IssueRate is Equations 8 and 9: the probability that at least one of the warps is ready when each is with the
// probability issuedRatio.
func IssueRate(issuedRatio, warps float64) float64 {
	return 1 - math.Pow(1-issuedRatio, warps)
}

// WarpRatio is C_W, Equation 6.
func (p Parallelism) WarpRatio() float64 { return p.NewWarps / p.Warps }

// IssueRatio is C_I, Equation 7.
func (p Parallelism) IssueRatio() float64 {
	return IssueRate(p.IssuedRatio, p.NewWarps) / IssueRate(p.IssuedRatio, p.Warps)
}

// Redistribute is Equation 10 for a change that spreads the same warps over more schedulers, so that each has C_W times
// the work.
func (p Parallelism) Redistribute() float64 {
	return p.orOne(1 / p.WarpRatio() * p.IssueRatio() * p.Factor)
}

// Occupy is Equation 10 for a change after which each scheduler has the same work and more of its warps resident at
// once: C_W, the ratio of the work, is 1.
func (p Parallelism) Occupy() float64 {
	return p.orOne(p.IssueRatio() * p.Factor)
}

// orOne makes what is no speedup, or no number, 1.
func (p Parallelism) orOne(speedup float64) float64 {
	if math.IsNaN(speedup) || math.IsInf(speedup, 0) {
		return 1
	}
	return max(1, speedup)
}

func total0(total float64) float64 { return max(total, 1) }

func remaining(total, gone float64) float64 {
	return max(total0(total)-max(gone, 0), 1)
}
