package emu

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/reconv"
)

// goldenWords reads the instruction words that package sass is tested with: each "32 hexadecimal digits, tab, text".
func goldenWords(tb testing.TB) []sass.Word {
	tb.Helper()
	var list []sass.Word
	for _, name := range []string{"sm_70.txt", "corpus_sm_70.txt"} {
		data, err := os.ReadFile("../cubin/sass/testdata/" + name)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			digits, _, _ := strings.Cut(line, "\t")
			if len(digits) != 32 {
				continue
			}
			hi, err1 := strconv.ParseUint(digits[:16], 16, 64)
			lo, err2 := strconv.ParseUint(digits[16:], 16, 64)
			if err1 != nil || err2 != nil {
				tb.Fatalf("%s: %q", name, line)
			}
			list = append(list, sass.Word{Lo: lo, Hi: hi})
		}
	}
	return list
}

// runWords runs words, whatever they are, after registers have got arbitrary contents. Only the machine's own kinds of
// errors may come out.
func runWords(tb testing.TB, list []sass.Word, random *rand.Rand) {
	runWordsUnder(tb, nil, list, random)
}

// runWordsUnder does so under a re-convergence model.
func runWordsUnder(tb testing.TB, model reconv.Model, list []sass.Word, random *rand.Rand) {
	code := &cubin.Code{Name: "words"}
	for _, w := range list {
		in, err := sass.Decode(sass.SM70, uint64(len(code.Insts)*sass.InstSize), w)
		if err != nil {
			in = sass.Inst{PC: uint64(len(code.Insts) * sass.InstSize), Word: w, Guard: sass.Guard{Reg: sass.PT}}
		}
		code.Insts = append(code.Insts, in)
	}
	code.Functions = []cubin.Function{{Name: "words", Demangled: "words", Size: code.Size()}}
	k := &cubin.Kernel{Name: "words", Demangled: "words", Code: code, ParamBase: 0x160, Registers: 255}
	m, err := New(testModel(tb), &cubin.File{Name: "words", Arch: sass.SM70, Codes: []*cubin.Code{code}, Kernels: []*cubin.Kernel{k}},
		Options{MaxInstructions: 1 << 12, Reconvergence: model})
	if err != nil {
		tb.Fatal(err)
	}
	addr, err := m.Alloc("a", 1<<16)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := m.prepare(&Launch{Kernel: k, Grid: [3]int{1, 1, 1}, Block: [3]int{40, 1, 1}, SharedDynamic: 1 << 12, Stack: 1 << 10})
	if err != nil {
		tb.Fatal(err)
	}
	interesting := []uint32{0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 0x40, uint32(addr), uint32(addr >> 32), 0x3f800000, 0x7fc00000}
	b := r.newBlock(0)
	x := random.Uint64() | 1
	for _, w := range b.warps {
		for i := range w.regs[:r.program.registers] {
			for l := range w.regs[i] {
				x = x*6364136223846793005 + 1442695040888963407 // of Knuth's MMIX: a better generator took most of the time
				if w.regs[i][l] = uint32(x >> 16); x>>63 == 0 {
					w.regs[i][l] = interesting[x>>48%uint64(len(interesting))]
				}
			}
		}
		for p := range sass.PT {
			w.preds[p] = random.Uint32()
		}
	}
	f := functionalRun{launchRun: r, running: []*block{b}, next: r.blocks, resident: 1}
	for round := int64(0); len(f.running) > 0; round++ {
		if err := f.round(tb.Context(), round); err != nil {
			var fault *Fault
			if !errors.As(err, &fault) {
				tb.Errorf("%v", err)
			}
			_ = fault.Error()
			return
		}
	}
}

// Every instruction word runs or faults, alone and among others.
func TestEveryWord(t *testing.T) {
	list := goldenWords(t)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range list {
		runWords(t, list[i:i+1], random)
	}
	for range 200 {
		var some []sass.Word
		for range 30 {
			some = append(some, list[random.IntN(len(list))])
		}
		runWords(t, some, random)
	}
}

// Control flow of any kind runs or faults under every re-convergence model.
func TestEveryFlow(t *testing.T) {
	var flow []sass.Word
	list := goldenWords(t)
	for _, w := range list {
		in, err := sass.Decode(sass.SM70, 0, w)
		if err == nil && controlCompilers[in.Op] != nil {
			flow = append(flow, w)
		}
	}
	for _, model := range reconv.Models() {
		random := rand.New(rand.NewPCG(3, 4))
		for range 400 {
			var some []sass.Word
			for i := range 24 {
				w := list[random.IntN(len(list))]
				if i%2 == 0 {
					w = flow[random.IntN(len(flow))]
				}
				if in, err := sass.Decode(sass.SM70, 0, w); err == nil && findOperand(&in, sass.KindTarget) >= 0 {
					w = near(w, i, random.IntN(24))
				}
				some = append(some, w)
			}
			runWordsUnder(t, model, some, random)
		}
	}
}

// near makes a branch at instruction i lead to another one.
func near(w sass.Word, i, to int) sass.Word {
	const targetAt = 34 // of a signed 48-bit number of words, from the next instruction
	offset := uint64(int64((to-i-1)*sass.InstSize/4)) & (1<<48 - 1)
	w.Lo = w.Lo&(1<<targetAt-1) | offset<<targetAt
	w.Hi = w.Hi&^(1<<18-1) | offset>>(64-targetAt)
	return w
}

// FuzzWords runs arbitrary words.
func FuzzWords(f *testing.F) {
	known := make(map[uint64]bool)
	for i, w := range goldenWords(f) {
		const opcode = 1<<12 - 1
		if !known[w.Lo&opcode] { // one each: TestEveryWord runs all, and of every seed all counters of coverage are sent, as text
			known[w.Lo&opcode] = true
			f.Add(w.Lo, w.Hi, uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, lo, hi, seed uint64) {
		runWords(t, []sass.Word{{Lo: lo, Hi: hi}, {Lo: hi, Hi: lo}}, rand.New(rand.NewPCG(seed, 1)))
	})
}

// A launch that is cancelled ends with the context's error.
func TestCancel(t *testing.T) {
	p := &timedProgram{text: `
		loop:
		ATOMS.ADD RZ, [RZ], R1
		BRA loop`, shared: 4}
	for _, level := range []TimingLevel{TimingNone, TimingFull} {
		m, l, _ := p.start(t, testModel(t), Options{Timing: level})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := m.Launch(ctx, l); !errors.Is(err, context.Canceled) {
			t.Errorf("timing %s: %v", level, err)
		}
	}
}
