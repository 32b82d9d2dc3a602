package emu

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// A model of an mbarrier object in the words of the PTX ISA (Parallel Synchronization and Communication Instructions: mbarrier):
// the current phase, the count of pending arrivals, the count of expected arrivals of the next phase, and the tx-count.
type mbarrierModel struct {
	phase                  uint64
	pending, expected, txs int64
}

// complete: the current phase is complete when the pending count and the tx-count have reached zero; the object is then
// reinitialised, the pending count from the expected one.
func (m *mbarrierModel) complete() {
	if m.pending == 0 && m.txs == 0 {
		m.phase++
		m.pending = m.expected
	}
}

func (m *mbarrierModel) expectTx(n int64)   { m.txs += n; m.complete() }
func (m *mbarrierModel) completeTx(n int64) { m.txs -= n; m.complete() }
func (m *mbarrierModel) arrive(n int64)     { m.pending -= n; m.complete() }
func (m *mbarrierModel) drop(n int64)       { m.expected -= n }

// word is the state that ptxas has programs make of counts, where there are no transactions.
func (m *mbarrierModel) word() uint64 {
	return m.phase&1<<63 | uint64(1<<20-m.pending)&(1<<20-1)<<43 | uint64(1<<20-m.expected)&(1<<20-1)<<1
}

// Random sequences of what SYNCS does, against the model: the states that arrivals return, and what test_wait and
// test_wait.parity say after each.
func TestTransactionBarriers(t *testing.T) {
	r := rand.New(rand.NewPCG(90, 64))
	const address, value, state, ok = 2, 3, 4, 0
	type action struct {
		text string
		do   func(m *mbarrierModel, v int64)
		most func(m *mbarrierModel) int64 // of the register
	}
	left := func(m *mbarrierModel) int64 { return m.pending }
	any := func(*mbarrierModel) int64 { return 1000 }
	few := func(m *mbarrierModel) int64 { return min(1, m.pending) }
	actions := []action{
		{"SYNCS.ARRIVE.TRANS64.A1T0 R4, [R2+URZ], RZ", func(m *mbarrierModel, _ int64) { m.arrive(1) }, few},
		{"SYNCS.ARRIVE.TRANS64.ART0 R4, [R2+URZ], R3", func(m *mbarrierModel, v int64) { m.arrive(v) }, left},
		{"SYNCS.ARRIVE.TRANS64 R4, [R2+URZ], R3", func(m *mbarrierModel, v int64) { m.txs += v; m.arrive(1) }, func(m *mbarrierModel) int64 { return 1000 * few(m) }},
		{"SYNCS.ARRIVE.TRANS64.RED.A0TR RZ, [R2+URZ], R3", func(m *mbarrierModel, v int64) { m.expectTx(v) }, any},
		{"SYNCS.ARRIVE.TRANS64.RED.A0T1 RZ, [R2+URZ], RZ", func(m *mbarrierModel, _ int64) { m.expectTx(1) }, any},
		{"SYNCS.ARRIVE.TRANS64.RED.A0TX RZ, [R2+URZ], R3", func(m *mbarrierModel, v int64) { m.completeTx(v) }, func(m *mbarrierModel) int64 { return max(m.txs, 100) }},
		{"SYNCS.ARRIVE.TRANS64.OPTOUT.A1T0 R4, [R2+URZ], RZ", func(m *mbarrierModel, _ int64) { m.drop(1); m.arrive(1) }, func(m *mbarrierModel) int64 { return few(m) * (m.expected - 1) }},
		{"SYNCS.ARRIVE.TRANS64.OPTOUT.ART0 R4, [R2+URZ], R3", func(m *mbarrierModel, v int64) { m.drop(v); m.arrive(v) }, func(m *mbarrierModel) int64 { return min(m.pending, m.expected-1) }},
		{"ARRIVES.LDGSTSBAR.64.ARVCNT [R2+URZ]", func(m *mbarrierModel, _ int64) { m.arrive(1) }, few},
		{"ARRIVES.LDGSTSBAR.64.TRANSCNT [R2+URZ]", func(m *mbarrierModel, _ int64) { m.completeTx(1) }, any},
	}
	warps := make([]*warp, len(actions))
	for i := range actions {
		warps[i] = mbarrierWarp(t, actions[i].text+" ; SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2+URZ], R5")
	}
	for _, begin := range []int64{1, 2, 7, 1000, 1<<20 - 1} {
		m := &mbarrierModel{pending: begin, expected: begin}
		shared := make([]byte, 64)
		for k := range 8 {
			shared[16+k] = byte(m.word() >> (8 * k))
		}
		phases := m.phase
		for range 3000 {
			i := r.IntN(len(actions))
			a, w := &actions[i], warps[i]
			most := a.most(m)
			if most < 1 {
				continue
			}
			v := 1 + r.Int64N(most)
			if r.IntN(4) == 0 {
				v = most
			}
			before := *m
			a.do(m, v)
			parity := r.Uint64() & 1
			w.block.shared = shared
			w.active = 1
			w.regs[address][0], w.regs[value][0], w.regs[state+1][0] = 16, uint32(v), 0
			w.pc = 0
			if err := w.step(); err != nil {
				t.Fatal(err)
			}
			if got := pair(w, state, 0); w.regs[state+1][0] != 0 && before.txs == 0 && got != before.word() {
				t.Fatalf("%s returns %#x, want %#x", a.text, got, before.word())
			}
			w.regs[5][0] = uint32(parity << 31) // as ptxas passes a parity
			if err := w.step(); err != nil {
				t.Fatal(err)
			}
			if got, want := w.preds[ok]&1 != 0, parity != m.phase&1; got != want {
				t.Fatalf("%s, %+v: the phase of parity %d is complete: %v, want %v", a.text, *m, parity, got, want)
			}
		}
		if m.phase < phases+4 && begin < 1000 {
			t.Errorf("%d arrivals: only %d phases", begin, m.phase-phases)
		}
	}
}

