package emu

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// eachArch runs a body in blocks of so many threads on every architecture that knows its instructions, from one on, and
// compares R9 of each thread with what it should be.
func eachArch(t *testing.T, from sass.Arch, threads int, body string, want func(thread uint32) uint32) {
	t.Helper()
	eachOf(t, architectures[slices.Index(architectures, from):], threads, body, want)
}

// eachOf is eachArch for some architectures.
func eachOf(t *testing.T, list []sass.Arch, threads int, body string, want func(thread uint32) uint32) {
	t.Helper()
	text := "MOV R10, 0x4\nS2R R0, SR_TID.X\n" + body + storeR9
	ran := 0
	for _, a := range list {
		p := &timedProgram{model: modelOf(a), text: text, threads: threads, shared: 4096, buffers: [][]uint32{make([]uint32, threads)}}
		if a >= sass.SM80 {
			p.text = strings.ReplaceAll(text, ".SYS", "")
		}
		if _, err := parseTest(a, strings.Join(p.lines(), ";")); err != nil {
			continue
		}
		ran++
		for thread, got := range p.result(t, 0) {
			if w := want(uint32(thread)); got != w {
				t.Fatalf("sm_%d, thread %d: got %#x, want %#x", a, thread, got, w)
			}
		}
	}
	if ran == 0 {
		t.Error("no architecture knows it")
	}
}

