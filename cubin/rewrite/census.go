package rewrite

import (
	"fmt"

	"gpa/cubin"
	"gpa/cubin/cfg"
)

// A Tally counts functions and what it takes to make them structured, as Table 1 of Wu et al. does for applications.
type Tally struct {
	Functions    int
	Unstructured int
	Irreducible  int // of these, with a cycle that has several entries
	Failed       int // of these, that cannot be made structured: endless loops, or too many copies
	Undecoded    int // functions in sections with an instruction that did not decode; they count nowhere else
	Blocks       int // of the unstructured functions that can
	Counts           // sums
}

// Census counts the functions of a file and the transformations that the unstructured ones need. It looks at their control
// flow only: code that [Restructure] cannot change counts as well.
func Census(file *cubin.File) (Tally, error) {
	var t Tally
	for _, code := range file.Codes {
		if code.Err != nil {
			t.Undecoded += len(code.Functions)
			continue
		}
		g, err := cfg.Build(file, code)
		if err != nil {
			return t, fmt.Errorf("section .text.%s: %w", code.Name, err)
		}
		for _, f := range g.Funcs {
			t.count(g.Shape(f))
		}
	}
	return t, nil
}

func (t *Tally) count(shape *cfg.Shape) {
	t.Functions++
	structure := shape.Structure()
	if structure.Structured() {
		return
	}
	t.Unstructured++
	if !structure.Reducible {
		t.Irreducible++
	}
	s, err := Structurize(shape)
	if err != nil {
		t.Failed++
		return
	}
	t.Blocks += shape.Len() - 1
	t.Counts.Add(s.Counts)
}

// Add adds the figures of another function.
func (c *Counts) Add(o Counts) {
	c.ForwardCopies += o.ForwardCopies
	c.BackwardCopies += o.BackwardCopies
	c.Cuts += o.Cuts
	c.CutEdges += o.CutEdges
	c.CopiedBlocks += o.CopiedBlocks
}

// Add adds the figures of another file.
func (t *Tally) Add(o Tally) {
	t.Functions += o.Functions
	t.Unstructured += o.Unstructured
	t.Irreducible += o.Irreducible
	t.Failed += o.Failed
	t.Undecoded += o.Undecoded
	t.Blocks += o.Blocks
	t.Counts.Add(o.Counts)
}
