#include "textflag.h"

// Each function works on four times eight lanes. The lanes of a block are read before any of them is written, so that a
// result may take the place of an operand.

#define ALL(BLOCK) \
	BLOCK(0); \
	BLOCK(32); \
	BLOCK(64); \
	BLOCK(96)

#define OPERANDS1 \
	MOVQ d+0(FP), DI; \
	MOVQ a+8(FP), SI

#define OPERANDS2 \
	OPERANDS1; \
	MOVQ b+16(FP), DX

#define OPERANDS3 \
	OPERANDS2; \
	MOVQ c+24(FP), CX

#define END \
	VZEROUPPER; \
	RET

// bits has a bit for each lane, as masks have them.
DATA bits<>+0(SB)/8, $0x0000000200000001
DATA bits<>+8(SB)/8, $0x0000000800000004
DATA bits<>+16(SB)/8, $0x0000002000000010
DATA bits<>+24(SB)/8, $0x0000008000000040
DATA bits<>+32(SB)/8, $0x0000020000000100
DATA bits<>+40(SB)/8, $0x0000080000000400
DATA bits<>+48(SB)/8, $0x0000200000001000
DATA bits<>+56(SB)/8, $0x0000800000004000
DATA bits<>+64(SB)/8, $0x0002000000010000
DATA bits<>+72(SB)/8, $0x0008000000040000
DATA bits<>+80(SB)/8, $0x0020000000100000
DATA bits<>+88(SB)/8, $0x0080000000400000
DATA bits<>+96(SB)/8, $0x0200000001000000
DATA bits<>+104(SB)/8, $0x0800000004000000
DATA bits<>+112(SB)/8, $0x2000000010000000
DATA bits<>+120(SB)/8, $0x8000000040000000
GLOBL bits<>(SB), RODATA|NOPTR, $128

// first has the place of the first byte of each word of a half.
DATA first<>+0(SB)/8, $0x0404040400000000
DATA first<>+8(SB)/8, $0x0c0c0c0c08080808
DATA first<>+16(SB)/8, $0x0404040400000000
DATA first<>+24(SB)/8, $0x0c0c0c0c08080808
GLOBL first<>(SB), RODATA|NOPTR, $32

// SPREADL puts a word into all lanes of y, of which x is the low half.
#define SPREADL(from, x, y) \
	MOVL from, AX; \
	VMOVD AX, x; \
	VPBROADCASTD x, y

// BINARY is d = a OP b.
#define BINARY_BLOCK(OP, o) \
	VMOVDQU o(SI), Y0; \
	OP o(DX), Y0, Y0; \
	VMOVDQU Y0, o(DI)

#define BINARY(OP) \
	OPERANDS2; \
	BINARY_BLOCK(OP, 0); \
	BINARY_BLOCK(OP, 32); \
	BINARY_BLOCK(OP, 64); \
	BINARY_BLOCK(OP, 96); \
	END

#define ADD3(o) \
	VMOVDQU o(SI), Y0; \
	VPADDD o(DX), Y0, Y0; \
	VPADDD o(CX), Y0, Y0; \
	VMOVDQU Y0, o(DI)

#define SUB3(o) \
	VMOVDQU o(SI), Y0; \
	VPADDD o(CX), Y0, Y0; \
	VPSUBD o(DX), Y0, Y0; \
	VMOVDQU Y0, o(DI)

#define MULADD(o) \
	VMOVDQU o(SI), Y0; \
	VPMULLD o(DX), Y0, Y0; \
	VPADDD o(CX), Y0, Y0; \
	VMOVDQU Y0, o(DI)

// The products of even and of odd lanes are words of 64 bits, and so are their addends.
#define WIDE(MUL, o) \
	VMOVDQU o(SI), Y0; \
	VMOVDQU o(DX), Y1; \
	VMOVDQU o(CX), Y2; \
	VMOVDQU o(R8), Y3; \
	VPSRLQ $32, Y0, Y4; \
	VPSRLQ $32, Y1, Y5; \
	MUL Y1, Y0, Y0; \
	MUL Y5, Y4, Y4; \
	VPSLLQ $32, Y3, Y5; \
	VPBLENDD $0xaa, Y5, Y2, Y5; \
	VPSRLQ $32, Y2, Y2; \
	VPBLENDD $0xaa, Y3, Y2, Y2; \
	VPADDQ Y5, Y0, Y0; \
	VPADDQ Y2, Y4, Y4; \
	VPSLLQ $32, Y4, Y1; \
	VPBLENDD $0xaa, Y1, Y0, Y1; \
	VPSRLQ $32, Y0, Y0; \
	VPBLENDD $0xaa, Y4, Y0, Y0; \
	VMOVDQU Y1, o(DI); \
	VMOVDQU Y0, o(R9)

