package advisor

import (
	"gpa/blamer"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// A redirect are the samples of an instruction that belong to branches that lead there: warps show wait until a branch is
// looked at, branch_resolving until its target is known, and no_instructions while the instruction comes from the
// instruction cache, in which it is ([gpa/emu/arch.Issue]).
type redirect struct {
	wait, resolving, fetch float64
}

func (r redirect) all() float64 { return r.wait + r.resolving + r.fetch }

// redirect tells what of an instruction's samples a redirect is: all with branch_resolving, and as many of the others as
// go with those.
func (in *Input) redirect(n blamer.Node) redirect {
	r := redirect{resolving: in.samplesAt(n, stall.BranchResolving)}
	if r.resolving == 0 {
		return r
	}
	m := &in.Model.Issue
	before := m.Branch.Value - m.Resolving.Value
	begins, resolving, fetch := before-1, m.Resolving.Value, m.Refetch.Value
	if n.Inst > 0 && in.Inst(blamer.Node{Code: n.Code, Inst: n.Inst - 1}).Op == sass.BSYNC {
		resolving, fetch = m.Sync.Value-before, 0
	}
	if resolving <= 0 {
		return r
	}
	r.wait = min(in.samplesAt(n, stall.Wait), r.resolving*max(0, begins)/resolving)
	r.fetch = min(in.samplesAt(n, stall.NoInstructions), r.resolving*fetch/resolving)
	return r
}

// missedFetches is the number of samples in which warps wait for instructions that are not in the cache next to the
// schedulers.
func (in *Input) missedFetches() float64 {
	sum := in.ByReason[stall.NoInstructions]
	for code, c := range in.codes {
		if c == nil {
			continue
		}
		for i := range c.total {
			sum -= in.redirect(blamer.Node{Code: code, Inst: i}).fetch
		}
	}
	return max(0, sum)
}
