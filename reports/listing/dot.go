package listing

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"gpa/cubin/cfg"
)

// DOT draws the graphs: a cluster for each function, a box for each block with its instructions, nested clusters for
// loops, dashed edges for calls.
func DOT(w io.Writer, list []Function) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "digraph cfg {\n  node [shape=box fontname=monospace];")
	for i := range list {
		list[i].dot(out, i)
	}
	for i := range list {
		list[i].dotCalls(out, list)
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// node is the name of a block's node.
func (f *Function) node(id int) string {
	return fmt.Sprintf("%q", fmt.Sprintf("%s B%d", f.Function.Name, f.blockNumber(id)))
}

// dot draws one function.
func (f *Function) dot(w io.Writer, number int) {
	fmt.Fprintf(w, "  subgraph cluster_%d {\n    label=%s;\n", number, dotText(f.Function.Demangled+": "+f.Function.Kind.String()))
	loops := f.loops()
	f.dotLoop(w, loops, nil, fmt.Sprint("cluster_", number), "    ")
	for _, id := range f.Blocks {
		b := f.graph.Blocks[id]
		for k, s := range b.Succs {
			style := ""
			if k > 0 || f.graph.Blocks[s].First != b.Last+1 {
				style = " [color=blue]" // a branch that is taken
			}
			fmt.Fprintf(w, "    %s -> %s%s;\n", f.node(id), f.node(s), style)
		}
	}
	fmt.Fprintln(w, "  }")
}

// dotLoop draws the blocks whose innermost loop is this one, and the loops in it.
func (f *Function) dotLoop(w io.Writer, loops []*cfg.Loop, loop *cfg.Loop, name, indent string) {
	for _, id := range f.Blocks {
		if b := f.graph.Blocks[id]; b.Loop == loop {
			fmt.Fprintf(w, "%s%s [label=%s];\n", indent, f.node(id), f.dotBlock(b))
		}
	}
	for i, l := range loops {
		if l.Parent != loop {
			continue
		}
		inner := fmt.Sprintf("%s_%d", name, i)
		fmt.Fprintf(w, "%ssubgraph %s {\n%s  label=\"loop %d\"; style=dotted;\n", indent, inner, indent, i)
		f.dotLoop(w, loops, l, inner, indent+"  ")
		fmt.Fprintf(w, "%s}\n", indent)
	}
}

// dotBlock is the label of a block: its lines, then its instructions.
func (f *Function) dotBlock(b *cfg.Block) string {
	lines := []string{fmt.Sprintf("B%d%s", f.blockNumber(b.ID), whereText(f.frames(b)))}
	for i := range f.graph.Insts(b) {
		in := &f.graph.Insts(b)[i]
		lines = append(lines, fmt.Sprintf("%04x: %s", in.PC, in.Text()))
	}
	return dotText(lines...)
}

// dotText quotes lines of text, set flush left where there are several.
func dotText(lines ...string) string {
	text := ""
	for _, l := range lines {
		text += strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(l)
		if len(lines) > 1 {
			text += `\l`
		}
	}
	return `"` + text + `"`
}

// dotCalls draws the calls of functions that are drawn.
func (f *Function) dotCalls(w io.Writer, list []Function) {
	entries := make(map[string]string)
	for i := range list {
		entries[list[i].Function.Name] = list[i].node(list[i].Entry)
	}
	seen := make(map[string]bool)
	for i := range f.Calls {
		from := f.node(f.graph.Block(f.Calls[i].Inst).ID)
		for _, to := range f.callees(&f.Calls[i]) {
			if edge := from + " -> " + entries[to]; entries[to] != "" && !seen[edge] {
				seen[edge] = true
				fmt.Fprintf(w, "  %s [style=dashed];\n", edge)
			}
		}
	}
}