#define WIDE_OPERANDS \
	MOVQ d+0(FP), DI; \
	MOVQ e+8(FP), R9; \
	MOVQ a+16(FP), SI; \
	MOVQ b+24(FP), DX; \
	MOVQ low+32(FP), CX; \
	MOVQ high+40(FP), R8

// Y8 to Y15 are the entries of the table.
#define LOOKUP(o) \
	VMOVDQU o(CX), Y2; \
	VMOVDQU o(DX), Y1; \
	VMOVDQU o(SI), Y0; \
	VPAND Y2, Y12, Y3; \
	VPXOR Y8, Y3, Y3; \
	VPAND Y2, Y13, Y4; \
	VPXOR Y9, Y4, Y4; \
	VPAND Y2, Y14, Y5; \
	VPXOR Y10, Y5, Y5; \
	VPAND Y2, Y15, Y6; \
	VPXOR Y11, Y6, Y6; \
	VPXOR Y3, Y4, Y4; \
	VPAND Y1, Y4, Y4; \
	VPXOR Y3, Y4, Y4; \
	VPXOR Y5, Y6, Y6; \
	VPAND Y1, Y6, Y6; \
	VPXOR Y5, Y6, Y6; \
	VPXOR Y4, Y6, Y6; \
	VPAND Y0, Y6, Y6; \
	VPXOR Y4, Y6, Y6; \
	VMOVDQU Y6, o(DI)

#define SHIFTADD(o) \
	VMOVDQU o(SI), Y0; \
	VPSLLD X8, Y0, Y0; \
	VPADDD o(DX), Y0, Y0; \
	VMOVDQU Y0, o(DI)

#define FUNNEL(o) \
	VMOVDQU o(SI), Y0; \
	VMOVDQU o(DX), Y1; \
	VPSLLD X8, Y0, Y0; \
	VPSRLD X9, Y1, Y1; \
	VPOR Y1, Y0, Y0; \
	VMOVDQU Y0, o(DI)

#define MODIFY(o) \
	VPAND o(SI), Y8, Y0; \
	VPXOR Y9, Y0, Y0; \
	VPADDD Y10, Y0, Y0; \
	VMOVDQU Y0, o(DI)

// MASK makes words of all ones of the bits of a mask, which Y8 has in all lanes.
#define MASK(o, y) \
	VPAND bits<>+o(SB), Y8, y; \
	VPCMPEQD bits<>+o(SB), y, y

#define SELECT(o) \
	MASK(o, Y2); \
	VMOVDQU o(DX), Y1; \
	VPBLENDVB Y2, o(SI), Y1, Y0; \
	VMOVDQU Y0, o(DI)

#define FILL(o) \
	MASK(o, Y0); \
	VPAND Y9, Y0, Y0; \
	VMOVDQU Y0, o(DI)

// Y13 has the bytes that come from a, Y14 those from b, each with ones in the top bit for none.
#define PERMUTE(o) \
	VMOVDQU o(SI), Y0; \
	VMOVDQU o(DX), Y1; \
	VPSHUFB Y13, Y0, Y0; \
	VPSHUFB Y14, Y1, Y1; \
	VPOR Y1, Y0, Y0; \
	VMOVDQU Y0, o(DI)

// GATHERED appends the sign bits of a block's lanes to the mask R10.
#define GATHERED(y) \
	VMOVMSKPS y, AX; \
	RORL $8, R10; \
	ORL AX, R10

// after four blocks the first is in its place again with another turn.
#define GATHERED_ALL \
	RORL $8, R10

#define COPY(o) \
	VMOVDQU o(SI), Y0; \
	VMOVDQU Y0, o(DI)

#define EQUAL(o) \
	VMOVDQU o(SI), Y0; \
	VPCMPEQD o(DX), Y0, Y0; \
	GATHERED(Y0)

