#include "textflag.h"

// func call(function, stack uintptr, args *[22]uint64) uint64
//
// It calls a function by the System V ABI for amd64, on a stack of its own: goroutine stacks have no room for it. R12 is kept by the
// function.
TEXT ·call(SB), NOSPLIT, $0-32
	MOVQ function+0(FP), AX
	MOVQ stack+8(FP), R13
	MOVQ args+16(FP), R11
	MOVQ SP, R12
	MOVQ R13, SP
	SUBQ $128, SP
	XORL CX, CX

copy:
	MOVQ 48(R11)(CX*8), R10
	MOVQ R10, (SP)(CX*8)
	INCQ CX
	CMPQ CX, $16
	JLT  copy
	MOVQ 0(R11), DI
	MOVQ 8(R11), SI
	MOVQ 16(R11), DX
	MOVQ 24(R11), CX
	MOVQ 32(R11), R8
	MOVQ 40(R11), R9
	CALL AX
	MOVQ R12, SP
	MOVQ AX, ret+24(FP)
	RET

// func answer(data uint64): a C function that stores 42 where its argument points and returns.
TEXT ·answer(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ $42, 0(DI)
	MOVL $7, AX
	RET

// func answerAddress() uintptr
TEXT ·answerAddress(SB), NOSPLIT, $0-8
	LEAQ ·answer(SB), AX
	MOVQ AX, ret+0(FP)
	RET
