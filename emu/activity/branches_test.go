package activity

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/cubin"
	"gpa/cubin/asm"
	"gpa/cubin/branch"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/reconv"
)

// rows is a tracer that writes down a row of the paper's thread status stack for each instruction: A, or E and I for lanes
// that an extrinsic or intrinsic branch made inactive.
type rows struct {
	*Branches
	lanes int
	first int // instruction
	got   []string
}

func (r *rows) Step(s *emu.Step) {
	if p := r.warps[warpID{s.Block, s.Warp}]; int(s.Inst.PC/sass.InstSize) >= r.first {
		row := ""
		for lane := range r.lanes {
			at := p.reason(lane, s.Active)
			switch {
			case s.Active>>lane&1 != 0:
				row += "A"
			case at < 0:
				row += "-"
			default:
				row += map[branch.Type]string{branch.Intrinsic: "I", branch.Extrinsic: "E", branch.Uniform: "U"}[r.list[at].Type]
			}
		}
		r.got = append(r.got, string(rune('A'+int(s.Inst.PC/sass.InstSize)-r.first))+" "+row)
	}
	r.Branches.Step(s)
}

// branchesOf finds the branches of the one kernel of a module.
func branchesOf(t *testing.T, module *cubin.File) []branch.Branch {
	t.Helper()
	var graphs []*cfg.Graph
	for _, c := range module.Codes {
		g, err := cfg.Build(module, c)
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, g)
	}
	list, err := branch.Find(module, graphs, module.Kernels[0])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestStatusRows is Figures 3 and 4 and Table II of Gupta and Datta: of 28 slots 18 are active, 7 are lost to the
// extrinsic branch and 3 to the intrinsic one.
func TestStatusRows(t *testing.T) {
	text, err := os.ReadFile("testdata/gupta.sass")
	if err != nil {
		t.Fatal(err)
	}
	data, err := asm.Assemble("gupta.sass", text)
	if err != nil {
		t.Fatal(err)
	}
	module, err := cubin.NewFile("gupta", data)
	if err != nil {
		t.Fatal(err)
	}
	const first = 7 // instruction of block A
	want := []string{"A AAAA", "B AEEE", "C EAAA", "D EAAI", "E EIIA", "F EAAA", "G AAAA"}
	for _, model := range []reconv.Model{reconv.PDOM{}, reconv.TFStack{}, reconv.TFSandy{}} {
		t.Run(model.Name(), func(t *testing.T) {
			list := branchesOf(t, module)
			if len(list) != 2 || list[0].Type != branch.Extrinsic || list[1].Type != branch.Intrinsic {
				t.Fatalf("branches %+v", list)
			}
			f := newFigureOf(t, emu.TimingNone, model, module, "gupta")
			f.buffer(0, 0, 0, 1)
			r := &rows{Branches: NewBranches(list), lanes: 4, first: first}
			if err := f.trace(4, r); err != nil {
				t.Fatal(err)
			}
			slices.Sort(r.got) // models differ in which side of a branch goes first
			if diff := cmp.Diff(want, r.got); diff != "" {
				t.Error(diff)
			}
			var sum Slots
			for i := range want {
				sum.Add(r.Slots(0, first+i))
			}
			if sum.Active != 18 || sum.Lost[branch.Extrinsic] != 7 || sum.Lost[branch.Intrinsic] != 3 || sum.Absent != 28*7 {
				t.Errorf("slots %+v, want 18 active, 7 extrinsic, 3 intrinsic of 28", sum)
			}
			uses := r.Uses()
			for i, u := range []BranchUse{
				{Executions: 1, Instances: 4, Taken: 3, Warps: 1, Lost: 7, Issues: 5, Working: 10},
				{Executions: 1, Instances: 3, Taken: 1, Warps: 1, Lost: 3, Issues: 2, Working: 3},
			} {
				u.Branch = list[i]
				if diff := cmp.Diff(u, uses[i]); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// trace runs one block of threads under a tracer.
func (f *figure) trace(threads int, tracer emu.Tracer) error {
	_, err := f.machine.Launch(context.Background(), &emu.Launch{
		Kernel: f.kernel, Grid: [3]int{1, 1, 1}, Block: [3]int{threads, 1, 1}, Params: f.params, Tracer: tracer,
	})
	var fault *emu.Fault
	if err != nil && !errors.As(err, &fault) {
		f.t.Fatal(err)
	}
	return err
}