#define COMPARED \
	MOVQ a+0(FP), SI; \
	MOVQ b+8(FP), DX; \
	XORL R10, R10

#define COMPARED_END \
	GATHERED_ALL; \
	MOVL R10, ret+16(FP); \
	END

#define LESS_INT(o) \
	VMOVDQU o(DX), Y0; \
	VPCMPGTD o(SI), Y0, Y0; \
	GATHERED(Y0)

// a is not less than b where it is the larger of both.
#define NOT_LESS_UINT(o) \
	VMOVDQU o(SI), Y0; \
	VPMAXUD o(DX), Y0, Y1; \
	VPCMPEQD Y0, Y1, Y0; \
	GATHERED(Y0)

#define COMPARE_FLOAT(HOW, o) \
	VMOVUPS o(SI), Y0; \
	VCMPPS $HOW, o(DX), Y0, Y0; \
	GATHERED(Y0)

#define COMPARE_FLOATS(HOW) \
	COMPARED; \
	COMPARE_FLOAT(HOW, 0); \
	COMPARE_FLOAT(HOW, 32); \
	COMPARE_FLOAT(HOW, 64); \
	COMPARE_FLOAT(HOW, 96); \
	COMPARED_END

// The sum of a and b carries where it is less than a, that with the carry in where it is zero then.
#define ADDCARRY(o) \
	VPXOR o(SI), Y9, Y0; \
	VPXOR o(DX), Y10, Y1; \
	VPADDD Y1, Y0, Y2; \
	VPMAXUD Y2, Y0, Y1; \
	VPCMPEQD Y1, Y2, Y1; \
	MASK(o, Y3); \
	VPSUBD Y3, Y2, Y2; \
	VPCMPEQD Y2, Y15, Y4; \
	VPAND Y3, Y4, Y4; \
	VPANDN Y1, Y4, Y1; \
	GATHERED(Y1); \
	VMOVDQU Y2, o(DI)

// CANONICAL replaces what is not a number by Y15.
#define CANONICAL(y, t) \
	VCMPPS $3, y, y, t; \
	VPBLENDVB t, Y15, y, y

// FLUSH makes zeros of denormals: Y14 has the bits of the exponent, Y13 zeros.
#define FLUSH(y, t) \
	VPAND y, Y14, t; \
	VPCMPEQD t, Y13, t; \
	VPSRLD $1, t, t; \
	VPANDN y, t, y

#define FLOATS \
	SPREADL($0x7fffffff, X15, Y15)

#define FLUSHED \
	FLOATS; \
	SPREADL($0x7f800000, X14, Y14); \
	VPXOR Y13, Y13, Y13

#define FLUSH_BLOCK(o) \
	VMOVDQU o(SI), Y0; \
	FLUSH(Y0, Y1); \
	VMOVDQU Y0, o(DI)

#define FLOAT_BINARY(OP, o) \
	VMOVUPS o(SI), Y0; \
	OP o(DX), Y0, Y0; \
	CANONICAL(Y0, Y1); \
	VMOVUPS Y0, o(DI)

#define FLOAT_BINARIES(OP) \
	OPERANDS2; \
	FLOATS; \
	FLOAT_BINARY(OP, 0); \
	FLOAT_BINARY(OP, 32); \
	FLOAT_BINARY(OP, 64); \
	FLOAT_BINARY(OP, 96); \
	END

#define FMA(o) \
	VMOVUPS o(SI), Y0; \
	VMOVUPS o(CX), Y2; \
	VFMADD132PS o(DX), Y2, Y0; \
	CANONICAL(Y0, Y1); \
	VMOVUPS Y0, o(DI)

#define ADD_FLUSH(o) \
	VMOVUPS o(SI), Y0; \
	VMOVUPS o(DX), Y1; \
	FLUSH(Y0, Y2); \
	FLUSH(Y1, Y3); \
	VADDPS Y1, Y0, Y0; \
	CANONICAL(Y0, Y1); \
	FLUSH(Y0, Y2); \
	VMOVUPS Y0, o(DI)

// DOUBT notes in Y12 the lanes of a product whose result is the smallest normal number: what it was before it was rounded
// may have been less. Y11 has that number and Y15 all bits but the sign.
#define DOUBT(y, t) \
	VPAND y, Y15, t; \
	VPCMPEQD t, Y11, t; \
	VPOR t, Y12, Y12

