package emu

import (
	"fmt"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// After so many arrivals the phase changes and the barrier waits for as many again (PTX ISA, mbarrier phase completion).
func TestMbarrierPhases(t *testing.T) {
	for name, b := range map[string]struct {
		begin  func(n uint64) uint64 // as ptxas has programs initialise a barrier
		arrive func(uint64) uint64
		most   uint64
	}{
		"sm_80": {func(n uint64) uint64 { return (1<<31-n)<<32 | (1<<30 - n) }, func(w uint64) uint64 { return arriveAmpere(w, 0) }, 1<<20 - 1},
		"sm_90": {func(n uint64) uint64 { return (1<<20-n)<<43 | (1<<20-n)<<1 }, func(w uint64) uint64 {
			return uint64(transactionBarrier(w).after(arrival{count: 1}))
		}, 1<<20 - 1},
	} {
		for _, n := range []uint64{1, 2, 3, 64, 1000, b.most} {
			word := b.begin(n)
			for phase := range uint64(3) {
				for k := range n {
					if word>>63 != phase&1 {
						t.Fatalf("%s: %d arrivals expected: phase %d ends after %d", name, n, phase, k)
					}
					word = b.arrive(word)
				}
			}
			if word>>63 != 1 {
				t.Errorf("%s: %d arrivals expected: phase 2 does not end", name, n)
			}
		}
	}
}

// Two warps exchange what they store, twice, by a transaction barrier as ptxas compiles mbarrier.init, arrive, cp.async.mbarrier.arrive and
// test_wait.
func TestMbarriers(t *testing.T) {
	for _, c := range []struct {
		list          []sass.Arch
		begin, arrive string
	}{
		{[]sass.Arch{sass.SM80, sass.SM86, sass.SM89}, `
			MOV R4, 0x3fffffc0
			MOV R5, 0x7fffffc0
			ISETP.NE.AND P0, PT, R0, RZ, PT
			@!P0 STS.64 [RZ], R4`, `
			ATOMS.ARRIVE.64 R2, [URZ]
			wait%[1]d:
			LDS R6, [0x4]
			LOP3.LUT R6, R6, R3, RZ, 0x3c, !PT
			ISETP.GE.AND P1, PT, R6, RZ, PT
			@P1 BRA wait%[1]d`},
		{[]sass.Arch{sass.SM80, sass.SM86, sass.SM89}, `
			MOV R4, 0x3fffffc0
			MOV R5, 0x7fffffc0
			ISETP.NE.AND P0, PT, R0, RZ, PT
			@!P0 STS.64 [RZ], R4`, `
			MOV R12, 0x%[1]d
			SHF.L.U32 R3, R12, 0x1f, RZ
			ARRIVES.LDGSTSBAR.64 [URZ]
			wait%[1]d:
			LDS R6, [0x4]
			LOP3.LUT R6, R6, R3, RZ, 0x3c, !PT
			ISETP.GE.AND P1, PT, R6, RZ, PT
			@P1 BRA wait%[1]d`},
		{[]sass.Arch{sass.SM90}, `
			UMOV UR8, URZ
			UMOV UR4, 0x1fff80
			UMOV UR5, 0x7ffe0000
			SYNCS.EXCH.64 URZ, [UR8], UR4`, `
			SYNCS.ARRIVE.TRANS64.A1T0 R2, [UR8], RZ
			wait%[1]d:
			SYNCS.PHASECHK.TRANS64 P1, [UR8], R3
			@!P1 BRA wait%[1]d`},
	} {
		body := c.begin + `
			BAR.SYNC.DEFER_BLOCKING 0x0
			SHF.L.U32 R7, R0, 0x2, RZ
			LOP3.LUT R8, R7, 0x84, RZ, 0x3c, !PT
			MOV R9, RZ`
		for phase := range 2 {
			body += fmt.Sprintf(`
			IADD3 R11, R0, %#x, RZ
			STS [R7+%#x], R11
			%[3]s
			LDS R11, [R8+%#[2]x]
			IADD3 R9, R9, R11, RZ`, 0x100*phase, 0x100+0x100*phase, strings.ReplaceAll(c.arrive, "%[1]d", fmt.Sprint(phase)))
		}
		eachOf(t, c.list, 64, body, func(n uint32) uint32 { return 2*(n^33) + 0x100 })
	}
}
