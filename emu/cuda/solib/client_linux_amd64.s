#include "textflag.h"

// The machine code of a library's functions: see client.go for what it does and wire for the messages.
//
// A stub has put the function's number into AX and the address of the image's data into R11. The stack frame holds
// the call (0 to 207), the message received (208 to 271), whether a payload is being received (272: 1 where it goes,
// 2 where it can go nowhere), and whether a payload went nowhere (276).
// BX is the socket, R12 the slot, R13 how many bytes are yet to come, R14 the data, R15 where they go.
TEXT ·client(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ BP
	MOVQ  SP, BP
	PUSHQ BX
	PUSHQ R12
	PUSHQ R13
	PUSHQ R14
	PUSHQ R15
	SUBQ  $280, SP
	MOVL  AX, 0(SP)
	MOVQ  DI, 8(SP)
	MOVQ  SI, 16(SP)
	MOVQ  DX, 24(SP)
	MOVQ  CX, 32(SP)
	MOVQ  R8, 40(SP)
	MOVQ  R9, 48(SP)
	LEAQ  16(BP), R10
	MOVQ  R10, 56(SP)
	MOVQ  R11, 64(SP)
	MOVQ  R11, R14
	XORL  CX, CX

stack:
	MOVQ (R10)(CX*8), AX
	MOVQ AX, 80(SP)(CX*8)
	INCQ CX
	CMPQ CX, $16
	JLT  stack
	MOVL $186, AX          // gettid
	SYSCALL
	MOVL AX, 4(SP)
	MOVL $0, 276(SP)

	// Take the first slot that is free. Each has a connection: several threads call at the same time.
take:
	LEAQ 128(R14), R12
	MOVL $64, R13

next:
	MOVL  $1, AX
	XCHGL AX, 0(R12)
	TESTL AX, AX
	JEQ   taken
	ADDQ  $16, R12
	DECL  R13
	JNE   next
	MOVL  $24, AX          // sched_yield
	SYSCALL
	JMP   take

taken:
	MOVL $39, AX           // getpid: a forked child must not talk on its parent's connection
	SYSCALL
	MOVL AX, R13
	MOVL $0, 76(SP)
	CMPL R13, 4(R12)
	JEQ  connected
	MOVL $41, AX           // socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0)
	MOVL $1, DI
	MOVL $0x80001, SI
	XORL DX, DX
	SYSCALL
	TESTL AX, AX
	JLT  free
	MOVL AX, 8(R12)
	MOVL AX, BX
	MOVL AX, DI
	MOVL $42, AX           // connect
	LEAQ 8(R14), SI
	MOVL 0(R14), DX
	SYSCALL
	TESTL AX, AX
	JNE  fail
	MOVL R13, 4(R12)
	MOVL $1, 76(SP)

connected:
	MOVL 8(R12), BX
	MOVL BX, 72(SP)
	MOVL $208, DX

	// Send DX bytes of the frame: the call, or the result of what the server has asked for.
send:
	MOVL $44, AX           // sendto(socket, frame, n, MSG_NOSIGNAL, 0, 0)
	MOVL BX, DI
	MOVQ SP, SI
	MOVL $0x4000, R10
	XORL R8, R8
	XORL R9, R9
	SYSCALL
	CMPQ AX, $-4           // EINTR
	JEQ  send
	CMPQ AX, DX
	JNE  fail

message:
	LEAQ 208(SP), R15
	MOVL $64, R13
	MOVL $0, 272(SP)

	// Receive R13 bytes at R15. A signal may end a receive in the middle.
receive:
	MOVQ R13, DX
	CMPL 272(SP), $2
	JNE  whole
	LEAQ 80(SP), R15       // in pieces, to what was the call's
	CMPQ DX, $128
	JLS  whole
	MOVL $128, DX

whole:
	MOVL $45, AX           // recvfrom(socket, to, n, MSG_WAITALL, 0, 0)
	MOVL BX, DI
	MOVQ R15, SI
	MOVL $0x100, R10
	XORL R8, R8
	XORL R9, R9
	SYSCALL
	CMPQ AX, $-4           // EINTR
	JEQ  receive
	CMPQ AX, $-14          // EFAULT
	JEQ  nowhere
	TESTQ AX, AX
	JLE  fail
	ADDQ AX, R15
	SUBQ AX, R13
	JNE  receive
	CMPL 272(SP), $0
	JNE  message
	MOVQ 208(SP), CX
	MOVQ 216(SP), AX
	MOVQ 224(SP), DI
	MOVQ 232(SP), SI
	MOVQ 240(SP), DX
	MOVQ 248(SP), R10
	MOVQ 256(SP), R8
	MOVQ 264(SP), R9
	CMPQ CX, $1
	JEQ  system
	CMPQ CX, $2
	JEQ  call
	CMPQ CX, $3
	JEQ  put
	MOVL $0, 0(R12)
	CMPL 276(SP), $0
	JEQ  done
	MOVL $1, AX            // CUDA_ERROR_INVALID_VALUE

done:
	ADDQ $280, SP
	POPQ R15
	POPQ R14
	POPQ R13
	POPQ R12
	POPQ BX
	POPQ BP
	RET

put:
	MOVQ DI, R15
	MOVQ SI, R13
	MOVL $1, 272(SP)
	JMP  receive

nowhere:
	CMPL 272(SP), $1
	JNE  fail
	MOVL $2, 272(SP)
	MOVL $1, 276(SP)
	JMP  receive

system:
	SYSCALL
	JMP result

call:
	MOVQ R10, CX
	CALL AX

result:
	MOVQ AX, 0(SP)
	MOVL $8, DX
	JMP  send

	// The server is gone: the next call connects again.
fail:
	MOVL $3, AX            // close
	MOVL BX, DI
	SYSCALL

free:
	MOVL $0, 4(R12)
	MOVL $0, 0(R12)
	MOVL $999, AX          // CUDA_ERROR_UNKNOWN
	JMP  done

TEXT ·clientEnd(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func clientBounds() (begin, end unsafe.Pointer)
TEXT ·clientBounds(SB), NOSPLIT, $0-16
	LEAQ ·client(SB), AX
	MOVQ AX, begin+0(FP)
	LEAQ ·clientEnd(SB), AX
	MOVQ AX, end+8(FP)
	RET