// Branches, calls and returns of every kind.
func TestControlRows(t *testing.T) {
	const half = "ISETP.GE.AND P0, PT, R0, 0x10, PT\n"
	odd := func(thread uint32) uint32 { return thread & 1 }
	for _, c := range []struct {
		name string
		from sass.Arch
		body string
		want func(thread uint32) uint32
	}{
		{"BRA", sass.SM70, `
			MOV R9, RZ
			MOV R4, R0
			loop:
			ISETP.EQ.AND P0, PT, R4, RZ, PT
			@P0 BRA out
			IADD3 R9, R9, R4, RZ
			IADD3 R4, R4, -0x1, RZ
			BRA loop
			out:`, func(n uint32) uint32 { return n * (n + 1) / 2 }},
		{"BRX", sass.SM70, `
			LOP3.LUT R6, R0, 0x1, RZ, 0xc0, !PT
			SHF.L.U32 R6, R6, 0x5, RZ
			MOV R7, RZ
			BRX R6 0x0
			MOV R9, RZ
			BRA out
			MOV R9, 0x1
			out:`, odd},
		{"BRXU", sass.SM75, `
			MOV R9, RZ
			UMOV UR4, 0x20
			UMOV UR5, URZ
			BRXU UR4 0x0
			MOV R9, 0x2
			BRA out
			LOP3.LUT R9, R0, 0x1, RZ, 0xc0, !PT
			out:`, odd},
		{"CALL.REL and RET.REL", sass.SM70, `
			MOV R20, back
			MOV R21, RZ
			MOV R9, R0
			CALL.REL.NOINC function
			back:
			IADD3 R9, R9, 0x20, RZ
			BRA out
			function:
			IMAD R9, R9, 0x3, RZ
			RET.REL.NODEC R20 0x0
			out:`, func(n uint32) uint32 { return 3*n + 0x20 }},
		{"CALL.REL through a register", sass.SM70, `
			MOV R20, back
			MOV R21, RZ
			MOV R11, RZ
			LOP3.LUT P0, RZ, R0, 0x1, RZ, 0xc0, !PT
			MOV R12, even
			SEL R12, R12, odd, !P0
			MOV R13, RZ
			CALL.REL.NOINC R12 0x0
			back:
			IADD3 R9, R9, 0x20, RZ
			BRA out
			even:
			MOV R9, RZ
			RET.REL.NODEC R20 0x0
			odd:
			MOV R9, 0x1
			RET.REL.NODEC R20 0x0
			out:`, func(n uint32) uint32 { return n&1 + 0x20 }},
		{"CALL.ABS through a register", sass.SM90, `
			LEPC R12, function
			LEPC R20, back
			MOV R9, R0
			CALL.ABS.NOINC R12
			back:
			IADD3 R9, R9, 0x20, RZ
			BRA out
			function:
			IMAD R9, R9, 0x3, RZ
			RET.ABS.NODEC R20 0x0
			out:`, func(n uint32) uint32 { return 3*n + 0x20 }},
		{"LEPC of itself, CALL.ABS and JMX", sass.SM70, `
			BRA begin
			function:
			IMAD R9, R9, 0x3, RZ
			RET.ABS.NODEC R20 0x0
			begin:
			MOV R9, R0
			LEPC R12
			IADD3 R20, P0, R12, 0x60, RZ
			IADD3.X R21, RZ, R13, RZ, P0, !PT
			IADD3 R12, P0, R12, -0x30, RZ
			IADD3.X R13, R13, -0x1, RZ, P0, !PT
			CALL.ABS.NOINC R12
			IADD3 R12, P0, R20, 0x40, RZ
			IADD3.X R13, RZ, R21, RZ, P0, !PT
			JMX R12 0x0
			BPT.TRAP 0x1
			IADD3 R9, R9, 0x20, RZ`, func(n uint32) uint32 { return 3*n + 0x20 }},
		{"JMX", sass.SM90, `
			MOV R9, R0
			LEPC R12, behind
			JMX R12 0x0
			BPT.TRAP 0x1
			behind:
			IADD3 R9, R9, 0x20, RZ`, func(n uint32) uint32 { return n + 0x20 }},
		{"absolute addresses", sass.SM70, fmt.Sprintf(`
			MOV R9, R0
			MOV R20, 0x60
			MOV R21, RZ
			CALL.ABS.NOINC %#x
			JMP %#x
			BPT.TRAP 0x1
			IADD3 R9, R9, 0x20, RZ
			RET.REL.NODEC R20 0x0
			IADD3 R9, R9, 0x40, RZ`, codeBase+0x80, codeBase+0xa0), func(n uint32) uint32 { return n + 0x60 }},
		{"BRA.U and JMP.U", sass.SM70, fmt.Sprintf(`
			MOV R9, R0
			BRA.U on
			BPT.TRAP 0x1
			on:
			JMP.U %#x
			BPT.TRAP 0x1
			IADD3 R9, R9, 0x20, RZ`, codeBase+0x70), func(n uint32) uint32 { return n + 0x20 }},
		{"BRA.DIV and BRA.CONV of all lanes", sass.SM75, `
			MOV R9, RZ
			BRA.DIV ~URZ, apart
			IADD3 R9, R9, 0x1, RZ
			BRA.CONV ~URZ, together
			IADD3 R9, R9, 0x2, RZ
			apart:
			IADD3 R9, R9, 0x4, RZ
			together:`, func(uint32) uint32 { return 1 }},
		{"BRA.DIV and BRA.CONV of some lanes", sass.SM75, half + `
			MOV R9, RZ
			UMOV UR4, 0xffff
			BSSY B0, join
			@P0 BRA join
			BRA.CONV UR4, together
			IADD3 R9, R9, 0x2, RZ
			together:
			BRA.DIV ~UR4, apart
			IADD3 R9, R9, 0x4, RZ
			apart:
			IADD3 R9, R9, 0x1, RZ
			join:
			BSYNC B0`, func(n uint32) uint32 { return bit(n < 16) }},
	} {
		t.Run(c.name, func(t *testing.T) { eachArch(t, c.from, 32, c.body, c.want) })
	}
}

// Threads that leave a convergence barrier are not waited for there: they run until the others, behind it, say so.
func TestBREAK(t *testing.T) {
	eachArch(t, sass.SM70, 32, `
		STS [RZ], RZ
		MOV R4, 0x1
		ISETP.GE.AND P0, PT, R0, 0x10, PT
		BSSY B1, join
		@P0 BREAK B1
		@P0 BRA other
		join:
		BSYNC B1
		STS [RZ], R4
		MOV R9, 0x7
		BRA out
		other:
		YIELD
		LDS R5, [RZ]
		ISETP.EQ.AND P1, PT, R5, RZ, PT
		@P1 BRA other
		MOV R9, 0x8
		out:`, func(n uint32) uint32 { return 7 + bit(n >= 16) })
}

