package cfg

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// A program is a sequence of instructions of which only the flow matters: "next", "exit", "@exit", "bra N", "@bra N",
// "bssy N".
type program []string

// code makes a section of one function.
func (p program) code(t fataler) (*cubin.File, *cubin.Code) {
	code := &cubin.Code{Name: "k", Functions: []cubin.Function{
		{Name: "k", Demangled: "k", Size: uint64(len(p)) * sass.InstSize},
	}}
	for i, text := range p {
		in := sass.Inst{Op: sass.NOP, PC: uint64(i) * sass.InstSize, Guard: sass.Guard{Reg: sass.PT}}
		if rest, ok := strings.CutPrefix(text, "@"); ok {
			text, in.Guard = rest, sass.Guard{Reg: 0}
		}
		to := 0
		switch op, _, _ := strings.Cut(text, " "); op {
		case "next":
		case "exit":
			in.Op = sass.EXIT
		case "bra":
			in.Op = sass.BRA
		case "bssy":
			in.Op = sass.BSSY
		default:
			t.Fatalf("instruction %q", text)
		}
		if _, err := fmt.Sscanf(text, "b%s %d", new(string), &to); err == nil {
			in.Operands = []sass.Operand{{Kind: sass.KindTarget, Source: true, Imm: uint64(to) * sass.InstSize}}
		}
		code.Insts = append(code.Insts, in)
	}
	return &cubin.File{Name: "k.cubin", Codes: []*cubin.Code{code}}, code
}

type fataler interface{ Fatalf(string, ...any) }

// succs returns the graph of the single instructions; node len(p) is the exit.
func (p program) succs() [][]int {
	list := make([][]int, len(p)+1)
	for i, text := range p {
		guarded := strings.HasPrefix(text, "@")
		text = strings.TrimPrefix(text, "@")
		to := 0
		_, err := fmt.Sscanf(text, "bra %d", &to)
		if err == nil {
			list[i] = append(list[i], to)
		}
		if text == "exit" {
			list[i] = append(list[i], len(p))
		}
		if err != nil && text != "exit" || guarded {
			list[i] = append(list[i], i+1)
		}
	}
	return list
}

func drawProgram(t *rapid.T) program {
	n := rapid.IntRange(1, 16).Draw(t, "instructions")
	p := make(program, n)
	for i := range p {
		to := rapid.IntRange(0, n-1).Draw(t, "target")
		p[i] = rapid.SampledFrom([]string{
			"next", "next", "exit", "@exit", fmt.Sprint("bra ", to), fmt.Sprint("@bra ", to), fmt.Sprint("@bra ", to), fmt.Sprint("bssy ", to),
		}).Draw(t, "instruction")
	}
	return p
}

func build(t interface {
	fataler
	Fatal(...any)
}, p program) *Graph {
	file, code := p.code(t)
	g, err := Build(file, code)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestBlocksCoverCode checks on random programs that blocks follow each other, that what control reaches is in one, and
// that edges go both ways.
func TestBlocksCoverCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProgram(t)
		g := build(t, p)
		seen := reach(p.succs(), 0, -1)
		end := -1
		for id, b := range g.Blocks {
			if b.ID != id || b.First <= end || b.Last < b.First {
				t.Fatalf("block %d is %+v, the one before ends at %d", id, b, end)
			}
			end = b.Last
			for i := b.First; i <= b.Last; i++ {
				if g.Block(i) != b {
					t.Fatalf("instruction %d is not in block %d", i, id)
				}
			}
			for _, s := range b.Succs {
				if !slices.Contains(g.Blocks[s].Preds, id) {
					t.Fatalf("block %d does not know its predecessor %d", s, id)
				}
			}
			if seen[b.First] != g.Reachable(id) {
				t.Fatalf("block %d reachable: %t", id, g.Reachable(id))
			}
		}
		for i := range p {
			if seen[i] && g.Block(i) == nil {
				t.Fatalf("instruction %d is in no block", i)
			}
		}
	})
}

// TestDominatesByRemoval checks dominators and post-dominators of instructions against their definition.
func TestDominatesByRemoval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProgram(t)
		g := build(t, p)
		succs, exit := p.succs(), len(p)
		all := reach(succs, 0, -1)
		for a := range p {
			without := reach(succs, 0, a)
			for b := range p {
				if !all[a] || !all[b] {
					continue
				}
				if got, want := g.Dominates(a, b), !without[b]; got != want {
					t.Fatalf("%d dominates %d: %t", a, b, got)
				}
				if !reach(succs, b, -1)[exit] || !reach(succs, a, -1)[exit] {
					continue
				}
				if got, want := g.PostDominates(a, b), !reach(succs, b, a)[exit]; got != want {
					t.Fatalf("%d post-dominates %d: %t", a, b, got)
				}
			}
		}
	})
}

