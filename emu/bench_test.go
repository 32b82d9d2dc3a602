package emu

import (
	"context"
	"testing"
)

// BenchmarkFunctional runs small programs without timing and reports warp instructions per second. BenchmarkCorpus of
// package launch does the same for whole kernels.
func BenchmarkFunctional(b *testing.B) {
	programs := []struct {
		name string
		p    timedProgram
	}{
		{"stream", streaming(256)},
		{"arithmetic", timedProgram{blocks: 64, threads: 128, text: `
			S2R R0, SR_TID.X
			MOV R5, 0x3f800001
			loop:
			FFMA R4, R5, R4, R5
			FFMA R6, R5, R6, R5
			IMAD R7, R0, R7, R0
			LOP3.LUT R8, R8, R7, R0, 0x96, !PT
			IADD3 R1, R1, 0x1, RZ
			ISETP.LT.AND P0, PT, R1, 0x100, PT
			@P0 BRA loop
			EXIT`}},
		{"divergent", timedProgram{blocks: 64, threads: 128, text: `
			S2R R0, SR_LANEID
			loop:
			BMOV.32.CLEAR RZ, B0
			BSSY B0, next
			LOP3.LUT R2, R0, R1, RZ, 0xc0, !PT
			ISETP.NE.AND P1, PT, R2, RZ, PT
			@P1 BRA join
			IADD3 R4, R4, R2, RZ
			join:
			BSYNC B0
			next:
			IADD3 R1, R1, 0x1, RZ
			ISETP.LT.AND P0, PT, R1, 0x100, PT
			@P0 BRA loop
			EXIT`}},
		{"shared", timedProgram{blocks: 64, threads: 128, shared: 512, text: `
			S2R R0, SR_TID.X
			SHF.L.U32 R2, R0, 0x2, RZ
			loop:
			STS [R2], R4
			BAR.SYNC 0x0
			LOP3.LUT R3, R2, 0x1fc, RZ, 0x3c, !PT
			LDS.U R5, [R3]
			IADD3 R4, R4, R5, RZ
			BAR.SYNC 0x0
			IADD3 R1, R1, 0x1, RZ
			ISETP.LT.AND P0, PT, R1, 0x100, PT
			@P0 BRA loop
			EXIT`}},
	}
	for _, program := range programs {
		b.Run(program.name, func(b *testing.B) {
			m, l, _ := program.p.start(b, testModel(b), Options{})
			var n int64
			for b.Loop() {
				r, err := m.Launch(context.Background(), l)
				if err != nil {
					b.Fatal(err)
				}
				n += r.WarpInstructions
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "winst/s")
		})
	}
}
