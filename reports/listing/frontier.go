package listing

import (
	"fmt"
	"io"
	"strings"

	"gpa/cubin/cfg"
)

// printFrontiers writes what a function's control flow means to re-convergence: thread frontiers with the priorities that
// gpa uses, where threads come together again, and the edges that keep the function from being structured.
func (f *Function) printFrontiers(w io.Writer) error {
	s := f.graph.Shape(f.Func)
	fr, err := s.Frontiers(s.Order())
	if err != nil {
		return fmt.Errorf("%s: %w", f.Function.Demangled, err)
	}
	var order []int
	for _, block := range fr.Order {
		if block != s.Exit {
			order = append(order, block)
		}
	}
	fmt.Fprintf(w, "  priorities:%s\n", shapeBlocks(s, order))
	for _, block := range order {
		if waiting := fr.Of(block); len(waiting) > 0 {
			fmt.Fprintf(w, "  frontier of B%d:%s\n", block, shapeBlocks(s, waiting))
		}
	}
	least, mean, most := fr.Sizes()
	fmt.Fprintf(w, "  frontier sizes: %d to %d, mean %.2f; re-convergence checks: %d\n", least, most, mean, len(fr.Checks()))
	fmt.Fprintf(w, "  joins of thread frontiers:%s; of post-dominators:%s\n", shapeBlocks(s, fr.Joins()), shapeBlocks(s, s.PDOMJoins()))
	structure := s.Structure()
	switch {
	case structure.Structured():
		fmt.Fprintln(w, "  structured")
	case structure.Reducible:
		fmt.Fprintf(w, "  unstructured, reducible: %d blocks left of %d\n", structure.Residual, s.Len())
	default:
		fmt.Fprintf(w, "  unstructured, irreducible: %d blocks left of %d\n", structure.Residual, s.Len())
	}
	for _, i := range structure.Interactions {
		fmt.Fprintf(w, "  %s:%s to%s\n", i.Kind, shapeBlocks(s, []int{i.Edge.From}), shapeBlocks(s, []int{i.Edge.To}))
	}
	return nil
}

// shapeBlocks lists nodes of a function's shape.
func shapeBlocks(s *cfg.Shape, blocks []int) string {
	if len(blocks) == 0 {
		return " none"
	}
	var b strings.Builder
	for _, block := range blocks {
		if block == s.Exit {
			b.WriteString(" exit")
		} else {
			fmt.Fprintf(&b, " B%d", block)
		}
	}
	return b.String()
}
