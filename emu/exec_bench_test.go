package emu

import (
	"math"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// benchmarked are the instructions that most of compiled code consists of, and the costly ones.
var benchmarked = []string{
	"MOV R0, R1",
	"IADD3 R0, R1, R2, R3",
	"IADD3 R0, R1, -R2, RZ",
	"IADD3 R0, P0, R1, R2, RZ",
	"IADD3.X R0, R1, R2, RZ, P0, !PT",
	"IMAD R0, R1, R2, R3",
	"IMAD.MOV.U32 R0, RZ, RZ, R3",
	"IMAD.WIDE R4, R1, R2, R6",
	"IMAD.WIDE.U32 R4, R1, R2, R6",
	"IMAD.X R0, R1, 0x1, R2, P0",
	"ISETP.GE.AND P0, PT, R1, R2, PT",
	"ISETP.NE.AND P0, PT, R1, RZ, PT",
	"ISETP.LT.U32.AND P0, PT, R1, R2, P1",
	"ISETP.GE.AND.EX P0, PT, R1, R2, PT, P1",
	"LOP3.LUT R0, R1, R2, RZ, 0xc0, !PT",
	"LOP3.LUT R0, R1, R2, R3, 0x96, !PT",
	"LOP3.LUT P0, RZ, R1, 0x1, RZ, 0xc0, !PT",
	"PLOP3.LUT P0, PT, P1, P2, PT, 0xa8, 0x0",
	"SEL R0, R1, R2, P0",
	"SHF.L.U32 R0, R1, 0x2, RZ",
	"SHF.R.S32.HI R0, RZ, 0x1f, R1",
	"SHF.R.U64 R0, R1, R2, R3",
	"LEA R0, R1, R2, 0x2",
	"LEA R0, P0, R1, R2, 0x2",
	"LEA.HI.X R0, R1, R2, R3, 0x2, P0",
	"PRMT R0, R1, 0x7610, R2",
	"SGXT R0, R1, 0x10",
	"POPC R0, R1",
	"FADD R0, R1, R2",
	"FADD R0, R1, -R2",
	"FADD.FTZ R0, R1, R2",
	"FMUL R0, R1, R2",
	"FMUL.FTZ R0, R1, R2",
	"FFMA R0, R1, R2, R3",
	"FFMA R0, R1, -R2, R3",
	"FFMA.FTZ R0, R1, R2, R3",
	"FFMA.RM R0, R1, R2, R3",
	"FMNMX R0, R1, R2, PT",
	"FSETP.GT.AND P0, PT, R1, R2, PT",
	"FSETP.NEU.AND P0, PT, R1, R2, PT",
	"FSEL R0, R1, R2, P0",
	"FCHK P0, R1, R2",
	"MUFU.RCP R0, R1",
	"MUFU.RSQ R0, |R1|",
	"MUFU.EX2 R0, R1",
	"MUFU.LG2 R0, |R1|",
	"MUFU.SIN R0, R1",
	"DADD R4, R6, R8",
	"DMUL R4, R6, R8",
	"DFMA R4, R6, R8, R10",
	"DSETP.GT.AND P0, PT, R6, R8, PT",
	"HADD2 R0, R1, R2",
	"HMUL2 R0, R1, R2",
	"HFMA2 R0, R1, R2, R3",
	"HADD2.F32 R0, -RZ, R1.H0_H0",
	"HSETP2.GT.AND P0, P1, R1, R2, PT",
	"F2F.F32.F64 R0, R6",
	"F2F.F64.F32 R4, R1",
	"F2F.F16.F32 R0, R1",
	"F2I.TRUNC.NTZ R0, R1",
	"I2F R0, R1",
	"I2F.U32.RP R0, R1",
	"I2F.F64 R4, R1",
	"FRND.FLOOR R0, R1",
}

// randomRegisters gives R1 to R3 ordinary f32 values, R6 to R11 ordinary f64 ones, and the predicates both values.
func randomRegisters(w *warp) {
	r := rand.New(rand.NewPCG(13, 14))
	for n := range w.regs {
		for lane := range 32 {
			w.regs[n][lane] = math.Float32bits(float32(r.NormFloat64() * 10))
		}
	}
	for p := range 7 {
		w.preds[p] = r.Uint32()
	}
}

func benchmarkMask(b *testing.B, mask uint32) {
	for _, text := range benchmarked {
		b.Run(text, func(b *testing.B) {
			w := newTestWarp(b, sass.SM70, text)
			randomRegisters(w)
			w.active, w.mask = mask, mask
			o := &w.block.run.program.ops[0]
			for b.Loop() {
				if err := o.run(w, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The time of one warp instruction with all lanes.
func BenchmarkInstruction(b *testing.B) { benchmarkMask(b, allLanes) }

// The time of one warp instruction with half of the lanes, as after a divergent branch.
func BenchmarkMasked(b *testing.B) { benchmarkMask(b, 0x0000ffff) }