// mbarrierWarp executes instructions of sm_90 on 64 bytes of shared memory.
func mbarrierWarp(t *testing.T, text string) *warp {
	t.Helper()
	w := newTestWarp(t, sass.SM90, text)
	w.block.shared = make([]byte, 64)
	return w
}

// st.async: the value is stored and as many bytes are complete at the barrier.
func TestStoreAsync(t *testing.T) {
	for _, c := range []struct {
		text string
		size uint32
	}{{"STAS [R2.64], R4", 4}, {"STAS.64 [R2.64], R4", 8}, {"STAS.128 [R2.64], R4", 16}} {
		text := c.text + " ; SYNCS.PHASECHK.TRANS64 P0, [R8+URZ], RZ"
		for _, more := range []uint32{0, 1} {
			w := mbarrierWarp(t, "SYNCS.ARRIVE.TRANS64 RZ, [R8+URZ], R9 ; "+text)
			m := &mbarrierModel{pending: 1, expected: 1}
			for k := range 8 {
				w.block.shared[k] = byte(m.word() >> (8 * k))
			}
			w.active = 1
			w.regs[2][0], w.regs[3][0], w.regs[8][0], w.regs[9][0] = 32, 0, 0, c.size+more
			for n := range 4 {
				w.regs[4+n][0] = 0x01010101 * uint32(n+1)
			}
			w.runAll(t)
			if got := w.preds[0]&1 == 1; got != (more == 0) {
				t.Errorf("%s: %d bytes expected: complete is %v", c.text, c.size+more, got)
			}
			for k, b := range w.block.shared[32:48] {
				if want := byte(k/4 + 1); k < int(c.size) && b != want || k >= int(c.size) && b != 0 {
					t.Errorf("%s: byte %d is %d", c.text, k, b)
				}
			}
		}
	}
}

