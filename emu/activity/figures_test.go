package activity

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/reconv"
)

// A figure is a kernel of testdata/figures.cu made ready to run under a model.
type figure struct {
	t       *testing.T
	machine *emu.Machine
	kernel  *cubin.Kernel
	params  []byte
}

func newFigure(t *testing.T, model reconv.Model, file, kernel string) *figure {
	t.Helper()
	return newFigureAt(t, emu.TimingNone, model, file, kernel)
}

func newFigureAt(t *testing.T, level emu.TimingLevel, model reconv.Model, file, kernel string) *figure {
	t.Helper()
	module, err := cubin.Open("testdata/" + file + ".sm_70.cubin")
	if err != nil {
		t.Fatal(err)
	}
	return newFigureOf(t, level, model, module, kernel)
}

func newFigureOf(t *testing.T, level emu.TimingLevel, model reconv.Model, module *cubin.File, kernel string) *figure {
	t.Helper()
	gpu, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	machine, err := emu.New(gpu, module, emu.Options{Timing: level, Reconvergence: model, MaxInstructions: 1 << 22})
	if err != nil {
		t.Fatal(err)
	}
	f := &figure{t: t, machine: machine}
	for _, k := range module.Kernels {
		if k.Name == kernel {
			f.kernel = k
		}
	}
	if f.kernel == nil {
		t.Fatalf("no kernel %s", kernel)
	}
	return f
}

