#include "textflag.h"

// func call(function, stack uintptr, args *[22]uint64) uint64
//
// It calls a function by the Procedure Call Standard for the Arm 64-bit Architecture, on a stack of its own: goroutine stacks have no room
// for it. R19 is kept by the function.
TEXT ·call(SB), NOSPLIT, $0-32
	MOVD function+0(FP), R9
	MOVD stack+8(FP), R10
	MOVD args+16(FP), R11
	MOVD RSP, R19
	SUB  $128, R10
	MOVD R10, RSP
	ADD  $64, R11, R12
	MOVD $14, R13

copy:
	MOVD.P 8(R12), R14
	MOVD.P R14, 8(R10)
	SUBS   $1, R13, R13
	BNE    copy
	LDP    0(R11), (R0, R1)
	LDP    16(R11), (R2, R3)
	LDP    32(R11), (R4, R5)
	LDP    48(R11), (R6, R7)
	CALL   (R9)
	MOVD   R19, RSP
	MOVD   R0, ret+24(FP)
	RET

// func answer(data uint64): a C function that stores 42 where its argument points and returns.
TEXT ·answer(SB), NOSPLIT|NOFRAME, $0-0
	MOVD $42, R1
	MOVD R1, 0(R0)
	MOVD $7, R0
	RET

// func answerAddress() uintptr
TEXT ·answerAddress(SB), NOSPLIT, $0-8
	MOVD $·answer(SB), R0
	MOVD R0, ret+0(FP)
	RET
