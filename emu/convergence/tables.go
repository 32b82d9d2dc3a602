package convergence

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"gpa/cubin/branch"
	"gpa/emu/activity"
	"gpa/emu/reconv"
)

// A Subject is a kernel of a launch file, its launches added up. Tables name it by suite and name.
type Subject struct {
	Suite, Name string
	Launch
}

// Subjects makes subjects of the launches of a file.
func Subjects(suite, file string, list []Launch) []Subject {
	var subjects []Subject
	sums := Sum(list)
	for i := range sums {
		name := file
		if len(sums) > 1 {
			name += " " + sums[i].Kernel.Demangled
		}
		subjects = append(subjects, Subject{suite, name, sums[i]})
	}
	return subjects
}

// TableRows lists the rows of a comparison that [WriteTables] needs.
func TableRows() []string { return append(Names(), Placed) }

// WriteTables writes tables like those of the three papers, in Markdown: Figures 5 to 8 of Thread Frontiers, Tables 1 to 3
// and Figures 13 to 15 of Wu et al., Figures 7 to 9 of Gupta and Datta.
func WriteTables(w io.Writer, subjects []Subject) error {
	t := &tables{Writer: bufio.NewWriter(w)}
	var unstructured []*Subject
	for i := range subjects {
		if subjects[i].Unstructured {
			unstructured = append(unstructured, &subjects[i])
		}
	}
	t.existence(subjects)
	t.transformations(unstructured)
	t.frontiers(unstructured)
	t.instructions(unstructured)
	t.activity(unstructured)
	t.memory(unstructured)
	t.expansion(unstructured)
	t.lanes(subjects)
	return t.Flush()
}

// tables writes Markdown.
type tables struct{ *bufio.Writer }

// begin writes a heading, what the columns are, and the head of a table whose first column is text.
func (t *tables) begin(title, text string, columns ...string) {
	fmt.Fprintf(t, "\n## %s\n\n%s\n\n| %s |\n|---|%s\n", title, text, strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)-1))
}

func (t *tables) row(cells ...string) { fmt.Fprintf(t, "| %s |\n", strings.Join(cells, " | ")) }

func (s *Subject) title() string { return s.Suite + "/" + s.Name }