// Lanes that have parted wait for each other at a WARPSYNC of any kind: the vote behind it is of all of them.
func TestWarpSync(t *testing.T) {
	for sync, from := range map[string]sass.Arch{
		"WARPSYNC 0xffffffff": sass.SM70, "WARPSYNC R11": sass.SM70, "WARPSYNC c[0x2][0x4]": sass.SM70, "WARPSYNC UR5": sass.SM75,
		"WARPSYNC.ALL": sass.SM90, "WARPSYNC.EXCLUSIVE R11": sass.SM80,
	} {
		t.Run(sync, func(t *testing.T) {
			body := `
				MOV R11, 0xffffffff
				ISETP.LT.AND P0, PT, R0, 0x10, PT
				@P0 BRA join
				NOP
				join:
				` + sync + `
				VOTE.ANY R9, PT, PT`
			if from >= sass.SM75 {
				body = "UMOV UR5, 0xffffffff\n" + body
			}
			eachArch(t, from, 32, body, func(uint32) uint32 { return allLanes })
		})
	}
	eachArch(t, sass.SM90, 32, `
		ISETP.LT.AND P0, PT, R0, 0x8, PT
		@P0 BRA join
		NOP
		join:
		WARPSYNC.COLLECTIVE.ALL behind
		VOTE.ANY R9, PT, PT
		ENDCOLLECTIVE
		behind:
		IADD3 R9, R9, 0x1, RZ`, func(uint32) uint32 { return 0 })
	eachArch(t, sass.SM90, 32, `
		MOV R11, 0xffff
		MOV R9, RZ
		ISETP.GE.AND P1, PT, R0, 0x10, PT
		@P1 BRA out
		ISETP.LT.AND P0, PT, R0, 0x8, PT
		@P0 BRA join
		NOP
		join:
		WARPSYNC.COLLECTIVE R11, behind
		VOTE.ANY R9, PT, PT
		ENDCOLLECTIVE
		behind:
		IADD3 R9, R9, 0x1, RZ
		out:`, func(n uint32) uint32 { return 0x10000 * bit(n < 16) })
}

// A register or an immediate becomes a convergence barrier of these lanes.
func TestBarrierRegisters(t *testing.T) {
	for _, text := range []string{"BMOV.32 B6, R5", "BMOV.32 B6, 0xffffffff", "BMOV.32 B6, c[0x2][0x4]"} {
		eachArch(t, sass.SM70, 32, `
			BSSY B0, join
			BMOV.32 R5, B0
			`+text+`
			ISETP.LT.AND P0, PT, R0, 0x10, PT
			@P0 BRA join
			NOP
			join:
			BSYNC B6
			VOTE.ANY R9, PT, PT`, func(uint32) uint32 { return allLanes })
	}
}

// Each thread of two warps reads what one of the other warp wrote before the barrier.
func TestBlockBarriers(t *testing.T) {
	for _, sync := range []string{
		"BAR.SYNC 0x0", "BAR.SYNC R4", "BAR.SYNC R4, 0x40", "BAR.SYNC 0x3, R5", "BAR.SYNC R6, R6", "BAR.SYNC 0x2, 0x40", "BAR.SYNC R6",
		"BAR.SYNC.DEFER_BLOCKING 0x0", "BAR.SYNC.DEFER_BLOCKING R4, 0x40", "BAR.SYNC.DEFER_BLOCKING 0x3, R5", "BAR.SYNC.DEFER_BLOCKING R6, R6",
	} {
		t.Run(sync, func(t *testing.T) {
			eachArch(t, sass.SM70, 64, `
				MOV R4, 0x5
				MOV R5, 0x40
				MOV R6, 0x400006
				SHF.L.U32 R7, R0, 0x2, RZ
				STS [R7], R0
				`+sync+`
				LOP3.LUT R7, R7, 0x80, RZ, 0x3c, !PT
				LDS R9, [R7]`, func(n uint32) uint32 { return n ^ 32 })
		})
	}
}

// The first warp arrives and goes on; the second waits for it.
func TestBarrierArrival(t *testing.T) {
	for _, operands := range []string{"0x1, 0x40", "R4, 0x40", "0x1, R5", "R6, R6"} {
		t.Run(operands, func(t *testing.T) {
			eachArch(t, sass.SM70, 64, `
				MOV R4, 0x1
				MOV R5, 0x40
				MOV R6, 0x400001
				MOV R9, R0
				SHF.L.U32 R7, R0, 0x2, RZ
				ISETP.GE.AND P0, PT, R0, 0x20, PT
				STS [R7], R0
				@P0 BRA second
				BAR.ARV `+operands+`
				BRA out
				second:
				BAR.SYNC `+operands+`
				LDS R9, [R7+-0x80]
				IADD3 R9, R9, 0x100, RZ
				out:`, func(n uint32) uint32 {
				if n >= 32 {
					return n - 32 + 0x100
				}
				return n
			})
		})
	}
}