// buffer passes a pointer to words, of which there are at least 4096.
func (f *figure) buffer(words ...int32) (addr uint64) {
	f.t.Helper()
	data := make([]byte, 4*4096)
	for i, w := range words {
		binary.LittleEndian.PutUint32(data[4*i:], uint32(w))
	}
	addr, err := f.machine.Alloc("buffer", int64(len(data)))
	if err == nil {
		err = f.machine.Write(addr, data)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.params = binary.LittleEndian.AppendUint64(f.params, addr)
	return addr
}

// word reads a word of a buffer.
func (f *figure) word(addr uint64, index int) int32 {
	var data [4]byte
	if err := f.machine.Read(addr+uint64(4*index), data[:]); err != nil {
		f.t.Fatal(err)
	}
	return int32(binary.LittleEndian.Uint32(data[:]))
}

// run launches one block of threads.
func (f *figure) run(threads int) (Activity, reconv.Stats, error) {
	f.t.Helper()
	var m Meter
	r, err := f.machine.Launch(context.Background(), &emu.Launch{
		Kernel: f.kernel, Grid: [3]int{1, 1, 1}, Block: [3]int{threads, 1, 1}, Params: f.params, Tracer: &m,
	})
	var fault *emu.Fault
	if err != nil && !errors.As(err, &fault) {
		f.t.Fatal(err)
	}
	return m.Activity(), r.Reconvergence, err
}

// Figure 1 of Thread Frontiers as sm_70 code, four threads on the paper's four paths: 1 3 4 5, 1 2, 1 2 3 5 and 1 2 3 4.
func TestFigure1(t *testing.T) {
	for _, test := range []struct {
		model   reconv.Model
		warp    int64
		factor  float64 // of 4 lanes
		barrier int64   // BMOV, BSSY, BREAK and BSYNC
		entries int
		memory  float64 // efficiency
	}{
		{reconv.TFStack{}, 41, .8171, 11, 3, 1},
		{reconv.Volta{}, 45, .7444, 15, 2, 1},
		{reconv.PDOM{}, 57, .5877, 16, 4, 1},
	} {
		t.Run(test.model.Name(), func(t *testing.T) {
			f := newFigure(t, test.model, "figures", "figure1")
			c := make([]int32, 128)
			c[0], c[32+1], c[64+2], c[96+3] = 1, 1, 1, 1
			f.buffer(c...)
			out := f.buffer()
			a, stats, err := f.run(4)
			if err != nil {
				t.Fatal(err)
			}
			if a.WarpInstructions != test.warp || a.ThreadInstructions != 134 {
				t.Errorf("%d warp and %d thread instructions, want %d and 134", a.WarpInstructions, a.ThreadInstructions, test.warp)
			}
			if got := a.BlockFactor(); math.Abs(got-test.factor) > 5e-5 {
				t.Errorf("activity factor of 4 lanes %.4f, want %.4f", got, test.factor)
			}
			if a.BarrierWarpInstructions != test.barrier || a.BarrierThreadInstructions != 36 {
				t.Errorf("%d and %d of them manage barriers, want %d and 36", a.BarrierWarpInstructions, a.BarrierThreadInstructions, test.barrier)
			}
			if stats.Entries != test.entries || a.MemoryEfficiency() != test.memory {
				t.Errorf("%d entries, memory efficiency %g, want %d and %g", stats.Entries, a.MemoryEfficiency(), test.entries, test.memory)
			}
			for lane := range 4 {
				if f.word(out, lane) != 6 {
					t.Errorf("lane %d has not come to the exit", lane)
				}
			}
		})
	}
	t.Run("mimd", func(t *testing.T) {
		f := newFigure(t, reconv.MIMD{}, "figures", "figure1")
		c := make([]int32, 128)
		c[0], c[32+1], c[64+2], c[96+3] = 1, 1, 1, 1
		f.buffer(c...)
		f.buffer()
		if _, stats, err := f.run(4); err != nil || stats.Bound != 41 {
			t.Errorf("bound %d, error %v, want 41", stats.Bound, err)
		}
	})
}

// Split-merge: four threads call four functions, three of which call one that they share.
func TestSplitMerge(t *testing.T) {
	for _, test := range []struct {
		model reconv.Model
		warp  int64
	}{
		{reconv.TFStack{}, 116},
		{reconv.PDOM{}, 142},
		{reconv.Volta{}, 146},
	} {
		t.Run(test.model.Name(), func(t *testing.T) {
			f := newFigure(t, test.model, "splitmerge", "splitmerge")
			f.buffer(0, 1, 2, 3)
			out := f.buffer()
			a, _, err := f.run(4)
			if err != nil {
				t.Fatal(err)
			}
			if a.WarpInstructions != test.warp || a.ThreadInstructions != 239 {
				t.Errorf("%d warp and %d thread instructions, want %d and 239", a.WarpInstructions, a.ThreadInstructions, test.warp)
			}
			if f.word(out, 32+3) != 3 {
				t.Error("lane 3's result is wrong")
			}
		})
	}
}

// The barriers of Figure 2. In (a) the branches that throw put the post-dominator behind the barrier: a stack comes to
// the barrier with one path only. In (c) a thread on the side path is late; the rule for barriers holds the others.
func TestFigure2(t *testing.T) {
	for _, test := range []struct {
		name, kernel string
		input        []int32
		stuck        map[string]string // model → part of the message
	}{
		{"a, nobody throws", "figure2a", []int32{6, -1}, map[string]string{
			"pdom": "lanes 0x00000002 wait at WARPSYNC, pc 0x1a0 (figures.cu:37), for lanes 0x00000001; warp 0 lanes 0x00000001 cannot run before them",
		}},
		{"c", "figure2c", []int32{0, 1}, nil},
	} {
		for _, model := range reconv.Models() {
			t.Run(test.name+"/"+model.Name(), func(t *testing.T) {
				f := newFigure(t, model, "figures", test.kernel)
				f.buffer(test.input...)
				f.buffer()
				if test.kernel == "figure2c" {
					f.params = binary.LittleEndian.AppendUint32(f.params, 3)
				}
				_, _, err := f.run(2)
				want, stuck := test.stuck[model.Name()]
				var fault *emu.Fault
				switch {
				case !stuck && err != nil:
					t.Error(err)
				case stuck && (!errors.As(err, &fault) || fault.Kind != emu.BarrierDeadlock || !strings.Contains(fault.Error(), want)):
					t.Errorf("no barrier deadlock with %q: %v", want, err)
				}
			})
		}
	}
}

// A spin lock whose holder is outside the loop needs groups that progress by themselves; one that is released in the loop
// does not.
func TestSpinLocks(t *testing.T) {
	for _, model := range reconv.Models() {
		for kernel, livelocks := range map[string]bool{
			"spin_done":  false,
			"spin_while": model != reconv.Model(reconv.Volta{}) && model != reconv.Model(reconv.MIMD{}),
		} {
			t.Run(model.Name()+"/"+kernel, func(t *testing.T) {
				f := newFigure(t, model, "figures", kernel)
				f.buffer(0)
				out := f.buffer(0)
				_, _, err := f.run(8)
				if !livelocks {
					if got := f.word(out, 0); err != nil || got != 8 {
						t.Errorf("%d threads have had the lock, %v", got, err)
					}
					return
				}
				var fault *emu.Fault
				if !errors.As(err, &fault) || fault.Kind != emu.Livelock {
					t.Fatalf("no livelock: %v", err)
				}
				for _, part := range []string{"under " + model.Name(), "lanes 0x000000fe run here", "lanes 0x00000001 cannot run", "figures.cu:"} {
					if !strings.Contains(fault.Error(), part) {
						t.Errorf("no %q in: %v", part, fault)
					}
				}
			})
		}
	}
}

// With timing too a launch ends that cannot go on.
func TestStuckInTime(t *testing.T) {
	for _, test := range []struct {
		kernel string
		input  []int32
		model  reconv.Model
		want   emu.FaultKind
	}{
		{"spin_while", []int32{0}, reconv.PDOM{}, emu.Livelock},
		{"spin_while", []int32{0}, reconv.TFStack{}, emu.Livelock},
		{"spin_while", []int32{0}, reconv.Volta{}, ""},
		{"figure2a", []int32{6, -1}, reconv.PDOM{}, emu.BarrierDeadlock},
		{"figure2a", []int32{6, -1}, reconv.TFStack{}, ""},
	} {
		t.Run(test.kernel+"/"+test.model.Name(), func(t *testing.T) {
			f := newFigureAt(t, emu.TimingFull, test.model, "figures", test.kernel)
			f.buffer(test.input...)
			f.buffer(0)
			_, err := f.machine.Launch(context.Background(), &emu.Launch{
				Kernel: f.kernel, Grid: [3]int{1, 1, 1}, Block: [3]int{2, 1, 1}, Params: f.params,
			})
			var fault *emu.Fault
			if errors.As(err, &fault); test.want == "" && err != nil || test.want != "" && (fault == nil || fault.Kind != test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