#define DOUBTS \
	FLUSHED; \
	SPREADL($0x00800000, X11, Y11); \
	VPXOR Y12, Y12, Y12

#define MUL_FLUSH(o, y) \
	VMOVUPS o(SI), y; \
	VMOVUPS o(DX), Y4; \
	FLUSH(y, Y6); \
	FLUSH(Y4, Y6); \
	VMULPS Y4, y, y; \
	DOUBT(y, Y6); \
	CANONICAL(y, Y4); \
	FLUSH(y, Y6)

#define STORE \
	VMOVUPS Y0, (DI); \
	VMOVUPS Y1, 32(DI); \
	VMOVUPS Y2, 64(DI); \
	VMOVUPS Y3, 96(DI)

#define FMA_FLUSH(o, y) \
	VMOVUPS o(SI), y; \
	VMOVUPS o(DX), Y4; \
	VMOVUPS o(CX), Y5; \
	FLUSH(y, Y6); \
	FLUSH(Y4, Y6); \
	FLUSH(Y5, Y6); \
	VFMADD132PS Y4, Y5, y; \
	DOUBT(y, Y6); \
	CANONICAL(y, Y4); \
	FLUSH(y, Y6)

// ORDER maps the bits of floating-point numbers to integers of the same order.
#define ORDER(from, y) \
	VPSRAD $31, from, y; \
	VPSRLD $1, y, y; \
	VPXOR from, y, y

// Y12 notes what is not a number. R is the operand that is taken where a is the greater one, S the other.
#define EXTREME(o, y, R, S) \
	VMOVDQU o(SI), Y4; \
	VMOVDQU o(DX), Y5; \
	VCMPPS $3, Y5, Y4, Y6; \
	VPOR Y6, Y12, Y12; \
	ORDER(Y4, Y6); \
	ORDER(Y5, Y7); \
	VPCMPGTD Y7, Y6, Y6; \
	VPBLENDVB Y6, R, S, y

#define EXTREMES(R, S) \
	OPERANDS2; \
	VPXOR Y12, Y12, Y12; \
	EXTREME(0, Y0, R, S); \
	EXTREME(32, Y1, R, S); \
	EXTREME(64, Y2, R, S); \
	EXTREME(96, Y3, R, S); \
	VPTEST Y12, Y12; \
	JNE doubt; \
	STORE; \
	MOVB $1, ret+24(FP); \
	END; \
doubt: \
	MOVB $0, ret+24(FP); \
	END

// PAIR joins the words of four lanes.
#define PAIR(o) \
	VPMOVZXDQ o(SI), Y0; \
	VPMOVZXDQ o(DX), Y1; \
	VPSLLQ $32, Y1, Y1; \
	VPADDQ Y1, Y0, Y0; \
	VPADDQ Y8, Y0, Y0; \
	VMOVDQU Y0, 2*o(DI)

#define EIGHTS(BLOCK) \
	BLOCK(0); \
	BLOCK(16); \
	BLOCK(32); \
	BLOCK(48); \
	BLOCK(64); \
	BLOCK(80); \
	BLOCK(96); \
	BLOCK(112)

#define EXTEND(o) \
	VPMOVZXDQ o(SI), Y0; \
	VPADDQ Y8, Y0, Y0; \
	VMOVDQU Y0, 2*o(DI)

#define SCALE(o) \
	VMOVDQU o(SI), X0; \
	VPSLLD X9, X0, X0; \
	VPADDD X8, X0, X0; \
	VPMOVZXDQ X0, Y0; \
	VMOVDQU Y0, 2*o(DI)

// Of four lanes: the distance from the base, where a lane counts, its sign and that of what is left up to the limit, and
// the low bits.
#define WITHIN(o) \
	VPMOVSXDQ bits<>+o(SB), Y1; \
	VPAND Y1, Y8, Y0; \
	VPCMPEQQ Y1, Y0, Y1; \
	VMOVDQU 2*o(SI), Y0; \
	VPSUBQ Y9, Y0, Y2; \
	VPAND Y1, Y2, Y2; \
	VPSUBQ Y2, Y10, Y3; \
	VPOR Y2, Y3, Y3; \
	VPOR Y3, Y12, Y12; \
	VPAND Y1, Y0, Y0; \
	VPOR Y0, Y13, Y13