// TestLoopsByDefinition checks loops against the definition: the blocks that reach a back edge without passing the
// header.
func TestLoopsByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := build(t, drawProgram(t))
		want := naturalLoops(g)
		if len(g.Loops) != len(want) {
			t.Fatalf("%d loops, want %v", len(g.Loops), want)
		}
		for i, l := range g.Loops {
			if !slices.Equal(l.Blocks, want[l.Header]) {
				t.Fatalf("loop %d has blocks %v, want %v", l.Header, l.Blocks, want[l.Header])
			}
			if i > 0 && g.Loops[i-1].Depth > l.Depth {
				t.Fatal("an inner loop comes before an outer one")
			}
			checkNesting(t, g, l)
		}
		for _, b := range g.Blocks {
			checkInnermost(t, g, b)
		}
	})
}

// naturalLoops returns the blocks of each loop by header.
func naturalLoops(g *Graph) map[int][]int {
	loops := make(map[int]map[int]bool)
	for _, b := range g.Blocks {
		for _, h := range b.Succs {
			if !g.Reachable(b.ID) || !g.Dominates(g.Blocks[h].First, b.First) {
				continue
			}
			if loops[h] == nil {
				loops[h] = map[int]bool{h: true}
			}
			for work := []int{b.ID}; len(work) > 0; {
				x := work[0]
				work = work[1:]
				if !loops[h][x] {
					loops[h][x] = true
					for _, p := range g.Blocks[x].Preds {
						if g.Reachable(p) {
							work = append(work, p)
						}
					}
				}
			}
		}
	}
	lists := make(map[int][]int)
	for h, blocks := range loops {
		for id := range blocks {
			lists[h] = append(lists[h], id)
		}
		slices.Sort(lists[h])
	}
	return lists
}

// checkNesting makes sure that the parent of a loop is the smallest other loop around it.
func checkNesting(t *rapid.T, g *Graph, l *Loop) {
	var parent *Loop
	depth := 1
	for _, o := range g.Loops {
		if o != l && o.Contains(l.Header) && len(o.Blocks) > len(l.Blocks) {
			depth++
			if parent == nil || len(o.Blocks) < len(parent.Blocks) {
				parent = o
			}
		}
	}
	if l.Parent != parent || l.Depth != depth {
		t.Fatalf("loop %d has parent %v and depth %d, want %v and %d", l.Header, l.Parent, l.Depth, parent, depth)
	}
}

func checkInnermost(t *rapid.T, g *Graph, b *Block) {
	var innermost *Loop
	for _, l := range g.Loops {
		if l.Contains(b.ID) && (innermost == nil || len(l.Blocks) < len(innermost.Blocks)) {
			innermost = l
		}
	}
	if b.Loop != innermost || g.InnermostLoop(b.First) != innermost {
		t.Fatalf("block %d is in loop %v, want %v", b.ID, b.Loop, innermost)
	}
}

func TestPadding(t *testing.T) {
	for _, test := range []struct {
		name   string
		p      program
		blocks string
	}{
		{"self loop and NOPs", program{"next", "exit", "bra 2", "next", "next"}, "[0 1]"},
		{"code behind an exit", program{"exit", "next", "exit"}, "[0 0]"},
		{"self loop that is jumped to", program{"@bra 2", "exit", "bra 2"}, "[0 0] [1 1] [2 2]"},
		{"self loop that control runs into", program{"@exit", "bra 1"}, "[0 0] [1 1]"},
		{"self loop from the start", program{"bra 0", "next"}, "[0 0]"},
		{"label in dead code", program{"bssy 2", "exit", "next"}, "[0 1] [2 2]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var list []string
			for _, b := range build(t, test.p).Blocks {
				list = append(list, fmt.Sprintf("[%d %d]", b.First, b.Last))
			}
			if got := strings.Join(list, " "); got != test.blocks {
				t.Errorf("blocks %s, want %s", got, test.blocks)
			}
		})
	}
}

func TestDeepLoopsAreAnError(t *testing.T) {
	for _, test := range []struct {
		depth int
		err   string
	}{
		{maxLoopDepth, ""},
		{maxLoopDepth + 1, "section k: loops nested more than 200 deep"},
	} {
		file, code := nestedLoops(test.depth).code(t)
		g, err := Build(file, code)
		if test.err == "" && (err != nil || g.Loops[len(g.Loops)-1].Depth != test.depth) {
			t.Errorf("depth %d: %v", test.depth, err)
		}
		if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("depth %d: error %v, want %s", test.depth, err, test.err)
		}
	}
}

// nestedLoops makes as many headers as loops, the outermost first, then their back edges, the innermost first.
func nestedLoops(depth int) program {
	p := program(slices.Repeat([]string{"next"}, depth))
	for header := depth - 1; header >= 0; header-- {
		p = append(p, fmt.Sprint("@bra ", header))
	}
	return append(p, "exit")
}

