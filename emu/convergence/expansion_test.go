package convergence

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gpa/cubin"
	"gpa/cubin/asm"
	"gpa/emu/arch"
	"gpa/emu/launch"
)

// assembled compares the models on a kernel of testdata.
func assembled(t *testing.T, name, launchFile string, o Options) []Launch {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".sass"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := asm.Assemble(name+".sass", text)
	if err != nil {
		t.Fatal(err)
	}
	module, err := cubin.NewFile(name, data)
	if err != nil {
		t.Fatal(err)
	}
	file, err := launch.Parse(name, []byte(launchFile), launch.OSDir("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	list, err := Compare(context.Background(), file, module, gpu, o)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestFigure14: Forward Copy duplicates three blocks, of which the divergent warp issues eight; five of these are issued
// again, which thread frontiers save.
func TestFigure14(t *testing.T) {
	l := &assembled(t, "figure14", "{module: x, launches: [{kernel: figure14, grid: [1], block: [16]}]}", Options{})[0]
	const before, blocks = 5, 10 // instructions that all threads execute, blocks that PDOM executes
	pdom, frontiers, restructured := l.Run("pdom"), l.Run("tf-stack"), l.Run(Struct)
	if pdom.WarpInstructions != before+blocks+1 || l.Repeated != 8 {
		t.Errorf("%d warp instructions, %d in blocks that are duplicated, want %d and 8", pdom.WarpInstructions, l.Repeated, before+blocks+1)
	}
	if again := pdom.WarpInstructions - frontiers.WarpInstructions; again != 5 {
		t.Errorf("%d are issued again, want 5", again)
	}
	if restructured.Status != OK || l.ForwardCopies != 2 || l.CopiedBlocks != 5 {
		t.Errorf("restructured: %s, %+v", restructured.Status, l.Counts)
	}
	share, ok := l.DynamicExpansion()
	limit, okLimit := l.ExpansionLimit()
	if !ok || !okLimit || math.Abs(share-5.0/16) > 1e-12 || limit != 8.0/16 {
		t.Errorf("dynamic code expansion %g, at most %g, want 5/16 and 8/16", share, limit)
	}
}