// steps has the numbers of the lanes.
DATA steps<>+0(SB)/8, $0x0000000100000000
DATA steps<>+8(SB)/8, $0x0000000300000002
DATA steps<>+16(SB)/8, $0x0000000500000004
DATA steps<>+24(SB)/8, $0x0000000700000006
DATA steps<>+32(SB)/8, $0x0000000900000008
DATA steps<>+40(SB)/8, $0x0000000b0000000a
DATA steps<>+48(SB)/8, $0x0000000d0000000c
DATA steps<>+56(SB)/8, $0x0000000f0000000e
DATA steps<>+64(SB)/8, $0x0000001100000010
DATA steps<>+72(SB)/8, $0x0000001300000012
DATA steps<>+80(SB)/8, $0x0000001500000014
DATA steps<>+88(SB)/8, $0x0000001700000016
DATA steps<>+96(SB)/8, $0x0000001900000018
DATA steps<>+104(SB)/8, $0x0000001b0000001a
DATA steps<>+112(SB)/8, $0x0000001d0000001c
DATA steps<>+120(SB)/8, $0x0000001f0000001e
GLOBL steps<>(SB), RODATA|NOPTR, $128

#define FOLLOWS(o) \
	VPMOVZXDQ steps<>+o(SB), Y0; \
	VPSLLQ X9, Y0, Y0; \
	VPADDQ Y8, Y0, Y0; \
	VPCMPEQQ 2*o(SI), Y0, Y0; \
	VPAND Y0, Y12, Y12

// EACH goes through the lanes of the mask BX: AX is the lane, CX the place of its first byte.
#define EACH \
	TZCNTL BX, AX; \
	MOVQ (SI)(AX*8), CX; \
	BLSRL BX, BX

// func andAVX2(d, a, b *lanes)
TEXT ·andAVX2(SB), NOSPLIT, $0-24
	BINARY(VPAND)

// func orAVX2(d, a, b *lanes)
TEXT ·orAVX2(SB), NOSPLIT, $0-24
	BINARY(VPOR)

// func xorAVX2(d, a, b *lanes)
TEXT ·xorAVX2(SB), NOSPLIT, $0-24
	BINARY(VPXOR)

// func shiftLeftAVX2(d, a, b *lanes)
TEXT ·shiftLeftAVX2(SB), NOSPLIT, $0-24
	BINARY(VPSLLVD)

// func shiftRightAVX2(d, a, b *lanes)
TEXT ·shiftRightAVX2(SB), NOSPLIT, $0-24
	BINARY(VPSRLVD)

// func shiftSignedAVX2(d, a, b *lanes)
TEXT ·shiftSignedAVX2(SB), NOSPLIT, $0-24
	BINARY(VPSRAVD)

// func minIntAVX2(d, a, b *lanes)
TEXT ·minIntAVX2(SB), NOSPLIT, $0-24
	BINARY(VPMINSD)

// func maxIntAVX2(d, a, b *lanes)
TEXT ·maxIntAVX2(SB), NOSPLIT, $0-24
	BINARY(VPMAXSD)

// func minUintAVX2(d, a, b *lanes)
TEXT ·minUintAVX2(SB), NOSPLIT, $0-24
	BINARY(VPMINUD)

// func maxUintAVX2(d, a, b *lanes)
TEXT ·maxUintAVX2(SB), NOSPLIT, $0-24
	BINARY(VPMAXUD)

// func add3AVX2(d, a, b, c *lanes)
TEXT ·add3AVX2(SB), NOSPLIT, $0-32
	OPERANDS3
	ALL(ADD3)
	END

// func sub3AVX2(d, a, b, c *lanes)
TEXT ·sub3AVX2(SB), NOSPLIT, $0-32
	OPERANDS3
	ALL(SUB3)
	END

// func mulAddAVX2(d, a, b, c *lanes)
TEXT ·mulAddAVX2(SB), NOSPLIT, $0-32
	OPERANDS3
	ALL(MULADD)
	END

// func mulWideAVX2(d, e, a, b, low, high *lanes)
TEXT ·mulWideAVX2(SB), NOSPLIT, $0-48
	WIDE_OPERANDS
	WIDE(VPMULDQ, 0)
	WIDE(VPMULDQ, 32)
	WIDE(VPMULDQ, 64)
	WIDE(VPMULDQ, 96)
	END

