package convergence

import (
	"context"
	"math/rand/v2"
	"testing"

	"gpa/cubin"
	"gpa/cubin/rewrite"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/launch"
	"gpa/emu/reconv"
)

// TestVoltaOrder: which side of a branch runs first makes no difference to what is issued under the hardware's model, with
// the barriers of structured code and with those at the joins of thread frontiers.
func TestVoltaOrder(t *testing.T) {
	gpu, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	passes := []func(*cubin.File) (*rewrite.Rewritten, error){rewrite.Restructure, rewrite.Reconverge}
	for seed, made := uint64(0), 0; made < 1000; seed++ {
		rng := rand.New(rand.NewPCG(seed, 5))
		shape, ok := randomShape(rng, 5+rng.IntN(8), seed%2 == 0)
		if !ok || shape.Structure().Structured() {
			continue
		}
		made++
		text := program(shape)
		module := randomModule(t, text)
		changed, err := passes[made%len(passes)](module)
		if err != nil {
			t.Fatal(err)
		}
		taken := issued(t, changed.File, gpu, reconv.Volta{})
		if through := issued(t, changed.File, gpu, reconv.Volta{FallThroughFirst: true}); taken != through {
			t.Fatalf("seed %d: %v: %d warp instructions with the taken side first, %d with the other", seed, shape.Succs, taken, through)
		}
	}
}

// issued returns the warp instructions of a random program under a model.
func issued(t *testing.T, module *cubin.File, gpu *arch.Model, model reconv.Model) int64 {
	t.Helper()
	machine, err := emu.New(gpu, module, emu.Options{Reconvergence: model})
	if err != nil {
		t.Fatal(err)
	}
	file, err := launch.Parse("random", []byte(randomLaunch), launch.OSDir("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := launch.NewSession(context.Background(), file, machine)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.WarpInstructions
}
