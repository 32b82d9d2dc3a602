package listing

import (
	"fmt"
	"io"
	"strconv"

	"gpa/cubin"
	"gpa/cubin/rewrite"
	"gpa/reports"
)

// Changes prints what a pass did to each function.
func Changes(w io.Writer, r *rewrite.Rewritten) error {
	what := "are not structured"
	if r.Pass == rewrite.ReorderPass {
		what = "are scheduled anew"
	}
	_, err := fmt.Fprintf(w, "%s: %d of %d functions %s\n", r.File.Name, len(r.Changes), r.Total, what)
	for i := range r.Changes {
		c := &r.Changes[i]
		if c.Err != nil {
			_, err = fmt.Fprintf(w, "%s: unchanged: %v\n", c.Function, c.Err)
			continue
		}
		_, err = fmt.Fprintf(w, "%s: %s; %d → %d instructions (%.2f×)\n", c.Function, changed(r.Pass, c), c.Before, c.After, float64(c.After)/float64(c.Before))
	}
	return err
}

// changed counts what was done to a function.
func changed(pass rewrite.Pass, c *rewrite.Change) string {
	switch pass {
	case rewrite.RestructurePass:
		return fmt.Sprintf("%d forward copies, %d backward copies, %d cuts of %d edges, %d blocks copied",
			c.ForwardCopies, c.BackwardCopies, c.Cuts, c.CutEdges, c.CopiedBlocks)
	case rewrite.ReorderPass:
		return fmt.Sprintf("%d instructions moved", c.Moved)
	}
	return fmt.Sprintf("%d joins with a barrier, %d without", c.Joins, c.Dropped)
}

// Uncovered prints the dependences that a file's control codes do not cover, and returns how many there are.
func Uncovered(w io.Writer, file *cubin.File) (int, error) {
	found, err := rewrite.Check(file)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file.Name, err)
	}
	for _, x := range found {
		fmt.Fprintln(w, x)
	}
	if len(found) == 0 {
		_, err = fmt.Fprintf(w, "%s: all dependences are covered\n", file.Name)
	}
	return len(found), err
}

// Census prints the census of a file or of the cubins, fatbins, libraries and archives in a folder, as Table 1 of Wu et al. does.
func Census(w io.Writer, c *rewrite.FileCensus, name string) error {
	var total rewrite.Tally
	var table reports.Table
	for _, title := range []string{"functions", "unstructured", "irreducible", "forward copies", "backward copies", "cuts", "cut edges", "copied blocks", "of blocks"} {
		table.Columns = append(table.Columns, reports.Column{Title: title, Right: true})
	}
	table.Columns = append(table.Columns, reports.Column{Title: "file"})
	add := func(name string, t rewrite.Tally) {
		var cells []string
		for _, n := range []int{t.Functions, t.Unstructured, t.Irreducible, t.ForwardCopies, t.BackwardCopies, t.Cuts, t.CutEdges, t.CopiedBlocks, t.Blocks} {
			cells = append(cells, strconv.Itoa(n))
		}
		table.Add(append(cells, name)...)
	}
	each := *c
	each.Counted = func(path string, t rewrite.Tally) {
		total.Add(t)
		add(path, t)
	}
	if err := each.Walk(name); err != nil {
		return err
	}
	add("together", total)
	err := table.Render(w)
	if total.Failed > 0 {
		_, err = fmt.Fprintf(w, "%d unstructured functions cannot be made structured\n", total.Failed)
	}
	if total.Undecoded > 0 {
		_, err = fmt.Fprintf(w, "%d functions left out, with instructions that are not known\n", total.Undecoded)
	}
	return err
}