// func mulWideUintAVX2(d, e, a, b, low, high *lanes)
TEXT ·mulWideUintAVX2(SB), NOSPLIT, $0-48
	WIDE_OPERANDS
	WIDE(VPMULUDQ, 0)
	WIDE(VPMULUDQ, 32)
	WIDE(VPMULUDQ, 64)
	WIDE(VPMULUDQ, 96)
	END

// func lookupAVX2(d, a, b, c *lanes, t *truthTable)
TEXT ·lookupAVX2(SB), NOSPLIT, $0-40
	OPERANDS3
	MOVQ t+32(FP), R8
	SPREADL(0(R8), X8, Y8)
	SPREADL(4(R8), X9, Y9)
	SPREADL(8(R8), X10, Y10)
	SPREADL(12(R8), X11, Y11)
	SPREADL(16(R8), X12, Y12)
	SPREADL(20(R8), X13, Y13)
	SPREADL(24(R8), X14, Y14)
	SPREADL(28(R8), X15, Y15)
	ALL(LOOKUP)
	END

// func shiftAddAVX2(d, a, b *lanes, n uint64)
TEXT ·shiftAddAVX2(SB), NOSPLIT, $0-32
	OPERANDS2
	VMOVQ n+24(FP), X8
	ALL(SHIFTADD)
	END

// func funnelAVX2(d, a, b *lanes, n uint64)
TEXT ·funnelAVX2(SB), NOSPLIT, $0-32
	OPERANDS2
	MOVQ n+24(FP), AX
	VMOVQ AX, X8
	MOVL $32, BX
	SUBQ AX, BX
	VMOVQ BX, X9
	ALL(FUNNEL)
	END

// func modifyAVX2(d, a *lanes, and, xor, add uint32)
TEXT ·modifyAVX2(SB), NOSPLIT, $0-28
	OPERANDS1
	SPREADL(and+16(FP), X8, Y8)
	SPREADL(xor+20(FP), X9, Y9)
	SPREADL(add+24(FP), X10, Y10)
	ALL(MODIFY)
	END

// func chooseAVX2(d, a, b *lanes, mask uint32)
TEXT ·chooseAVX2(SB), NOSPLIT, $0-28
	OPERANDS2
	SPREADL(mask+24(FP), X8, Y8)
	ALL(SELECT)
	END

// func fillAVX2(d *lanes, value, mask uint32)
TEXT ·fillAVX2(SB), NOSPLIT, $0-16
	MOVQ d+0(FP), DI
	SPREADL(value+8(FP), X9, Y9)
	SPREADL(mask+12(FP), X8, Y8)
	ALL(FILL)
	END

// func permuteAVX2(d, a, b *lanes, fromA, fromB uint32)
TEXT ·permuteAVX2(SB), NOSPLIT, $0-32
	OPERANDS2
	SPREADL(fromA+24(FP), X13, Y13)
	SPREADL(fromB+28(FP), X14, Y14)
	VPADDB first<>(SB), Y13, Y13
	VPADDB first<>(SB), Y14, Y14
	ALL(PERMUTE)
	END

// func equalAVX2(a, b *lanes) uint32
TEXT ·equalAVX2(SB), NOSPLIT, $0-20
	COMPARED
	ALL(EQUAL)
	COMPARED_END

// func lessIntAVX2(a, b *lanes) uint32
TEXT ·lessIntAVX2(SB), NOSPLIT, $0-20
	COMPARED
	ALL(LESS_INT)
	COMPARED_END

// func lessUintAVX2(a, b *lanes) uint32
TEXT ·lessUintAVX2(SB), NOSPLIT, $0-20
	COMPARED
	ALL(NOT_LESS_UINT)
	NOTL R10
	COMPARED_END

// func lessFloatAVX2(a, b *lanes) uint32
TEXT ·lessFloatAVX2(SB), NOSPLIT, $0-20
	COMPARE_FLOATS(0x11)

// func lessEqualFloatAVX2(a, b *lanes) uint32
TEXT ·lessEqualFloatAVX2(SB), NOSPLIT, $0-20
	COMPARE_FLOATS(0x12)

// func equalFloatAVX2(a, b *lanes) uint32
TEXT ·equalFloatAVX2(SB), NOSPLIT, $0-20
	COMPARE_FLOATS(0x00)

