#include "textflag.h"

// A row of a factor has 64 elements of 8 bytes.

// WIDEN stores eight f32 of Y0 as f64.
#define WIDEN(o) \
	VCVTPS2PD X0, Y1; \
	VEXTRACTF128 $1, Y0, X2; \
	VCVTPS2PD X2, Y2; \
	VMOVUPD Y1, o(DI); \
	VMOVUPD Y2, (o+32)(DI)

#define GATHER_F16(g) \
	VPXOR (g*16)(SI), X3, X0; \
	VCVTPH2PS X0, Y0; \
	WIDEN(g*512)

#define GATHER_BF16(g) \
	VPXOR (g*16)(SI), X3, X0; \
	VPMOVZXWD X0, Y0; \
	VPSLLD $16, Y0, Y0; \
	WIDEN(g*512)

// GATHER widens the halves of a register, four lanes to each of eight rows.
#define GATHER(ROW) \
	MOVQ to+0(FP), DI; \
	MOVQ from+8(FP), SI; \
	MOVL sign+16(FP), AX; \
	VMOVD AX, X3; \
	VPBROADCASTD X3, X3; \
	ROW(0); \
	ROW(1); \
	ROW(2); \
	ROW(3); \
	ROW(4); \
	ROW(5); \
	ROW(6); \
	ROW(7); \
	VZEROUPPER; \
	RET

// RANGE extends the range in Y4 and Y5 by eight words without their signs (Y6), of which Y7 is minus one each.
#define RANGE(o, MOST, LEAST, ADD) \
	VPAND o(SI), Y6, Y0; \
	MOST Y0, Y4, Y4; \
	ADD Y7, Y0, Y0; \
	LEAST Y0, Y5, Y5

#define RANGES(SHIFT, MOST, LEAST, ADD) \
	MOVQ r+0(FP), DI; \
	MOVQ from+8(FP), SI; \
	VPCMPEQD Y7, Y7, Y7; \
	SHIFT $1, Y7, Y6; \
	VMOVDQU (DI), Y4; \
	VMOVDQU 32(DI), Y5; \
	RANGE(0, MOST, LEAST, ADD); \
	RANGE(32, MOST, LEAST, ADD); \
	RANGE(64, MOST, LEAST, ADD); \
	RANGE(96, MOST, LEAST, ADD); \
	VMOVDQU Y4, (DI); \
	VMOVDQU Y5, 32(DI); \
	VZEROUPPER; \
	RET

// FOUR_COLUMNS puts the sums of the products of the row at SI by the four columns at DX to DI+o; SI, DX and DI stay.
#define FOUR_COLUMNS(columns, loop, o) \
	LEAQ columns(DX), R11; \
	MOVQ SI, R10; \
	MOVQ R9, CX; \
	VXORPD Y0, Y0, Y0; \
	VXORPD Y1, Y1, Y1; \
	VXORPD Y2, Y2, Y2; \
	VXORPD Y3, Y3, Y3; \
loop: \
	VMOVUPD (R10), Y8; \
	VFMADD231PD (R11), Y8, Y0; \
	VFMADD231PD 512(R11), Y8, Y1; \
	VFMADD231PD 1024(R11), Y8, Y2; \
	VFMADD231PD 1536(R11), Y8, Y3; \
	ADDQ $32, R10; \
	ADDQ $32, R11; \
	SUBQ $4, CX; \
	JNZ loop; \
	VHADDPD Y1, Y0, Y0; \
	VHADDPD Y3, Y2, Y2; \
	VPERM2F128 $0x21, Y2, Y0, Y4; \
	VBLENDPD $12, Y2, Y0, Y5; \
	VADDPD Y4, Y5, Y0; \
	VMOVUPD Y0, o(DI)

// func gatherF16AVX2(to *float64, from *lanes, sign uint32)
TEXT ·gatherF16AVX2(SB), NOSPLIT, $0-20
	GATHER(GATHER_F16)

// func gatherBF16AVX2(to *float64, from *lanes, sign uint32)
TEXT ·gatherBF16AVX2(SB), NOSPLIT, $0-20
	GATHER(GATHER_BF16)

// func halfRangeAVX2(r *magnitudes, from *lanes)
TEXT ·halfRangeAVX2(SB), NOSPLIT, $0-16
	RANGES(VPSRLW, VPMAXUW, VPMINUW, VPADDW)

// func wordRangeAVX2(r *magnitudes, from *lanes)
TEXT ·wordRangeAVX2(SB), NOSPLIT, $0-16
	RANGES(VPSRLD, VPMAXUD, VPMINUD, VPADDD)

// func dotsAVX2(sums *[16][8]float64, a *[16][maxDepth]float64, b *[8][maxDepth]float64, rows, depth int)
TEXT ·dotsAVX2(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ rows+24(FP), R8
	MOVQ depth+32(FP), R9

row:
	FOUR_COLUMNS(0, left, 0)
	FOUR_COLUMNS(2048, right, 32)
	ADDQ $512, SI
	ADDQ $64, DI
	DECQ R8
	JNZ  row
	VZEROUPPER
	RET

// func exponentsAVX2(most *[8]int32, row, columns *int32, depth int)
TEXT ·exponentsAVX2(SB), NOSPLIT, $0-32
	MOVQ most+0(FP), DI
	MOVQ row+8(FP), SI
	MOVQ columns+16(FP), DX
	MOVQ depth+24(FP), CX
	VPCMPEQD Y0, Y0, Y0
	VPSLLD $31, Y0, Y0

next:
	VPBROADCASTD (SI), Y1
	VPADDD (DX), Y1, Y1
	VPMAXSD Y1, Y0, Y0
	ADDQ $4, SI
	ADDQ $32, DX
	DECQ CX
	JNZ  next
	VMOVDQU Y0, (DI)
	VZEROUPPER
	RET

// func cutAVX2(sums *[8]float64, row, columns *float64, scale *[8]float64, depth int)
TEXT ·cutAVX2(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), DI
	MOVQ row+8(FP), SI
	MOVQ columns+16(FP), DX
	MOVQ scale+24(FP), R8
	MOVQ depth+32(FP), CX
	VMOVUPD (R8), Y12
	VMOVUPD 32(R8), Y13
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1

next:
	VBROADCASTSD (SI), Y8
	VMULPD (DX), Y8, Y2
	VMULPD 32(DX), Y8, Y3
	VMULPD Y12, Y2, Y2
	VMULPD Y13, Y3, Y3
	VROUNDPD $3, Y2, Y2
	VROUNDPD $3, Y3, Y3
	VADDPD Y2, Y0, Y0
	VADDPD Y3, Y1, Y1
	ADDQ $8, SI
	ADDQ $64, DX
	DECQ CX
	JNZ  next
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VZEROUPPER
	RET