// ELECT names one lane of those that execute and have the predicate.
func TestELECT(t *testing.T) {
	r := rand.New(rand.NewPCG(90, 65))
	for _, kill := range []string{"", ".IGNOREKILL"} {
		w := newTestWarp(t, sass.SM90, "ELECT"+kill+" P1, UR6, P0")
		for range 200 {
			w.pc = 0
			w.active, w.preds[0] = r.Uint32()|1<<r.IntN(32), r.Uint32()
			w.preds[1] = 0
			among := w.active & w.preds[0]
			if err := w.step(); err != nil {
				t.Fatal(err)
			}
			leader, p := w.uniformRegister(6)[0], w.preds[1]&w.active
			if among == 0 && p != 0 || among != 0 && (p != 1<<leader || among>>leader&1 == 0) {
				t.Fatalf("among %#x: lane %d, predicate %#x", among, leader, p)
			}
		}
	}
}

// ELECT with a mask in a uniform register names one of its lanes.
func TestElectAmong(t *testing.T) {
	r := rand.New(rand.NewPCG(90, 66))
	for _, inverted := range []bool{false, true} {
		text := map[bool]string{false: "ELECT P1, UR6, UR4", true: "ELECT P1, UR6, ~UR4"}[inverted]
		w := newTestWarp(t, sass.SM90, text)
		for range 200 {
			mask := r.Uint32()
			*w.uniformRegister(4) = *broadcast(mask)
			if inverted {
				mask = ^mask
			}
			w.pc, w.preds[1] = 0, 0
			w.active = r.Uint32() | 1<<r.IntN(32)
			if err := w.step(); err != nil {
				t.Fatal(err)
			}
			among := w.active & mask
			leader, p := w.uniformRegister(6)[0], w.preds[1]&w.active
			if among == 0 && p != 0 || among != 0 && (p != 1<<leader || among>>leader&1 == 0) {
				t.Fatalf("%s among %#x: lane %d, predicate %#x", text, among, leader, p)
			}
		}
	}
}

// Registers come from those that warps of the block have given back (PTX ISA, setmaxnreg): two warps take what a third one gives only
// once that has done so, however often they try before.
func TestUSETMAXREG(t *testing.T) {
	const body = `
		MOV R9, RZ
		ISETP.GE.AND P0, PT, R0, 0x40, PT
		@P0 BRA gives
		again:
		IADD3 R9, R9, 0x1, RZ
		USETMAXREG.TRY_ALLOC.CTAPOOL UP1, 0x28
		PLOP3.LUT P1, PT, PT, PT, UP1, 0x80, 0x0
		@!P1 BRA again
		BRA out
		gives:
		NANOSLEEP 0x400
		USETMAXREG.DEALLOC.CTAPOOL 0x10
		out:
		ISETP.GE.AND P2, PT, R9, 0x2, PT
		SEL R9, RZ, 0x1, !P2`
	eachOf(t, []sass.Arch{sass.SM90}, 96, body, func(n uint32) uint32 { return bit(n < 64) })
}

// A warp that takes more than there is waits for ever, and the run says where.
func TestRegistersThatNobodyGives(t *testing.T) {
	p := &timedProgram{model: modelOf(sass.SM90), threads: 32, buffers: [][]uint32{make([]uint32, 32)}, text: `
		again:
		USETMAXREG.TRY_ALLOC.CTAPOOL UP1, 0xe8
		PLOP3.LUT P1, PT, PT, PT, UP1, 0x80, 0x0
		@!P1 BRA again
		EXIT`}
	m, l, _ := p.start(t, p.model, Options{})
	_, err := m.Launch(context.Background(), l)
	var fault *Fault
	if !errors.As(err, &fault) || fault.Kind != Livelock {
		t.Errorf("the launch ends with %v", err)
	}
}

// barrier.cluster in clusters of one block: what warps store before they arrive is there behind the wait, in each of several
// phases, also for warps that come late to one or the other.
func TestClusterBarriers(t *testing.T) {
	body := `
		SHF.L.U32 R7, R0, 0x2, RZ
		LOP3.LUT R8, R7, 0x184, RZ, 0x3c, !PT
		ISETP.LT.AND P1, PT, R0, 0x40, PT
		MOV R9, RZ`
	const phases = 4
	for phase := range phases {
		early, late := "", "@P1 NANOSLEEP 0x40\n"
		if phase%2 == 1 {
			early, late = late, early
		}
		body += fmt.Sprintf(`
			IADD3 R11, R0, %#x, RZ
			STS [R7+%#[2]x], R11
			%[3]s
			UCGABAR_ARV
			%[4]s
			IADD3 R10, R10, 0x0, RZ
			UCGABAR_WAIT
			LDS R11, [R8+%#[2]x]
			IADD3 R9, R9, R11, RZ`, 0x1000*phase, 0x200*phase, early, late)
	}
	eachOf(t, []sass.Arch{sass.SM90}, 128, body, func(n uint32) uint32 { return phases*(n^0x61) + 0x1000*(phases*(phases-1)/2) })
}