// func addCarryAVX2(d, a, b *lanes, flipA, flipB, in uint32) uint32
TEXT ·addCarryAVX2(SB), NOSPLIT, $0-44
	OPERANDS2
	SPREADL(flipA+24(FP), X9, Y9)
	SPREADL(flipB+28(FP), X10, Y10)
	SPREADL(in+32(FP), X8, Y8)
	VPXOR Y15, Y15, Y15
	XORL R10, R10
	ALL(ADDCARRY)
	GATHERED_ALL
	NOTL R10
	MOVL R10, ret+40(FP)
	END

// func flushAVX2(d, a *lanes)
TEXT ·flushAVX2(SB), NOSPLIT, $0-16
	OPERANDS1
	FLUSHED
	ALL(FLUSH_BLOCK)
	END

// func addFloatAVX2(d, a, b *lanes)
TEXT ·addFloatAVX2(SB), NOSPLIT, $0-24
	FLOAT_BINARIES(VADDPS)

// func mulFloatAVX2(d, a, b *lanes)
TEXT ·mulFloatAVX2(SB), NOSPLIT, $0-24
	FLOAT_BINARIES(VMULPS)

// func fmaAVX2(d, a, b, c *lanes)
TEXT ·fmaAVX2(SB), NOSPLIT, $0-32
	OPERANDS3
	FLOATS
	ALL(FMA)
	END

// func addFlushAVX2(d, a, b *lanes)
TEXT ·addFlushAVX2(SB), NOSPLIT, $0-24
	OPERANDS2
	FLUSHED
	ALL(ADD_FLUSH)
	END

// func mulFlushAVX2(d, a, b *lanes) bool
TEXT ·mulFlushAVX2(SB), NOSPLIT, $0-25
	OPERANDS2
	DOUBTS
	MUL_FLUSH(0, Y0)
	MUL_FLUSH(32, Y1)
	MUL_FLUSH(64, Y2)
	MUL_FLUSH(96, Y3)
	VPTEST Y12, Y12
	JNE doubt
	STORE
	MOVB $1, ret+24(FP)
	END
doubt:
	MOVB $0, ret+24(FP)
	END

// func fmaFlushAVX2(d, a, b, c *lanes) bool
TEXT ·fmaFlushAVX2(SB), NOSPLIT, $0-33
	OPERANDS3
	DOUBTS
	FMA_FLUSH(0, Y0)
	FMA_FLUSH(32, Y1)
	FMA_FLUSH(64, Y2)
	FMA_FLUSH(96, Y3)
	VPTEST Y12, Y12
	JNE doubt
	STORE
	MOVB $1, ret+32(FP)
	END
doubt:
	MOVB $0, ret+32(FP)
	END

// func minFloatAVX2(d, a, b *lanes) bool
TEXT ·minFloatAVX2(SB), NOSPLIT, $0-25
	EXTREMES(Y5, Y4)

// func maxFloatAVX2(d, a, b *lanes) bool
TEXT ·maxFloatAVX2(SB), NOSPLIT, $0-25
	EXTREMES(Y4, Y5)

// func pairsAVX2(addr *[32]uint64, low, high *lanes, offset uint64)
TEXT ·pairsAVX2(SB), NOSPLIT, $0-32
	MOVQ addr+0(FP), DI
	MOVQ low+8(FP), SI
	MOVQ high+16(FP), DX
	VPBROADCASTQ offset+24(FP), Y8
	EIGHTS(PAIR)
	END

// func extendedAVX2(addr *[32]uint64, low *lanes, offset uint64)
TEXT ·extendedAVX2(SB), NOSPLIT, $0-24
	MOVQ addr+0(FP), DI
	MOVQ low+8(FP), SI
	VPBROADCASTQ offset+16(FP), Y8
	EIGHTS(EXTEND)
	END

// func scaledAVX2(addr *[32]uint64, low *lanes, shift uint64, offset uint32)
TEXT ·scaledAVX2(SB), NOSPLIT, $0-28
	MOVQ addr+0(FP), DI
	MOVQ low+8(FP), SI
	VMOVQ shift+16(FP), X9
	MOVL offset+24(FP), AX
	VMOVD AX, X8
	VPBROADCASTD X8, X8
	EIGHTS(SCALE)
	END

