package advisor

import (
	"slices"
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// adviseKernel blames a kernel of the corpus with every instruction sampled, and asks one optimizer.
func adviseKernel(t *testing.T, file string, o Optimizer) (*blamer.Result, []Advice) {
	t.Helper()
	module, err := cubin.Open("../kernels/" + file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := blamer.Analyze(sasstest.SampleEverywhere(module, 0), module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	advice, err := Advise(r, Options{Optimizers: []Optimizer{o}})
	if err != nil {
		t.Fatal(err)
	}
	return r, advice
}

// TestCorpusSuggestions holds that in code which NVIDIA's compiler made, operations are recognised and named by the
// lines of the source that they come from.
func TestCorpusSuggestions(t *testing.T) {
	for _, c := range []struct {
		file      string
		optimizer Optimizer
		says      []string // none: the optimizer must stay silent
	}{
		// Listing 1 of the paper: 2.0 is double.
		{"stencil/hotspot/hotspot.sm_70.cubin", strengthReduction{}, []string{"hotspot.cu:3", "conversion between float and double", "2.0f"}},
		{"math/index_div/index_div.sm_70.cubin", strengthReduction{}, []string{"index_div.cu:", "integer division or modulo by a value unknown"}},
		{"math/divmod/divmod.sm_70.cubin", strengthReduction{}, []string{"64-bit integer division"}},
		{"basic/saxpy/saxpy.sm_70.cubin", strengthReduction{}, []string{"saxpy.cu:5: the compiler divides by the stride"}},
		{"math/double_chain/double_chain.sm_70.cubin", strengthReduction{}, []string{"double-precision division"}},
		{"math/index_mul/index_mul.sm_70.cubin", strengthReduction{}, nil},
		{"ladders/reduction/cubins/interleaved.sm_80.cubin.gz", strengthReduction{}, []string{"The remainder at interleaved.cu:10 decides which threads", "integer division"}},
		// Listing 2 of the paper: keys are used as soon as they are loaded.
		{"graph/btree/btree.sm_70.cubin", codeReordering{}, []string{"Load earlier: the value loaded at btree.cu:", "loop at btree.cu:15"}},
		{"tuning/distance_rolled/distance_rolled.sm_70.cubin", loopUnrolling{}, []string{"loop at distance_rolled.cu:8"}},
		{"linear/sgemm_naive/sgemm_naive.sm_70.cubin", loopUnrolling{}, nil}, // the compiler has unrolled it
		{"basic/vecadd/vecadd.sm_70.cubin", loopUnrolling{}, nil},
		{"sort/insertion_local/insertion_local.sm_70.cubin", registerReuse{}, []string{"local memory at insertion_local.cu:"}},
		{"basic/vecadd/vecadd.sm_70.cubin", registerReuse{}, nil},
		{"math/blackscholes/blackscholes.sm_70.cubin", fastMath{}, []string{"-use_fast_math", "blackscholes.cu:"}},
		{"math/blackscholes_fast/blackscholes_fast.sm_70.cubin", fastMath{}, nil},
		{"basic/reduce_shared/reduce_shared.sm_70.cubin", warpBalance{}, []string{"barrier of reduce_shared.cu:"}},
		{"basic/vecadd/vecadd.sm_70.cubin", warpBalance{}, nil},
		{"math/divmod/divmod.sm_70.cubin", functionInlining{}, nil},
		{"math/double_chain/double_chain.sm_70.cubin", functionInlining{}, nil},
	} {
		t.Run(c.file+" "+c.optimizer.Name(), func(t *testing.T) {
			_, advice := adviseKernel(t, c.file, c.optimizer)
			if (len(advice) == 0) != (len(c.says) == 0) {
				t.Fatalf("%d pieces of advice", len(advice))
			}
			if len(advice) == 0 {
				return
			}
			text := strings.Join(advice[0].Match.Suggestions, "\n")
			for _, part := range c.says {
				if !strings.Contains(text, part) {
					t.Errorf("suggestions lack %q:\n%s", part, text)
				}
			}
		})
	}
}

// TestListing1 holds that the hotspots of the paper's first listing are the conversions and the arithmetic in double precision, those
// of the lines with the double constant among them (the line table gives some the line of an index that is computed between).
func TestListing1(t *testing.T) {
	r, advice := adviseKernel(t, "stencil/hotspot/hotspot.sm_70.cubin", strengthReduction{})
	if len(advice) == 0 {
		t.Fatal("no advice")
	}
	in := NewInput(r)
	inside := 0
	for _, h := range advice[0].Match.Hotspots {
		if def := in.Inst(h.Def); def.Op != sass.F2F && def.Form.Pipe != sass.PipeFP64 {
			t.Errorf("hotspot of %v", def.Op)
		}
		if line := in.frame(h.Def).Line; line >= 33 && line <= 36 {
			inside++
		}
	}
	if inside < 2 {
		t.Errorf("%d of the hotspots in the expression of lines 33 to 36", inside)
	}
}

// Four elements that a thread brings to shared memory one by one, beside those of its neighbours, are vectors; not where neighbouring
// threads read far apart, and not where the thread computes with them and stores a result for each.
func TestDealtElements(t *testing.T) {
	for _, c := range []struct {
		kernel  string
		sectors int64 // of an access
		says    string
	}{
		{"stage_words", 4, "neighbouring elements instead"},
		{"stage_words", 32, ""},
		{"stage_vectors", 16, ""},
		{"update_loaded", 4, ""},
	} {
		module, launch := executedEverywhere(t, "../emu/testdata/layouts.sm_80.cubin", c.kernel, warpSize)
		for i := range launch.PCs {
			k := &launch.PCs[i]
			if op := module.Codes[k.Code].Insts[k.PC/sass.InstSize].Op; op == sass.LDG || op == sass.STG {
				k.GlobalSectors, k.GlobalSectorsIdeal = 100*c.sectors, 100*min(c.sectors, 16)
			}
		}
		r, err := blamer.Analyze(launch, module, blamer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, m := range NewInput(r).dealtOut() {
			found += strings.Join(m.Suggestions, " ")
		}
		if (found == "") != (c.says == "") || !strings.Contains(found, c.says) {
			t.Errorf("%s, %d sectors an access: %q", c.kernel, c.sectors, found)
		}
	}
}

// A convolution whose radius is a number of the launch spends its time counting; one with a constant radius does not, and a loop whose
// rounds differ between warps cannot have one.
func TestFewRounds(t *testing.T) {
	for _, c := range []struct {
		version string
		threads int64 // of a warp that execute
		says    string
	}{
		{"naive", 32, "Make the number a constant"},
		{"naive", 8, ""},
		{"unrolled", 32, ""},
	} {
		module, launch := executedEverywhere(t, "../kernels/ladders/conv2d/cubins/"+c.version+".sm_80.cubin.gz", "convolve", c.threads)
		r, err := blamer.Analyze(launch, module, blamer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, m := range NewInput(r).fewRounds() {
			found += strings.Join(m.Suggestions, " ")
		}
		if (found == "") != (c.says == "") || !strings.Contains(found, c.says) {
			t.Errorf("%s, %d threads of a warp: %q", c.version, c.threads, found)
		}
	}
}

// TestRoles: what one thread does in a loop that starts copies for all is meant so, and so is what warps do alone that were given registers for it.
func TestRoles(t *testing.T) {
	for _, c := range []struct {
		file, kernel string
		copies       bool
	}{{"hopper/tma_gemm/tma_gemm.sm_90", "tma_gemm", true}, {"tuning/layer_serial/layer_serial.sm_90", "layer_serial", false}} {
		module, launch := executedEverywhere(t, "../kernels/"+c.file+".cubin.gz", c.kernel, 1)
		r, err := blamer.Analyze(launch, module, blamer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		in := NewInput(r)
		alone := 0
		for i := range module.Codes[0].Insts {
			if in.Loop(blamer.Node{Inst: i}) != nil && in.ofOneLane(0, i) {
				alone++
			}
		}
		if alone > 0 != c.copies {
			t.Errorf("%s: %d instructions in loops are meant for one lane", c.kernel, alone)
		}
		before := in.hasRoles()
		module.Codes[0].Insts[0].Op = sass.USETMAXREG
		if before || !in.hasRoles() {
			t.Errorf("%s: roles %v, with setmaxnreg %v", c.kernel, before, in.hasRoles())
		}
	}
}

// A point that is compared with each center is read anew for each as long as the number of its dimensions is one of the launch; what is read once, or where
// the number is a constant, is not.
func TestOwnItem(t *testing.T) {
	for _, c := range []struct {
		version string
		again   int64 // bytes of 16384 that the same thread has read in an earlier round
		says    string
	}{
		{"best_in_register", 15360, "array of constant size"},
		{"best_in_register", 8192, ""},
		{"point_in_registers", 15360, ""},
	} {
		module, launch := executedEverywhere(t, "../kernels/ladders/kmeans/cubins/"+c.version+".sm_80.cubin.gz", "assign", warpSize)
		launch.Record = &profiler.Record{Blocks: []int{0}}
		launch.Grid, launch.Block = [3]int{100, 1, 1}, [3]int{32, 1, 1}
		for _, at := range launch.PCs {
			if module.Codes[at.Code].Insts[at.PC/sass.InstSize].Op == sass.LDG {
				l := profiler.LoadRecord{Place: profiler.Place{Code: at.Code, PC: at.PC}, Bytes: 16384, Distinct: 16384}
				if len(launch.Record.Loads)%4 == 0 { // of as many words as registers hold
					l.InEarlierRound[profiler.SameThread] = c.again
				}
				launch.Record.Loads = append(launch.Record.Loads, l)
			}
		}
		launch.Record.Sort()
		r, err := blamer.Analyze(launch, module, blamer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, m := range NewInput(r).ownItem() {
			found += strings.Join(m.Suggestions, " ")
		}
		if (found == "") != (c.says == "") || !strings.Contains(found, c.says) {
			t.Errorf("%s, %d bytes read again: %q", c.version, c.again, found)
		}
	}
}

// executedEverywhere is a kernel of a file with samples at each instruction, which 100 warps have executed with so many threads each.
func executedEverywhere(t *testing.T, file, kernel string, threads int64) (*cubin.File, *profiler.Launch) {
	t.Helper()
	module, err := cubin.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	index := slices.IndexFunc(module.Kernels, func(k *cubin.Kernel) bool { return k.Name == kernel })
	code := module.Kernels[index].Code
	launch := sasstest.SampleEverywhere(module, code.Index)
	launch.PCs = nil
	for i := range code.Insts {
		launch.PCs = append(launch.PCs, profiler.Counter{Code: code.Index, PC: code.Insts[i].PC, Executions: 100, ThreadExecutions: 100 * threads})
	}
	return module, launch
}