// TestGatherLoops tells the loops that the compiler makes before a back edge of a loop that diverges from those of the
// source: each loop of the kernel entries has one.
func TestGatherLoops(t *testing.T) {
	file, err := cubin.Open("../testdata/flow.cubin")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		kernel          string
		loops, gathered int
	}{{"entries", 6, 3}, {"frontier", 0, 0}} {
		k, err := file.Kernel(test.kernel)
		if err != nil {
			t.Fatal(err)
		}
		g, err := Build(file, k.Code)
		if err != nil {
			t.Fatal(err)
		}
		gathered := 0
		for _, l := range g.Loops {
			if l.Gather {
				gathered++
			}
		}
		if len(g.Loops) != test.loops || gathered != test.gathered {
			t.Errorf("%s: %d loops, %d of them gather lanes, want %d and %d", test.kernel, len(g.Loops), gathered, test.loops, test.gathered)
		}
	}
}

// TestStructure holds dominators, loops and calls of real code.
func TestStructure(t *testing.T) {
	for _, name := range []string{"flow.cubin", "module.cubin", "linked.cubin"} {
		t.Run(name, func(t *testing.T) {
			file, err := cubin.Open(filepath.Join("../testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, code := range file.Codes {
				g, err := Build(file, code)
				if err != nil {
					t.Fatal(err)
				}
				writeStructure(&text, g)
			}
			path := filepath.Join("testdata", name+".structure")
			if *update {
				write(t, path, text.String())
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func writeStructure(w *strings.Builder, g *Graph) {
	for _, f := range g.Funcs {
		fmt.Fprintf(w, "%s: entry %d\n", f.Function.Demangled, f.Entry)
		for _, id := range f.Blocks {
			b := g.Blocks[id]
			fmt.Fprintf(w, "  block %d: %d-%d to %v, idom %d ipdom %d", id, b.First, b.Last, b.Succs, b.Idom, b.Ipdom)
			if b.Exits {
				w.WriteString(" exits")
			}
			if b.Loop != nil {
				fmt.Fprintf(w, " in loop %d", b.Loop.Header)
			}
			w.WriteByte('\n')
		}
		for _, c := range f.Calls {
			fmt.Fprintf(w, "  call at %d:", c.Inst)
			for _, callee := range c.Callees {
				fmt.Fprintf(w, " %s", g.Funcs[callee].Function.Demangled)
			}
			for _, callee := range c.Remote {
				fmt.Fprintf(w, " remote %s", callee.Demangled)
			}
			if c.Extern != "" {
				fmt.Fprintf(w, " extern %s", c.Extern)
			}
			w.WriteByte('\n')
		}
	}
	for _, l := range g.Loops {
		fmt.Fprintf(w, "  loop %d depth %d of %s: %v", l.Header, l.Depth, g.Funcs[l.Func].Function.Demangled, l.Blocks)
		if l.Gather {
			w.WriteString(" gathers lanes")
		}
		w.WriteByte('\n')
	}
}

// TestFrontierFigure counts the blocks and edges of Figure 1 of "SIMD re-convergence at thread frontiers" (Diamos et al.,
// MICRO 2011) as the compiler lays it out.
func TestFrontierFigure(t *testing.T) {
	file, err := cubin.Open("../testdata/flow.cubin")
	if err != nil {
		t.Fatal(err)
	}
	k, err := file.Kernel("frontier")
	if err != nil {
		t.Fatal(err)
	}
	g, err := Build(file, k.Code)
	if err != nil {
		t.Fatal(err)
	}
	edges := 0
	for _, b := range g.Blocks {
		edges += len(b.Succs)
	}
	if len(g.Blocks) != 9 || edges != 12 {
		t.Errorf("%d blocks and %d edges, want 9 and 12", len(g.Blocks), edges)
	}
}

// FuzzBuild builds the graphs of damaged files.
func FuzzBuild(f *testing.F) {
	for _, name := range []string{"flow.cubin", "linked.cubin"} {
		data, err := os.ReadFile(filepath.Join("../testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := cubin.NewFile("fuzz.cubin", data)
		if err != nil {
			return
		}
		for _, code := range file.Codes {
			g, err := Build(file, code)
			if (g == nil) == (err == nil) {
				t.Fatalf("graph %v, error %v", g, err)
			}
			if err != nil {
				continue
			}
			for i := range code.Insts {
				g.Func(i)
				g.InnermostLoop(i)
				g.Dominates(0, i)
				g.PostDominates(i, 0)
			}
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	file, err := cubin.Open("../testdata/flow.cubin")
	if err != nil {
		b.Fatal(err)
	}
	insts := 0
	b.ReportAllocs()
	for b.Loop() {
		for _, code := range file.Codes {
			if _, err := Build(file, code); err != nil {
				b.Fatal(err)
			}
			insts += len(code.Insts)
		}
	}
	b.ReportMetric(float64(insts)/b.Elapsed().Seconds(), "inst/s")
}
