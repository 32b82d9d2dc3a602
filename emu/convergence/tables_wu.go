package convergence

import (
	"fmt"

	"gpa/emu/reconv"
)

// A tally counts kernels by what makes them structured.
type tally struct{ kernels, unstructured, forward, backward, cut, refused int }

func (c *tally) add(s *Subject) {
	c.kernels++
	if !s.Unstructured {
		return
	}
	c.unstructured++
	c.forward += min(s.ForwardCopies, 1)
	c.backward += min(s.BackwardCopies, 1)
	c.cut += min(s.Cuts, 1)
	if s.Err != "" {
		c.refused++
	}
}

// existence is Table 1 of Wu et al.
func (t *tables) existence(subjects []Subject) {
	var suites []string
	counts, all := make(map[string]*tally), &tally{}
	for i := range subjects {
		s := &subjects[i]
		if counts[s.Suite] == nil {
			counts[s.Suite] = &tally{}
			suites = append(suites, s.Suite)
		}
		counts[s.Suite].add(s)
		all.add(s)
	}
	t.begin("Unstructured control flow (Wu et al., Table 1)", "Kernels with the functions that they call, and how many need which transformation.",
		"suite", "kernels", "unstructured", "forward copy", "backward copy", "cut", "cannot be changed")
	for _, name := range append(suites, "together") {
		c := counts[name]
		if c == nil {
			c = all
		}
		t.row(name, whole(c.kernels), whole(c.unstructured), whole(c.forward), whole(c.backward), whole(c.cut), whole(c.refused))
	}
}

// transformations is Table 2 of Wu et al., whose expansion is in their Figure 13.
func (t *tables) transformations(list []*Subject) {
	t.begin("Transformations (Wu et al., Table 2 and Figure 13)",
		"What makes the functions of a kernel structured. Sizes are instructions of machine code. The time that it takes is in `gpa reconverge --json`.",
		"kernel", "branches", "cuts", "cut edges", "forward copies", "backward copies", "copied blocks", "old size", "new size", "expansion")
	sum, kernels := 0.0, 0
	for _, s := range list {
		if s.Err != "" {
			t.row(s.title(), whole(s.branches()), "", "", "", "", "", whole(s.Before), "", "")
			continue
		}
		t.row(s.title(), whole(s.branches()), whole(s.Cuts), whole(s.CutEdges), whole(s.ForwardCopies), whole(s.BackwardCopies),
			whole(s.CopiedBlocks), whole(s.Before), whole(s.After), percent(s.StaticExpansion()))
		if s.ForwardCopies > 0 {
			sum += s.StaticExpansion()
			kernels++
		}
	}
	if kernels > 0 {
		fmt.Fprintf(t, "\nMean expansion of the %d kernels with forward copies: %s (in the paper 18.7%% of 22).\n", kernels, percent(sum/float64(kernels)))
	}
}

func (s *Subject) branches() int {
	if s.Activity == nil {
		return 0
	}
	return len(s.Activity.Branches)
}

// expansion is Table 3 of Wu et al. with the figure that it is the upper limit of.
func (t *tables) expansion(list []*Subject) {
	t.begin("Dynamic code expansion (Wu et al., Table 3 and Figure 14)",
		"Warp instructions of `pdom`; those that divergent warps issue in blocks that the transformation duplicates, which is the paper's upper limit, "+
			"in loops that it cuts, or in called functions; and those that `tf-stack` does not issue.",
		"kernel", "instructions", "in these blocks", "limit", "issued again", "expansion")
	for _, s := range list {
		limit, ok := s.ExpansionLimit()
		share, okShare := s.DynamicExpansion()
		if !ok || !okShare {
			continue
		}
		total := s.Run((reconv.PDOM{}).Name()).WarpInstructions
		t.row(s.title(), whole(total), whole(s.Repeated), percent(limit),
			whole(total-s.Run((reconv.TFStack{}).Name()).WarpInstructions), percent(share))
	}
}
