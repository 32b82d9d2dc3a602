package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gpa/cubin"
	"gpa/cubin/rewrite"
	"gpa/cubin/sass"
	"gpa/reports"
)

// A census counts, over all device code of files, how many functions are unstructured and what it takes to make them
// structured, as Table 1 of Wu et al. does.
type census struct {
	*env
	arch   int // 0 for all
	table  reports.Table
	total  rewrite.Tally
	failed int // entries of files
}

// runCensus prints the census of a file or of the cubins, fatbins, libraries and archives in a folder.
func runCensus(e *env, name, arch string) error {
	c := &census{env: e}
	if arch != "" {
		var err error
		if c.arch, err = strconv.Atoi(strings.TrimPrefix(arch, "sm_")); err != nil || c.arch <= 0 {
			return usagef("--arch %s: want sm_NN", arch)
		}
	}
	for _, title := range []string{"functions", "unstructured", "irreducible", "forward copies", "backward copies", "cuts", "cut edges", "copied blocks", "of blocks"} {
		c.table.Columns = append(c.table.Columns, reports.Column{Title: title, Right: true})
	}
	c.table.Columns = append(c.table.Columns, reports.Column{Title: "file"})
	err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path != name && !holdsCode(path) {
			return err
		}
		return c.file(path, path == name)
	})
	if err != nil {
		return err
	}
	return c.print()
}

// holdsCode reports whether a file's name says that it may hold device code.
func holdsCode(path string) bool {
	base := strings.TrimSuffix(filepath.Base(path), cubin.Compressed)
	return slices.Contains([]string{".cubin", ".fatbin", ".so", ".a"}, filepath.Ext(base)) || strings.Contains(base, ".so.")
}

// file counts the functions of a file. A file without device code counts only if it was asked for.
func (c *census) file(path string, asked bool) error {
	data, err := cubin.ReadFile(path)
	if err != nil {
		return err
	}
	list, err := cubin.Entries(data)
	if err != nil && asked && len(list) == 0 {
		return fmt.Errorf("%s: %w", path, err)
	}
	var sum rewrite.Tally
	for i := range list {
		if list[i].Kind == cubin.CubinEntry && c.wants(list[i].SM) {
			c.entry(&sum, path, list, i)
		}
	}
	if sum != (rewrite.Tally{}) {
		c.total.Add(sum)
		c.add(&sum, path)
	}
	return nil
}

func (c *census) wants(sm int) bool {
	return sm == c.arch || c.arch == 0 && sm >= int(sass.SM70) && sm <= int(sass.SM90)
}

// entry counts the functions of a cubin in a file.
func (c *census) entry(sum *rewrite.Tally, path string, list []cubin.Entry, i int) {
	label, code, err := cubin.ReadEntry(path, list, i)
	if err == nil {
		var file *cubin.File
		if file, err = cubin.NewFile(label, code); err == nil {
			var t rewrite.Tally
			if t, err = rewrite.Census(file); err == nil {
				sum.Add(t)
				return
			}
		}
	}
	if errors.Is(err, cubin.ErrNoCode) {
		return
	}
	c.failed++
	fmt.Fprintf(c.stderr, "%s: %v\n", path, err)
}

func (c *census) add(t *rewrite.Tally, name string) {
	var cells []string
	for _, n := range []int{t.Functions, t.Unstructured, t.Irreducible, t.ForwardCopies, t.BackwardCopies, t.Cuts, t.CutEdges, t.CopiedBlocks, t.Blocks} {
		cells = append(cells, strconv.Itoa(n))
	}
	c.table.Add(append(cells, name)...)
}

func (c *census) print() error {
	c.add(&c.total, "together")
	if err := c.table.Render(c.stdout); err != nil {
		return err
	}
	if c.total.Failed > 0 {
		fmt.Fprintf(c.stdout, "%d unstructured functions cannot be made structured\n", c.total.Failed)
	}
	if c.total.Undecoded > 0 {
		fmt.Fprintf(c.stdout, "%d functions left out, with instructions that are not known\n", c.total.Undecoded)
	}
	if c.failed > 0 {
		return failure{fmt.Errorf("%d cubins left out", c.failed)}
	}
	return nil
}