// func withinAVX2(addr *[32]uint64, mask uint32, base, limit, low uint64) bool
TEXT ·withinAVX2(SB), NOSPLIT, $0-41
	MOVQ addr+0(FP), SI
	MOVLQSX mask+8(FP), AX
	VMOVQ AX, X8
	VPBROADCASTQ X8, Y8
	VPBROADCASTQ base+16(FP), Y9
	VPBROADCASTQ limit+24(FP), Y10
	VPBROADCASTQ low+32(FP), Y11
	VPXOR Y12, Y12, Y12
	VPXOR Y13, Y13, Y13
	EIGHTS(WITHIN)
	VMOVMSKPD Y12, AX
	VPTEST Y11, Y13
	SETNE BX
	ORB AX, BX
	SETEQ ret+40(FP)
	END

// func sequentialAVX2(addr *[32]uint64, shift uint64) bool
TEXT ·sequentialAVX2(SB), NOSPLIT, $0-17
	MOVQ addr+0(FP), SI
	VMOVQ shift+8(FP), X9
	VPBROADCASTQ (SI), Y8
	VPCMPEQQ Y12, Y12, Y12
	EIGHTS(FOLLOWS)
	VMOVMSKPD Y12, AX
	CMPL AX, $15
	SETEQ ret+16(FP)
	END

// func copyAVX2(d, a unsafe.Pointer)
TEXT ·copyAVX2(SB), NOSPLIT, $0-16
	OPERANDS1
	ALL(COPY)
	END

// func gatherAVX2(rows *lanes, data *byte, base uint64, addr *[32]uint64, mask uint32, words uint64)
TEXT ·gatherAVX2(SB), NOSPLIT, $0-48
	MOVQ rows+0(FP), DI
	MOVQ data+8(FP), R8
	SUBQ base+16(FP), R8
	MOVQ addr+24(FP), SI
	MOVL mask+32(FP), BX
	MOVQ words+40(FP), DX
	CMPQ DX, $1
	JEQ one
	CMPQ DX, $2
	JEQ two
four:
	EACH
	MOVL (R8)(CX*1), R9
	MOVL 4(R8)(CX*1), R10
	MOVL 8(R8)(CX*1), R11
	MOVL 12(R8)(CX*1), R12
	MOVL R9, (DI)(AX*4)
	MOVL R10, 128(DI)(AX*4)
	MOVL R11, 256(DI)(AX*4)
	MOVL R12, 384(DI)(AX*4)
	TESTL BX, BX
	JNE four
	RET
two:
	EACH
	MOVL (R8)(CX*1), R9
	MOVL 4(R8)(CX*1), R10
	MOVL R9, (DI)(AX*4)
	MOVL R10, 128(DI)(AX*4)
	TESTL BX, BX
	JNE two
	RET
one:
	EACH
	MOVL (R8)(CX*1), R9
	MOVL R9, (DI)(AX*4)
	TESTL BX, BX
	JNE one
	RET

// func scatterAVX2(data *byte, base uint64, addr *[32]uint64, rows *lanes, mask uint32, words uint64)
TEXT ·scatterAVX2(SB), NOSPLIT, $0-48
	MOVQ data+0(FP), R8
	SUBQ base+8(FP), R8
	MOVQ addr+16(FP), SI
	MOVQ rows+24(FP), DI
	MOVL mask+32(FP), BX
	MOVQ words+40(FP), DX
	CMPQ DX, $1
	JEQ one
	CMPQ DX, $2
	JEQ two
four:
	EACH
	MOVL (DI)(AX*4), R9
	MOVL 128(DI)(AX*4), R10
	MOVL R9, (R8)(CX*1)
	MOVL R10, 4(R8)(CX*1)
	MOVL 256(DI)(AX*4), R9
	MOVL 384(DI)(AX*4), R10
	MOVL R9, 8(R8)(CX*1)
	MOVL R10, 12(R8)(CX*1)
	TESTL BX, BX
	JNE four
	RET
two:
	EACH
	MOVL (DI)(AX*4), R9
	MOVL 128(DI)(AX*4), R10
	MOVL R9, (R8)(CX*1)
	MOVL R10, 4(R8)(CX*1)
	TESTL BX, BX
	JNE two
	RET
one:
	EACH
	MOVL (DI)(AX*4), R9
	MOVL R9, (R8)(CX*1)
	TESTL BX, BX
	JNE one
	RET