func whole[N int | int64](n N) string { return fmt.Sprint(n) }

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// existence is Table 1 of Wu et al.
func (t *tables) existence(subjects []Subject) {
	type tally struct{ kernels, unstructured, forward, backward, cut, failed int }
	var suites []string
	counts := make(map[string]*tally)
	all := &tally{}
	for i := range subjects {
		s := &subjects[i]
		c := counts[s.Suite]
		if c == nil {
			c = &tally{}
			counts[s.Suite] = c
			suites = append(suites, s.Suite)
		}
		for _, c := range []*tally{c, all} {
			c.kernels++
			if !s.Unstructured {
				continue
			}
			c.unstructured++
			c.forward += min(s.ForwardCopies, 1)
			c.backward += min(s.BackwardCopies, 1)
			c.cut += min(s.Cuts, 1)
			if s.Err != "" {
				c.failed++
			}
		}
	}
	t.begin("Unstructured control flow (Wu et al., Table 1)", "Kernels with the functions that they call, and how many need which transformation.",
		"suite", "kernels", "unstructured", "forward copy", "backward copy", "cut", "cannot be changed")
	line := func(name string, c *tally) {
		t.row(name, whole(c.kernels), whole(c.unstructured), whole(c.forward), whole(c.backward), whole(c.cut), whole(c.failed))
	}
	for _, name := range suites {
		line(name, counts[name])
	}
	line("together", all)
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

// frontiers is Figure 5 of Thread Frontiers.
func (t *tables) frontiers(list []*Subject) {
	t.begin("Thread frontiers (Thread Frontiers, Figure 5)", "Exact frontiers of the blocks of a kernel and all that it calls.",
		"kernel", "blocks", "least", "mean", "most", "checks", "joins", "joins of PDOM")
	for _, s := range list {
		f := &s.Frontier
		t.row(s.title(), whole(f.Blocks), whole(f.Min), fmt.Sprintf("%.2f", f.Mean), whole(f.Max), whole(f.Checks), whole(f.TFJoins), whole(f.PDOMJoins))
	}
}

// compared are the models of Figures 6 to 8 with those that the paper does not have.
func compared() []string {
	return []string{(reconv.PDOM{}).Name(), Struct, (reconv.TFSandy{}).Name(), (reconv.TFStack{}).Name(), (reconv.Volta{}).Name(), Placed}
}

// cell prints a figure of a run, or why there is none.
func (s *Subject) cell(model string, figure func(*Run) string) string {
	switch r := s.Run(model); {
	case r == nil:
		return ""
	case r.Status != OK:
		return string(r.Status)
	default:
		return figure(r)
	}
}

// instructions is Figure 6 of Thread Frontiers, and with struct Figure 15 of Wu et al.
func (t *tables) instructions(list []*Subject) {
	models := append(compared(), Bound)
	t.begin("Warp instructions (Thread Frontiers, Figure 6; Wu et al., Figure 15)", "As parts of those of `pdom`, whose number is in the last column.",
		append(append([]string{"kernel"}, models...), "instructions")...)
	pdom, frontiers := (reconv.PDOM{}).Name(), (reconv.TFStack{}).Name()
	sums, fewer, ran := make(map[string]int64), 0, 0
	for _, s := range list {
		base := s.Run(pdom)
		cells := []string{s.title()}
		complete := true
		for _, m := range models {
			cells = append(cells, s.cell(m, func(r *Run) string {
				if base.Status != OK {
					return whole(r.WarpInstructions)
				}
				return fmt.Sprintf("%.3f", float64(r.WarpInstructions)/float64(base.WarpInstructions))
			}))
			complete = complete && s.Run(m).Status == OK
		}
		t.row(append(cells, s.cell(pdom, func(r *Run) string { return whole(r.WarpInstructions) }))...)
		if f := s.Run(frontiers); base.Status == OK && f.Status == OK {
			ran++
			if f.WarpInstructions < base.WarpInstructions {
				fewer++
			}
		}
		for _, m := range models {
			if complete {
				sums[m] += s.Run(m).WarpInstructions
			}
		}
	}
	if sums[pdom] == 0 {
		return
	}
	cells := []string{"together"}
	for _, m := range models {
		cells = append(cells, fmt.Sprintf("%.3f", float64(sums[m])/float64(sums[pdom])))
	}
	t.row(append(cells, whole(sums[pdom]))...)
	fmt.Fprintf(t, "\n`tf-stack` issues fewer warp instructions than `pdom` on %d of the %d kernels that both run to their end. ", fewer, ran)
	volta, placed := sums[(reconv.Volta{}).Name()], sums[Placed]
	fmt.Fprintf(t, "Over all that every model runs, `volta` issues %d, `tf-stack` %d and `volta-tf` %d", volta, sums[frontiers], placed)
	if gain := volta - sums[frontiers]; gain > 0 {
		fmt.Fprintf(t, ": barriers at the joins of thread frontiers have %s of the gain", percent(float64(volta-placed)/float64(gain)))
	}
	fmt.Fprintln(t, ".")
}

// activity is Figure 7 of Thread Frontiers.
func (t *tables) activity(list []*Subject) {
	t.begin("Activity factor (Thread Frontiers, Figure 7)", "Active lanes as a part of all lanes, of warps as wide as blocks; in brackets of warps of 32.",
		append([]string{"kernel"}, compared()...)...)
	for _, s := range list {
		cells := []string{s.title()}
		for _, m := range compared() {
			cells = append(cells, s.cell(m, func(r *Run) string { return fmt.Sprintf("%s (%s)", percent(r.BlockFactor()), percent(r.Factor())) }))
		}
		t.row(cells...)
	}
}

// memory is Figure 8 of Thread Frontiers.
func (t *tables) memory(list []*Subject) {
	t.begin("Memory efficiency (Thread Frontiers, Figure 8)", "The inverse of the mean number of 128-byte lines that a warp's access to global memory touches.",
		append([]string{"kernel"}, compared()...)...)
	for _, s := range list {
		cells := []string{s.title()}
		for _, m := range compared() {
			cells = append(cells, s.cell(m, func(r *Run) string {
				if r.MemoryInstructions == 0 {
					return ""
				}
				return fmt.Sprintf("%.3f", r.MemoryEfficiency())
			}))
		}
		t.row(cells...)
	}
}

// expansion is Table 3 of Wu et al. with the figure that it is the upper limit of.
func (t *tables) expansion(list []*Subject) {
	t.begin("Dynamic code expansion (Wu et al., Table 3 and Figure 14)",
		"Warp instructions of `pdom`; those that divergent warps issue in blocks that forward copies duplicate, which is the paper's upper limit; "+
			"and those that `tf-stack` does not issue. The limit knows nothing of loops that a cut changes.",
		"kernel", "instructions", "in duplicated blocks", "limit", "issued again", "expansion")
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

// lanes are Figures 7 to 9 of Gupta and Datta, for the kernels that lose lanes to branches.
func (t *tables) lanes(subjects []Subject) {
	t.begin("Lanes and branches (Gupta and Datta, Figures 7 to 9)",
		"Under `volta`: lanes that were active, inactive because of an intrinsic or an extrinsic branch, or without a thread; the part of the "+
			"intrinsic branches among all branches, and among those that warps executed; the part of the lanes that took intrinsic and extrinsic "+
			"branches. Kernels that lose less than a thousandth of their lanes to branches are left out.",
		"kernel", "active", "intrinsic", "extrinsic", "no thread", "static", "dynamic", "int. taken", "ext. taken")
	for i := range subjects {
		s := &subjects[i]
		if s.Activity == nil {
			continue
		}
		total := s.Activity.Total()
		active, intrinsic, extrinsic := total.Fractions()
		if intrinsic+extrinsic < 0.001 {
			continue
		}
		classes := activity.Classes(s.Activity.Branches)
		static, dynamic := activity.Shares(classes)
		cells := []string{s.title(), percent(active), percent(intrinsic), percent(extrinsic), percent(1 - active - intrinsic - extrinsic),
			percent(static[branch.Intrinsic]), percent(dynamic[branch.Intrinsic])}
		for _, kind := range []branch.Type{branch.Intrinsic, branch.Extrinsic} {
			taken := ""
			if c := &classes[kind]; c.Instances > 0 {
				taken = fmt.Sprintf("%.3f", c.TakenFraction())
			}
			cells = append(cells, taken)
		}
		t.row(cells...)
	}
}
