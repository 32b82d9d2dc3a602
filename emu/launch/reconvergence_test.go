package launch

import (
	"context"
	"errors"
	"path/filepath"
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

// TestReconvergenceModels runs every kernel of the project under every model: all leave the same memory, or the launch
// ends with the deadlock or livelock that is known of it.
func TestReconvergenceModels(t *testing.T) {
	for _, model := range reconv.Models() {
		for _, name := range corpus(t) {
			kernel := filepath.Base(filepath.Dir(name))
			t.Run(model.Name()+"/"+kernel, func(t *testing.T) {
				t.Parallel()
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