// The sizes that clusters can have (CUDA programming guide, thread block clusters).
func TestClusterLaunches(t *testing.T) {
	for _, c := range []struct {
		cluster [3]int
		want    string
	}{{[3]int{}, ""}, {[3]int{1, 1, 1}, ""}, {[3]int{2, 4, 1}, ""}, {[3]int{2, 3, 1}, "grid y is 8, not a multiple"}, {[3]int{4, 8, 1}, "clusters of 4x8x1 blocks"}, {[3]int{2, 0, 1}, "clusters of 2x0x1 blocks"}} {
		l := Launch{Kernel: &cubin.Kernel{}, Grid: [3]int{8, 8, 1}, Cluster: c.cluster}
		err := l.checkCluster(sass.SM90)
		if got := fmt.Sprint(err); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(got, c.want) {
			t.Errorf("clusters of %v: %v", c.cluster, err)
		}
	}
	if (&Launch{Kernel: &cubin.Kernel{}, Cluster: [3]int{1, 1, 1}}).checkCluster(sass.SM89) == nil {
		t.Error("sm_89 has clusters")
	}
}

// ptxas reads %nwarpid of sm_90, the most warps of an SM, out of bits 8 to 15 of a special register.
func TestVirtualConfiguration(t *testing.T) {
	want := uint32(modelOf(sass.SM90).Limits.Warps.Int())
	eachOf(t, []sass.Arch{sass.SM90}, 32, `
		S2R R9, SR_VIRTCFG
		SHF.R.U32.HI R9, RZ, 0x8, R9
		SGXT.U32 R9, R9, 0x8`, func(uint32) uint32 { return want })
}

// A warp that waits for a phase with a time limit goes on soon after another one has arrived, with timing and without, however long the
// limit is (PTX ISA, mbarrier.try_wait: it returns when the phase completes).
func TestPhaseWithinTimeLimit(t *testing.T) {
	const limit = 0x989680 // 10 ms, CUTLASS' and cuTile's
	p := &timedProgram{model: modelOf(sass.SM90), threads: 64, shared: 64, buffers: [][]uint32{make([]uint32, 64)}, text: fmt.Sprintf(`
		S2R R0, SR_TID.X
		[B0-----:R-:W-:-:S06] ISETP.GE.AND P0, PT, R0, 0x20, PT
		UMOV UR8, URZ
		UMOV UR4, 0x1fffc0
		UMOV UR5, 0x7fff0000
		MOV R2, RZ
		@P0 BRA ready
		[B------:R-:W0:-:S06] SYNCS.EXCH.64 URZ, [UR8], UR4
		ready:
		[B0-----:R-:W-:-:S06] BAR.SYNC.DEFER_BLOCKING 0x0
		@P0 BRA arrives
		again:
		[B------:R-:W1:-:S06] SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R2+URZ], R2
		[B-1----:R-:W-:-:S06] @!P1 NANOSLEEP.SYNCS %#x
		@!P1 SYNCS.PHASECHK.TRANS64 P1, [R2+URZ], R2
		@!P1 BRA again
		EXIT
		arrives:
		NANOSLEEP 0x400
		SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR8], RZ
		EXIT`, limit)}
	for _, level := range []TimingLevel{TimingNone, TimingFull} {
		m, l, _ := p.start(t, p.model, Options{Timing: level})
		r, err := m.Launch(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		if most := int64(p.model.Clock.Value / 1e9 * 0x400 * 2); max(r.Cycles, r.Slept) > most {
			t.Errorf("%v: %d cycles, %d slept, at most %d", level, r.Cycles, r.Slept, most)
		}
	}
}