// Reductions over a block: how many say yes, whether all do, whether any does.
func TestBarrierReductions(t *testing.T) {
	for op, want := range map[string]func(yes int) uint32{
		"POPC": func(yes int) uint32 { return uint32(yes) },
		"AND":  func(yes int) uint32 { return -bit(yes == 64) },
		"OR":   func(yes int) uint32 { return -bit(yes > 0) },
	} {
		for _, operands := range []string{"0x0", "R4", "R4, 0x40", "0x3, R5", "R6, R6"} {
			for _, yes := range []int{0, 1, 40, 64} {
				result := want(yes)
				eachArch(t, sass.SM70, 64, fmt.Sprintf(`
					MOV R4, 0x5
					MOV R5, 0x40
					MOV R6, 0x400006
					ISETP.LT.AND P0, PT, R0, %#x, PT
					BAR.RED.%s.DEFER_BLOCKING %s, P0
					B2R.RESULT R9, P1
					@P1 IADD3 R9, R9, 0x1000, RZ`, yes, op, operands), func(uint32) uint32 { return result + 0x1000*bit(result != 0) })
			}
		}
	}
	eachArch(t, sass.SM70, 64, "ISETP.LT.AND P0, PT, R0, 0x7, PT\nBAR.RED.POPC 0x0, P0\nB2R.RESULT R9", func(uint32) uint32 { return 7 })
}

// What only orders or delays leaves registers, predicates and memory alone and goes on behind itself.
func TestOrderingRows(t *testing.T) {
	ordering := []sass.Op{sass.MEMBAR, sass.ERRBAR, sass.CGAERRBAR, sass.CCTL, sass.CCTLL, sass.DEPBAR, sass.LDGDEPBAR, sass.NANOSLEEP, sass.YIELD, sass.NOP,
		sass.FENCE, sass.ACQBULK, sass.PREEXIT, sass.USETSHMSZ, sass.SYNCS, sass.WARPGROUP, sass.UTMACMDFLUSH, sass.UTMACCTL}
	r := rand.New(rand.NewPCG(45, 46))
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		if !slices.Contains(ordering, f.Op) || f.Op == sass.SYNCS && f.Suffix != ".CCTL" {
			continue
		}
		done := 0
		samples(f, r, 50, func(in sass.Inst) bool {
			if refused(in) {
				return true
			}
			done++
			x := newMemoryTest(t, in, r)
			x.w.active = allLanes
			regs, preds, memory := x.contents()
			if err := x.w.step(); err != nil {
				t.Errorf("%s: %v", in.Text(), err)
				return true
			}
			if gotRegs, gotPreds, gotMemory := x.contents(); !slices.Equal(gotRegs, regs) || gotPreds != preds || !bytes.Equal(gotMemory, memory) || x.w.pc != 1 {
				t.Errorf("%s changes something", in.Text())
			}
			tested.Store(f, true)
			return done < 5
		})
	}
}

// Constants and special registers for a whole warp.
func TestUniformLoads(t *testing.T) {
	for _, c := range []struct {
		body string
		want func(thread uint32) uint32
	}{
		{"ULDC UR4, c[0x0][0x0]\nMOV R9, UR4", func(uint32) uint32 { return 64 }},
		{"ULDC.64 UR4, c[0x2][0x8]\nMOV R4, UR4\nMOV R5, UR5\nLOP3.LUT R9, R4, R5, RZ, 0x3c, !PT", func(uint32) uint32 { return 0x12345678 ^ 0x9abcdef0 }},
		{"ULDC.U8 UR4, c[0x2][0x9]\nMOV R9, UR4", func(uint32) uint32 { return 0x56 }},
		{"ULDC.S8 UR4, c[0x2][0xf]\nMOV R9, UR4", func(uint32) uint32 { return 0xffffff9a }},
		{"UMOV UR5, 0x4\nULDC UR4, c[0x2][UR5+0x8]\nMOV R9, UR4", func(uint32) uint32 { return 0x9abcdef0 }},
		{"S2UR UR4, SR_VIRTID\nMOV R9, UR4", func(n uint32) uint32 { return n / 32 << 8 }},
		{"S2UR UR4, SR_TID.X\nMOV R9, UR4", func(n uint32) uint32 { return n &^ 31 }},
	} {
		t.Run(c.body, func(t *testing.T) { eachArch(t, sass.SM75, 64, c.body, c.want) })
	}
}
