package launch

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/stream"
)

// cyclesOf runs the launches of a file with full timing under a what-if.
func cyclesOf(t *testing.T, file string, w *emu.WhatIf) (cycles []int64) {
	t.Helper()
	s := open(t, file, sass.SM70, emu.Options{Timing: emu.TimingFull})
	for i := range s.File.Launches {
		for range s.File.Launches[i].Repeat {
			r, err := s.Vary(context.Background(), i, Variation{WhatIf: w})
			if err != nil {
				t.Logf("launch %d: %v", i, err)
				return cycles
			}
			cycles = append(cycles, r.Cycles)
		}
	}
	return cycles
}

// unlike are the kernels that take other cycles when they are replayed, and by how much at most: what they do depends on the order of
// their threads, which is another one where blocks are executed one by one.
var unlike = map[string]float64{
	"atomics": 0.08, // a loop with atomicCAS
	"bfs":     0.01, // who finds a node first adds its neighbours
	"malloc":  0.05, // addresses of the heap
	"printf":  0.05, // four more sectors of code are fetched, for a reason that is not known
	// Of the texels between which there is filtering one corner alone is kept.
	"volume": 0.05, "layered": 0.01, "filter_2d": 0.01,
}

// TestReplay holds that the streams of a launch's warps, without edits, take the cycles of the launch.
func TestReplay(t *testing.T) {
	const every = 10 // kernels
	for i, file := range corpus(t) {
		kernel := filepath.Base(filepath.Dir(file))
		if !builtFor(parse(t, file), sass.SM70) || !*wholeCorpus && i%every != 0 && unlike[kernel] == 0 {
			continue
		}
		t.Run(kernel, func(t *testing.T) {
			t.Parallel()
			as, by := cyclesOf(t, file, nil), cyclesOf(t, file, &emu.WhatIf{Streams: &emu.Streams{}})
			if len(by) != len(as) {
				t.Fatalf("%d launches of %d", len(by), len(as))
			}
			for i := range as {
				if off := math.Abs(float64(by[i])/float64(as[i]) - 1); off > unlike[kernel] {
					t.Errorf("launch %d: %d cycles replayed, %d executed: %.2f %%", i, by[i], as[i], 100*off)
				}
			}
		})
	}
}

// replayed is by how much a launch whose streams are as they were recorded may take other cycles than one that is executed in time.
const replayed = .01

// TestReplayAsynchronous holds that launches of the kernels for sm_90 and later, which copy, multiply and wait beside what their warps execute, take
// as long where their streams are recorded and issued again. Without timing warps ask as often as they like for what is not there yet; in time they ask
// as often as they would.
func TestReplayAsynchronous(t *testing.T) {
	for _, of := range []struct{ suite, gpu string }{{"hopper", "h100"}, {"blackwell", "b200"}} {
		files, err := filepath.Glob("../../kernels/" + of.suite + "/*/launch*.yaml")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, name := range files {
			gpu := of.gpu
			if !builtFor(parse(t, name), sass.SM100) {
				gpu = "rtx5090"
			}
			t.Run(filepath.Join(of.suite, filepath.Base(filepath.Dir(name)), filepath.Base(name)), func(t *testing.T) {
				t.Parallel()
				holdReplay(t, name, gpu)
			})
		}
	}
}

// holdReplay compares the launches of a file with those of their streams.
func holdReplay(t *testing.T, name, gpu string) {
	model, err := arch.ByName(gpu)
	if err != nil {
		t.Fatal(err)
	}
	as, again := openOn(t, name, model, emu.Options{Timing: emu.TimingFull}), openOn(t, name, model, emu.Options{Timing: emu.TimingFull})
	for i := range as.File.Launches {
		want, err := as.Vary(context.Background(), i, Variation{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := again.Vary(context.Background(), i, Variation{WhatIf: &emu.WhatIf{Streams: new(emu.Streams)}})
		if err != nil {
			t.Errorf("launch %d: %v", i, err)
			return
		}
		by := float64(got.Cycles)/float64(want.Cycles) - 1
		t.Logf("launch %d, %s: %d cycles, %d where it is repeated, %+.2f %%; %d instructions, %d", i, as.File.Launches[i].Kernel,
			want.Cycles, got.Cycles, 100*by, want.WarpInstructions, got.WarpInstructions)
		if math.Abs(by) > replayed {
			t.Errorf("launch %d, %s: %d cycles, %d where it is repeated", i, as.File.Launches[i].Kernel, want.Cycles, got.Cycles)
		}
	}
}

// TestReplayMerged holds that blocks which copy and multiply keep their copies and products where two of them become one, which takes longer than one, and
// less than twice as long, as the copies of one are under way while the other's products are.
func TestReplayMerged(t *testing.T) {
	model, err := arch.ByName("h100")
	if err != nil {
		t.Fatal(err)
	}
	const name = "../../kernels/hopper/tma_gemm/launch.yaml"
	module, err := parse(t, name).LoadModule(sass.SM90)
	if err != nil {
		t.Fatal(err)
	}
	run := func(w *emu.WhatIf) (cycles, sectors, products int64) {
		r, err := openOn(t, name, model, emu.Options{Timing: emu.TimingFull}).Vary(context.Background(), 0, Variation{WhatIf: w})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Counters {
			n := &r.Counters[i]
			switch module.Codes[n.Code].Insts[n.PC/sass.InstSize].Op {
			case sass.UTMALDG:
				sectors += n.GlobalSectors
			case sass.HGMMA:
				products += n.Executions
			}
		}
		return r.Cycles, sectors, products
	}
	as, copied, products := run(nil)
	merged, copiedThen, productsThen := run(&emu.WhatIf{Streams: &emu.Streams{Merge: []stream.Merge{{Factor: 2, Axis: stream.GridX}}}})
	t.Logf("%d cycles, %d merged", as, merged)
	if copiedThen != copied || productsThen != products || copied == 0 || products == 0 {
		t.Errorf("%d sectors are copied, %d where blocks are merged; %d products, %d", copied, copiedThen, products, productsThen)
	}
	if merged <= as || merged >= 2*as {
		t.Errorf("%d cycles, two blocks as one %d", as, merged)
	}
}
