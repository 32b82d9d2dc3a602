package cfg

import (
	"path/filepath"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// Every instruction of a program's supergraph that a call or a branch leads to from the entry is reachable, calls come
// back, and the exit is reached.
func TestSupergraphOfCorpus(t *testing.T) {
	files, err := filepath.Glob("../../kernels/*/*/*.sm_70.cubin.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cubins: %v", err)
	}
	calls := 0
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			file, err := cubin.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			graphs := graphsOf(t, file)
			for _, k := range file.Kernels {
				s, err := NewSupergraph(graphs, k.Code.Index, int(k.Entry/sass.InstSize))
				if err != nil {
					t.Fatal(err)
				}
				reachable := s.Shape.Reachable()
				if !reachable[s.Shape.Exit] {
					t.Errorf("kernel %s never ends", k.Name)
				}
				for id, n := range s.Nodes {
					if in := &graphs[n.Graph].Code.Insts[n.Last]; in.Op == sass.CALL && reachable[id] {
						calls++
						if behind := s.NodeAt(n.Graph, n.Last+1); behind < 0 || !reachable[behind] {
							t.Errorf("nothing comes back to %#x", in.PC)
						}
					}
				}
				if _, err := s.Shape.Frontiers(s.Shape.Order()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if calls == 0 {
		t.Error("no calls")
	}
}

// The code that a BSSY names is the one behind the BSYNC of its register: the re-convergence models need not follow it.
func TestConvergenceBarriersPair(t *testing.T) {
	files, err := filepath.Glob("../../kernels/*/*/*.sm_70.cubin.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cubins: %v", err)
	}
	pairs := 0
	for _, name := range files {
		file, err := cubin.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range file.Codes {
			for i := range code.Insts {
				in := &code.Insts[i]
				if in.Op != sass.BSSY {
					continue
				}
				at, ok := code.InstIndex(in.Target().Imm)
				if !ok || at == 0 || code.Insts[at-1].Op != sass.BSYNC || code.Insts[at-1].Operands[0].Reg != in.Operands[0].Reg {
					t.Errorf("%s: %#x %s: no BSYNC before the target", name, in.PC, in.Text())
				}
				pairs++
			}
		}
	}
	if pairs == 0 {
		t.Error("no BSSY")
	}
}
