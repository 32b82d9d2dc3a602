package convergence

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/asm"
	"gpa/cubin/cfg"
	"gpa/emu/arch"
	"gpa/emu/launch"
	"gpa/emu/reconv"
)

// randomShape makes a graph of blocks with one or two successors, every block on a way from the first to the last, the exit.
// The first successor is the nearer one to the exit.
func randomShape(rng *rand.Rand, blocks int, cyclic bool) (*cfg.Shape, bool) {
	s := &cfg.Shape{Exit: blocks - 1, Succs: make([][]int, blocks)}
	for b := range blocks - 1 {
		next := b + 1
		if rng.Float64() < 0.2 {
			next = b + 1 + rng.IntN(blocks-b-1)
		}
		other := b + 1 + rng.IntN(blocks-b-1)
		if cyclic && b > 0 && rng.Float64() < 0.35 {
			other = 1 + rng.IntN(b)
		}
		if s.Succs[b] = []int{next}; other != next && rng.Float64() < 0.8 {
			s.Succs[b] = append(s.Succs[b], other)
		}
	}
	for _, reachable := range s.Reachable() {
		if !reachable {
			return nil, false
		}
	}
	return s, true
}

// program is a kernel with the control flow of a shape. Each thread mixes the blocks that it comes to into a number of its
// own, and takes the second way of a block by a bit of it, but not after 40 blocks.
func program(s *cfg.Shape) string {
	var text strings.Builder
	text.WriteString(`.arch sm_70
.kernel random
.param out, 8
    S2R R0, SR_TID.X
    IMAD R1, R0, 0x41c64e6d, RZ
    MOV R2, RZ
`)
	for b, succs := range s.Succs[:s.Exit] {
		fmt.Fprintf(&text, "at%d:\n    IADD3 R2, R2, 0x1, RZ\n    IADD3 R1, R1, %#x, RZ\n    IMAD R1, R1, 0x41c64e6d, RZ\n    IADD3 R1, R1, 0x3039, RZ\n", b, b+1)
		if len(succs) == 2 {
			fmt.Fprintf(&text, `    SHF.R.U32.HI R3, RZ, 0x10, R1
    LOP3.LUT R3, R3, 0x1, RZ, 0xc0, !PT
    ISETP.LT.AND P1, PT, R2, 0x28, PT
    ISETP.NE.AND P0, PT, R3, RZ, P1
@P0 BRA at%d
`, succs[1])
		}
		if succs[0] != b+1 {
			fmt.Fprintf(&text, "    BRA at%d\n", succs[0])
		}
	}
	fmt.Fprintf(&text, `at%d:
    MOV R4, c[0x0][out]
    MOV R5, c[0x0][out+4]
    IMAD.WIDE.U32 R4, R0, 0x4, R4
    STG.E.SYS [R4], R1
    EXIT
`, s.Exit)
	return text.String()
}

// TestRandomPrograms runs random control flow under all models, restructured, and with barriers at the joins of thread
// frontiers: the threads go the same ways, and no barrier has to be ended for lanes that wait for each other.
func TestRandomPrograms(t *testing.T) {
	gpu, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	models := []string{(reconv.PDOM{}).Name(), (reconv.TFStack{}).Name(), Struct, Placed}
	sums := make(map[string]int64)
	for seed, made := uint64(0), 0; made < 1000; seed++ {
		rng := rand.New(rand.NewPCG(seed, 3))
		shape, ok := randomShape(rng, 5+rng.IntN(8), seed%2 == 0)
		if !ok {
			continue
		}
		made++
		text := program(shape)
		list := compareText(t, text, gpu, models)
		for i := range list[0].Runs {
			r := &list[0].Runs[i]
			if r.Status != OK || !r.OutputsEqual || r.Model == Placed && r.Forced > 0 {
				t.Fatalf("seed %d: %v: %s: %s, outputs equal %v, %d barriers ended with lanes missing: %s\n%s",
					seed, shape.Succs, r.Model, r.Status, r.OutputsEqual, r.Forced, r.Fault, text)
			}
			sums[r.Model] += r.WarpInstructions - r.BarrierWarpInstructions
		}
	}
	t.Logf("warp instructions without those that manage barriers: %v", sums)
	if pdom, frontiers := sums[(reconv.PDOM{}).Name()], sums[(reconv.TFStack{}).Name()]; frontiers >= pdom || sums[Placed] >= sums[(reconv.Volta{}).Name()] {
		t.Errorf("warp instructions %v: the trials show nothing", sums)
	}
}

// randomLaunch launches a random program.
const randomLaunch = "{module: x, buffers: {out: {type: u32, shape: [32]}}, launches: [{kernel: random, grid: [1], block: [32], args: [{buffer: out}]}]}"

// randomModule is the module of a random program's text.
func randomModule(t *testing.T, text string) *cubin.File {
	t.Helper()
	data, err := asm.Assemble("random.sass", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	module, err := cubin.NewFile("random", data)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// compareText compares models on a kernel that stores a word a thread.
func compareText(t *testing.T, text string, gpu *arch.Model, models []string) []Launch {
	t.Helper()
	module := randomModule(t, text)
	file, err := launch.Parse("random", []byte(randomLaunch), launch.OSDir("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := Compare(context.Background(), file, module, gpu, Options{Models: models})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return list
}
