package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"gpa/cubin"
	"gpa/cubin/rewrite"
	"gpa/reports/files"
	"gpa/reports/listing"
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
			return withArgument("the cubin", f.run)
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

func (f *rewriteFlags) run(_ context.Context, e *env, name string) error {
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
	if err := listing.Changes(e.stdout, r); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "%.1f ms\n", float64(elapsed.Microseconds())/1000)
	if f.out != "" {
		return files.WriteOne(f.out, r.File.Raw)
	}
	return nil
}

// checkControl prints the dependences that a file's control codes do not cover.
func checkControl(e *env, file *cubin.File) error {
	uncovered, err := listing.Uncovered(e.stdout, file)
	if err == nil && uncovered > 0 {
		err = failure{fmt.Errorf("%s: %d dependences are not covered", file.Name, uncovered)}
	}
	return err
}

// runCensus prints the census of a file or of the files in a folder.
func runCensus(e *env, name, arch string) error {
	sm, err := parseArch(arch)
	if err != nil {
		return err
	}
	failed := 0
	census := rewrite.FileCensus{Arch: sm, LeftOut: func(path string, err error) {
		failed++
		fmt.Fprintf(e.stderr, "%s: %v\n", path, err)
	}}
	if err := listing.Census(e.stdout, &census, name); err != nil {
		return err
	}
	if failed > 0 {
		return failure{fmt.Errorf("%d cubins left out", failed)}
	}
	return nil
}
