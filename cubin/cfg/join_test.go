package cfg

import (
	"testing"

	"gpa/cubin"
)

// TestJoin holds that a joined graph is that of its sections, with calls from one to another inside.
func TestJoin(t *testing.T) {
	file, err := cubin.Open("../testdata/linked.cubin")
	if err != nil {
		t.Fatal(err)
	}
	graphs := graphsOf(t, file)
	joined := Join(graphs)
	base, local, remote := 0, 0, 0
	for _, g := range graphs {
		for i := range g.Code.Insts {
			checkJoined(t, joined, base, g, i)
		}
		for _, f := range g.Funcs {
			for _, c := range f.Calls {
				local += len(c.Callees)
				remote += len(c.Remote)
			}
		}
		base += len(g.Code.Insts)
	}
	callees := 0
	for _, f := range joined.Funcs {
		for _, c := range f.Calls {
			callees += len(c.Callees)
			if len(c.Remote) > 0 {
				t.Errorf("call at %d: %d callees of other sections", c.Inst, len(c.Remote))
			}
		}
	}
	if remote == 0 || callees != local+remote {
		t.Errorf("%d callees, want %d of the same section and %d of others", callees, local, remote)
	}
	if alone := Join(graphs[:1]); len(alone.Blocks) != len(graphs[0].Blocks) || len(alone.Loops) != len(graphs[0].Loops) {
		t.Errorf("%d blocks and %d loops of one section, want %d and %d", len(alone.Blocks), len(alone.Loops), len(graphs[0].Blocks), len(graphs[0].Loops))
	}
}

// checkJoined compares what is known of an instruction of a section with what the joined graph says of it.
func checkJoined(t *testing.T, joined *Graph, base int, g *Graph, i int) {
	t.Helper()
	if joined.Code.Insts[base+i].Word != g.Code.Insts[i].Word || (g.Block(i) == nil) != (joined.Block(base+i) == nil) {
		t.Fatalf("%s: instruction %d is another one", g.Code.Name, i)
	}
	b, to := g.Block(i), joined.Block(base+i)
	if b == nil {
		return
	}
	if to.First != b.First+base || to.Last != b.Last+base || len(to.Succs) != len(b.Succs) || joined.Func(base+i).Function != g.Func(i).Function {
		t.Errorf("%s: block %+v, joined %+v", g.Code.Name, *b, *to)
	}
	if l, to := g.InnermostLoop(i), joined.InnermostLoop(base+i); (l == nil) != (to == nil) || l != nil && (l.Depth != to.Depth || len(l.Blocks) != len(to.Blocks)) {
		t.Errorf("%s: loop %+v, joined %+v", g.Code.Name, l, to)
	}
	for other := range g.Code.Insts {
		if g.Dominates(i, other) != joined.Dominates(base+i, base+other) || g.PostDominates(i, other) != joined.PostDominates(base+i, base+other) {
			t.Fatalf("%s: dominance of %d and %d", g.Code.Name, i, other)
		}
	}
	for k, other := range joined.Code.Insts {
		if f := joined.Func(k); f != nil && f.Function.Code != g.Code.Index && joined.Dominates(base+i, k) {
			t.Fatalf("%s: instruction %d dominates %#x of %s", g.Code.Name, i, other.PC, f.Function.Name)
		}
	}
}

// graphsOf builds the graphs of all sections of a file.
func graphsOf(t *testing.T, file *cubin.File) []*Graph {
	t.Helper()
	var graphs []*Graph
	for _, code := range file.Codes {
		g, err := Build(file, code)
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, g)
	}
	return graphs
}
