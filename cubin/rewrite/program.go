package rewrite

import (
	"fmt"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A program is all code of a file as one graph of instructions, through calls and returns.
type program struct {
	file   *cubin.File
	graphs []*cfg.Graph // by section
	insts  []*sass.Inst // by node
	code   []int        // by node: section, an index in File.Codes
	succs  [][]int      // by node: what may be executed next
}

// newProgram joins the control flow of a file's sections. Padding, which no control comes to, has no nodes. The error says
// which section has instructions that did not decode, or loops nested too deep.
func newProgram(file *cubin.File) (*program, error) {
	p := &program{file: file}
	for _, code := range file.Codes {
		if code.Err != nil {
			return nil, fmt.Errorf("section .text.%s: %w", code.Name, code.Err)
		}
		g, err := cfg.Build(file, code)
		if err != nil {
			return nil, fmt.Errorf("section .text.%s: %w", code.Name, err)
		}
		p.graphs = append(p.graphs, g)
	}
	super, err := cfg.NewSupergraph(p.graphs, 0, 0)
	if err != nil {
		return nil, err
	}
	first := make([]int, len(super.Nodes))
	for i, n := range super.Nodes {
		first[i] = len(p.insts)
		insts := p.graphs[n.Graph].Code.Insts
		for k := n.First; k <= n.Last; k++ {
			p.insts = append(p.insts, &insts[k])
			p.code = append(p.code, n.Graph)
			p.succs = append(p.succs, []int{len(p.insts)})
		}
	}
	for i, n := range super.Nodes {
		var succs []int
		for _, to := range super.Shape.Succs[i] {
			if to != super.Shape.Exit {
				succs = append(succs, first[to])
			}
		}
		p.succs[first[i]+n.Last-n.First] = succs
	}
	return p, nil
}
