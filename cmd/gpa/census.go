package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"gpa/cubin"
	"gpa/cubin/rewrite"
)

// census prints, for a cubin or all cubins in a folder, how many functions are unstructured and what it takes to make them
// structured.
func census(e *env, name string) error {
	var total rewrite.Tally
	skipped := 0
	fmt.Fprintln(e.stdout, "functions unstructured irreducible forward backward cuts copied/blocks file")
	err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path != name && !strings.HasSuffix(path, ".cubin") {
			return err
		}
		file, err := cubin.Open(path)
		if err != nil {
			return err
		}
		t, err := rewrite.Census(file)
		if err != nil {
			skipped++
			fmt.Fprintf(e.stderr, "%s: %v\n", path, err)
			return nil
		}
		total.Add(t)
		printTally(e, t, path)
		return nil
	})
	if err != nil {
		return err
	}
	printTally(e, total, "together")
	if total.Failed > 0 {
		fmt.Fprintf(e.stdout, "%d functions cannot be made structured\n", total.Failed)
	}
	if skipped > 0 {
		return failure{fmt.Errorf("%d files left out", skipped)}
	}
	return nil
}

func printTally(e *env, t rewrite.Tally, name string) {
	fmt.Fprintf(e.stdout, "%9d %12d %11d %7d %8d %4d %13s %s\n", t.Functions, t.Unstructured, t.Irreducible,
		t.ForwardCopies, t.BackwardCopies, t.Cuts, fmt.Sprintf("%d/%d", t.CopiedBlocks, t.Blocks), name)
}
