package emu

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"testing"
)

// racing are programs whose result depends on the order in which SMs come to memory. R0 is the thread's number; the
// buffers are of 66 words.
var racing = map[string]string{
	"stores and loads of other threads": `
		[B------:R-:W-:-:S05] LOP3.LUT R5, R0, 0x3f, RZ, 0xc0, !PT
		[B------:R-:W-:-:S08] IMAD.WIDE R4, R5, 0x4, R2
		[B------:R-:W0:-:S02] LDG.E.SYS R6, [R4]
		[B0-----:R-:W-:-:S08] IMAD R6, R6, 0x5, R0
		[B------:R-:W-:-:S02] STG.E.SYS [R4], R6
		[B------:R-:W-:-:S02] STG.E.U8.SYS [R2+0x5], R0
		[B------:R-:W1:-:S02] LDG.E.SYS R7, [R2+0x4]
		[B-1----:R-:W-:-:S08] IADD3 R7, R7, R6, RZ
		[B------:R-:W-:-:S02] STG.E.SYS [R4+0x8], R7`,
	"atomics among loads and stores": `
		[B------:R-:W0:-:S02] LDG.E.SYS R6, [R2]
		[B------:R-:W1:-:S02] ATOMG.E.ADD.STRONG.GPU PT, R7, [R2], R0
		[B01----:R-:W-:-:S08] IADD3 R7, R7, R6, RZ
		[B------:R-:W-:-:S02] STG.E.SYS [R2+0x10], R7
		[B------:R-:W1:-:S02] ATOMG.E.EXCH.STRONG.GPU PT, R8, [R2+0x20], R7
		[B-1----:R-:W-:-:S08] IADD3 R8, R8, R7, RZ
		[B------:R-:W-:-:S02] STG.E.SYS [R2+0x24], R8
		[B------:R-:W-:-:S02] RED.E.ADD.STRONG.GPU [R2+0x28], R8`,
	"a message and its flag": `
		[B------:R-:W-:-:S08] STG.E.SYS [R2+0x40], R0
		[B------:R-:W-:-:S08] STG.E.SYS [R2], R0
		[B------:R-:W0:-:S02] LDG.E.SYS R6, [R2]
		[B------:R-:W1:-:S02] LDG.E.SYS R7, [R2+0x40]
		[B01----:R-:W-:-:S08] IADD3 R8, R7, R6, RZ
		[B------:R-:W-:-:S02] RED.E.ADD.STRONG.GPU [R2+0x80], R8`,
}

// racingProgram makes a program whose threads do one of these four times.
func racingProgram(body string) timedProgram {
	return timedProgram{blocks: 100, threads: 96, buffers: [][]uint32{words(66)}, text: `
		[B------:R-:W0:-:S02] S2R R0, SR_CTAID.X
		[B------:R-:W1:-:S02] S2R R1, SR_TID.X
		[B01----:R-:W-:-:S04] IMAD R0, R0, c[0x0][0x0], R1
		[B------:R-:W-:-:S04] MOV R2, c[0x0][0x160]
		[B------:R-:W-:-:S08] MOV R3, c[0x0][0x164]` + twice(body+body)}
}

// TestWorkers holds that a launch is the same for any number of workers: result, samples and memory, of programs too
// whose threads race. The number of instructions is limited in one half of the cases, so that the launch ends in the
// middle.
func TestWorkers(t *testing.T) {
	for name, body := range racing {
		for _, limit := range []int64{0, 8000} {
			var want *trace
			var wantResult *Result
			var wantMemory []byte
			for _, workers := range []int{1, 2, 3, 7} {
				p := racingProgram(body)
				m, l, addrs := p.start(t, testModel(t), Options{Timing: TimingFull, MaxInstructions: limit, Workers: workers})
				got := newTrace()
				l.Observer = got
				result, err := m.Launch(context.Background(), l)
				if (err != nil) != (limit != 0) {
					t.Fatalf("%s: %v", name, err)
				}
				memory := make([]byte, 4*66)
				if err := m.Read(addrs[0], memory); err != nil {
					t.Fatal(err)
				}
				result.Facts = LaunchFacts{}
				if want == nil {
					want, wantResult, wantMemory = got, result, memory
					if limit != 0 && result.WarpInstructions != limit {
						t.Errorf("%s: %d instructions executed, the limit is %d", name, result.WarpInstructions, limit)
					}
				}
				if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(result, wantResult) || !bytes.Equal(memory, wantMemory) {
					t.Errorf("%s: other samples, counters or memory with %d workers", name, workers)
				}
			}
		}
	}
}

// TestAtomicsAddUp holds that no atomic is lost among SMs that run ahead.
func TestAtomicsAddUp(t *testing.T) {
	p := racingProgram("[B------:R-:W-:-:S02] RED.E.ADD.STRONG.GPU [R2], R0\n[B------:R-:W-:-:S02] STG.E.SYS [R2+0x20], R0\n")
	_, m, addrs := p.run(t, nil)
	var word [4]byte
	if err := m.Read(addrs[0], word[:]); err != nil {
		t.Fatal(err)
	}
	n := uint32(p.blocks * p.threads)
	if got, want := load(word[:]), 4*(n*(n-1)/2); got != want {
		t.Errorf("the sum is %d, want %d", got, want)
	}
}

// TestStoreBuffer compares a store buffer with memory that is stored to at once.
func TestStoreBuffer(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	to := &buffer{addr: globalBase}
	to.data = make([]byte, 1<<14-24)
	to.own = to.data
	at := make([]byte, len(to.data))
	var b storeBuffer
	for round := range 50 {
		for range random.IntN(400) {
			size := uint64(1) << random.IntN(5)
			off := uint64(random.IntN(len(at))) &^ (size - 1)
			if random.IntN(3) == 0 {
				off &= 0x7f // some places often
			}
			if off+size > uint64(len(at)) {
				continue
			}
			if random.IntN(2) == 0 {
				place := b.at(to, to.addr+off, size)
				for k := range place {
					place[k] = byte(random.Uint32())
				}
				copy(at[off:], place)
				continue
			}
			from := to.data[off : off+size]
			if !b.empty() {
				from = b.read(to.addr+off, from)
			}
			if !bytes.Equal(from, at[off:off+size]) {
				t.Fatalf("round %d: %d bytes at %#x read as %x, were stored as %x", round, size, off, from, at[off:off+size])
			}
		}
		if err := b.commit(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(to.data, at) || !b.empty() {
			t.Fatalf("round %d: memory is not what was stored", round)
		}
	}
}
