package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"gpa/cubin"
	"gpa/cubin/rewrite"
	"gpa/reports"
	"gpa/reports/files"
)

// rewriteFlags are the choices of gpa rewrite.
type rewriteFlags struct {
	check       bool
	restructure bool
	reorder     bool
	census      bool
	arch        string
	reconverge  string
	out         string
}

func rewriteCommand() command {
	return command{
		name: "rewrite", args: "CUBIN|KERNEL", short: "restructure a cubin, place its barriers anew, reorder it, or check its control codes",
		setup: func(flags *pflag.FlagSet) action {
			var f rewriteFlags
			flags.BoolVar(&f.check, "check", false, "check that control codes cover every dependence")
			flags.BoolVar(&f.restructure, "restructure", false, "make control flow structured")
			flags.BoolVar(&f.reorder, "reorder", false, "schedule the instructions of each block anew")
			flags.StringVar(&f.reconverge, "reconverge", "", "place convergence barriers as `MODEL` re-converges: tf")
			flags.BoolVar(&f.census, "census", false, "count unstructured functions and what they need")
			flags.StringVar(&f.arch, "arch", "", "with --census: only code for this architecture, `sm_NN`")
			flags.StringVarP(&f.out, "output", "o", "", "write the new cubin to `FILE`")
			return func(_ context.Context, e *env, args []string) error {
				name, err := oneArgument(args, "the cubin")
				if err != nil {
					return err
				}
				return f.run(e, name)
			}
		},
	}
}

// pass returns what to do to a file; nil for a check.
func (f *rewriteFlags) pass() (func(*cubin.File) (*rewrite.Rewritten, error), error) {
	chosen := 0
	for _, set := range []bool{f.check, f.restructure, f.reorder, f.census, f.reconverge != ""} {
		if set {
			chosen++
		}
	}
	switch {
	case chosen != 1:
		return nil, usagef("say one thing to do: --restructure, --reconverge, --reorder, --census or --check")
	case f.restructure:
		return rewrite.Restructure, nil
	case f.reorder:
		return rewrite.Reorder, nil
	case f.check, f.census:
		return nil, nil
	case f.reconverge == "tf":
		return rewrite.Reconverge, nil
	}
	return nil, usagef("--reconverge %q: only tf is known", f.reconverge)
}

func (f *rewriteFlags) run(e *env, name string) error {
	pass, err := f.pass()
	if err != nil {
		return err
	}
	if f.census {
		return runCensus(e, name, f.arch)
	}
	file, err := openModule(name)
	if err != nil {
		return err
	}
	if pass == nil {
		return checkControl(e, file)
	}
	start := time.Now()
	r, err := pass(file)
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	elapsed := time.Since(start)
	f.printChanges(e, r)
	fmt.Fprintf(e.stderr, "%.1f ms\n", float64(elapsed.Microseconds())/1000)
	if f.out != "" {
		return files.WriteOne(f.out, r.File.Raw)
	}
	return nil
}

// printChanges prints what was done to each function.
func (f *rewriteFlags) printChanges(e *env, r *rewrite.Rewritten) {
	what := "are not structured"
	if f.reorder {
		what = "are scheduled anew"
	}
	fmt.Fprintf(e.stdout, "%s: %d of %d functions %s\n", r.File.Name, len(r.Changes), r.Total, what)
	for _, c := range r.Changes {
		fmt.Fprintf(e.stdout, "%s: ", c.Function)
		switch {
		case c.Err != nil:
			fmt.Fprintf(e.stdout, "unchanged: %v\n", c.Err)
			continue
		case f.restructure:
			fmt.Fprintf(e.stdout, "%d forward copies, %d backward copies, %d cuts of %d edges, %d blocks copied",
				c.ForwardCopies, c.BackwardCopies, c.Cuts, c.CutEdges, c.CopiedBlocks)
		case f.reorder:
			fmt.Fprintf(e.stdout, "%d instructions moved", c.Moved)
		default:
			fmt.Fprintf(e.stdout, "%d joins with a barrier, %d without", c.Joins, c.Dropped)
		}
		fmt.Fprintf(e.stdout, "; %d → %d instructions (%.2f×)\n", c.Before, c.After, float64(c.After)/float64(c.Before))
	}
}

// checkControl prints the dependences that a file's control codes do not cover.
func checkControl(e *env, file *cubin.File) error {
	found, err := rewrite.Check(file)
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	for _, x := range found {
		fmt.Fprintln(e.stdout, x)
	}
	if len(found) > 0 {
		return failure{fmt.Errorf("%s: %d dependences are not covered", file.Name, len(found))}
	}
	fmt.Fprintf(e.stdout, "%s: all dependences are covered\n", file.Name)
	return nil
}

// runCensus prints the census of a file or of the cubins, fatbins, libraries and archives in a folder, as Table 1 of Wu et al. does.
func runCensus(e *env, name, arch string) error {
	sm, err := parseArch(arch)
	if err != nil {
		return err
	}
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
	failed := 0
	c := rewrite.FileCensus{Arch: sm, Counted: func(path string, t rewrite.Tally) {
		total.Add(t)
		add(path, t)
	}, LeftOut: func(path string, err error) {
		failed++
		fmt.Fprintf(e.stderr, "%s: %v\n", path, err)
	}}
	if err := c.Walk(name); err != nil {
		return err
	}
	add("together", total)
	if err := table.Render(e.stdout); err != nil {
		return err
	}
	if total.Failed > 0 {
		fmt.Fprintf(e.stdout, "%d unstructured functions cannot be made structured\n", total.Failed)
	}
	if total.Undecoded > 0 {
		fmt.Fprintf(e.stdout, "%d functions left out, with instructions that are not known\n", total.Undecoded)
	}
	if failed > 0 {
		return failure{fmt.Errorf("%d cubins left out", failed)}
	}
	return nil
}
