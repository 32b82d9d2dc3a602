package convergence

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
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

// SubjectsOf compares the kernels of launch files, each by its folder, for tables. Those that cannot be compared are told and counted. It ends where
// ctx does.
func SubjectsOf(ctx context.Context, files []string, compare func(folder string) ([]Launch, error), leftOut func(file string, err error)) (subjects []Subject, failed int) {
	for _, name := range files {
		dir := filepath.Dir(name)
		list, err := compare(dir)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			leftOut(name, err)
			failed++
			continue
		}
		subjects = append(subjects, Subjects(filepath.Base(filepath.Dir(dir)), filepath.Base(dir), list)...)
	}
	return subjects, failed
}

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
	var sum instructionSum
	for _, s := range list {
		base := s.Run(models[0])
		cells := []string{s.title()}
		for _, m := range models {
			cells = append(cells, s.cell(m, func(r *Run) string {
				if base.Status != OK {
					return whole(r.WarpInstructions)
				}
				return fmt.Sprintf("%.3f", float64(r.WarpInstructions)/float64(base.WarpInstructions))
			}))
		}
		t.row(append(cells, s.cell(models[0], func(r *Run) string { return whole(r.WarpInstructions) }))...)
		sum.add(s, models)
	}
	if sum.kernels == 0 {
		return
	}
	cells := []string{fmt.Sprintf("the %d that all can run", sum.kernels)}
	for _, m := range models {
		cells = append(cells, fmt.Sprintf("%.3f", float64(sum.of[m])/float64(sum.of[models[0]])))
	}
	t.row(append(cells, whole(sum.of[models[0]]))...)
	sum.conclude(t)
}

// An instructionSum adds up warp instructions over the kernels that all models can run.
type instructionSum struct {
	of            map[string]int64
	kernels       int
	fewer, common int // kernels on which TF-STACK issues fewer warp instructions than PDOM, of those that both can run
}

func (x *instructionSum) add(s *Subject, models []string) {
	pdom, frontiers := s.Run((reconv.PDOM{}).Name()), s.Run((reconv.TFStack{}).Name())
	if pdom.Status == OK && frontiers.Status == OK {
		x.common++
		if frontiers.WarpInstructions < pdom.WarpInstructions {
			x.fewer++
		}
	}
	for _, m := range models {
		if s.Run(m).Status != OK {
			return
		}
	}
	if x.kernels++; x.of == nil {
		x.of = make(map[string]int64)
	}
	for _, m := range models {
		x.of[m] += s.Run(m).WarpInstructions
	}
}

// conclude writes what follows.
func (x *instructionSum) conclude(t *tables) {
	volta, frontiers, placed := x.of[(reconv.Volta{}).Name()], x.of[(reconv.TFStack{}).Name()], x.of[Placed]
	fmt.Fprintf(t, "\n`tf-stack` issues fewer warp instructions than `pdom` on %d of the %d kernels that both run to their end. "+
		"Over the kernels that all models can run, `volta` issues %d, `tf-stack` %d and `volta-tf` %d", x.fewer, x.common, volta, frontiers, placed)
	if gain := volta - frontiers; gain > 0 {
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
		cells := []string{s.title(), percent(active), percent(intrinsic), percent(extrinsic), percent(float64(total.Absent) / float64(total.Total())),
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
