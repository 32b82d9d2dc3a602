package launch

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/reconv"
)

// stuck are the kernels whose threads wait for each other in a way that a model cannot serve, and how they end. The lanes
// that spin on ticket_lock's lock run before the one that holds it, which has left the loop.
var stuck = map[string]map[string]emu.FaultKind{
	"ticket_lock": {"pdom": emu.Livelock, "tf-stack": emu.Livelock, "tf-sandy": emu.Livelock},
}

// TestReconvergenceModels runs every kernel of the project under one model, in turn, or under all of them with -whole-corpus: all leave the
// same memory, or the launch ends with the deadlock or livelock that is known of it. Package convergence compares the models on every
// kernel.
func TestReconvergenceModels(t *testing.T) {
	models := reconv.Models()
	for m, model := range models {
		for i, name := range corpus(t) {
			kernel := filepath.Base(filepath.Dir(name))
			if i%len(models) != m && stuck[kernel] == nil && !*wholeCorpus {
				continue
			}
			t.Run(model.Name()+"/"+kernel, func(t *testing.T) {
				t.Parallel()
				if !builtFor(parse(t, name), sass.SM70) {
					t.Skip("needs a later architecture")
				}
				checkUnderModel(t, open(t, name, sass.SM70, emu.Options{Reconvergence: model}), stuck[kernel][model.Name()])
			})
		}
	}
}

// checkUnderModel runs a launch file and checks what it leaves, or how it ends.
func checkUnderModel(t *testing.T, s *Session, want emu.FaultKind) {
	for i := range s.File.Launches {
		for range s.File.Launches[i].Repeat {
			_, err := s.Run(context.Background(), i, nil)
			var fault *emu.Fault
			switch {
			case errors.As(err, &fault) && fault.Kind == want:
				t.Log(fault)
				return
			case err != nil:
				t.Fatalf("launch %d: %v", i, err)
			}
		}
	}
	if want != "" {
		t.Errorf("no %s", want)
	}
	checks, err := s.Check()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if !c.OK() {
			t.Error(c.String())
		}
	}
}

// TestVoltaOrder runs kernels that have no operations across lanes with either side of branches first: the same
// instructions are issued.
func TestVoltaOrder(t *testing.T) {
	across := []sass.Op{sass.VOTE, sass.SHFL, sass.MATCH, sass.YIELD, sass.NANOSLEEP, sass.WARPSYNC, sass.ATOM, sass.ATOMG, sass.ATOMS}
	compared := 0
	for _, name := range corpus(t) {
		if !builtFor(parse(t, name), sass.SM70) {
			continue
		}
		s := open(t, name, sass.SM70, emu.Options{})
		if uses(s, across) {
			continue
		}
		compared++
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			t.Parallel()
			want, ok := untimed.Load(name)
			if !ok {
				want = runAll(t, s)
			}
			if got := runAll(t, open(t, name, sass.SM70, emu.Options{Reconvergence: reconv.Volta{FallThroughFirst: true}})); any(got) != want {
				t.Errorf("%d warp instructions with the fall-through first, %d with the branch", got, want)
			}
		})
	}
	if compared < 10 {
		t.Errorf("only %d kernels compared", compared)
	}
}

// uses reports whether one of the instructions is in the module of a session.
func uses(s *Session, ops []sass.Op) bool {
	for _, code := range s.Machine.Module().Codes {
		for i := range code.Insts {
			if slices.Contains(ops, code.Insts[i].Op) && !code.Insts[i].Guard.Never() {
				return true
			}
		}
	}
	return false
}
