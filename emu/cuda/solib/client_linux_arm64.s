#include "textflag.h"

// The machine code of a library's functions: see client.go for what it does and wire for the messages. System calls have the numbers of
// asm-generic/unistd.h: R8 holds the number, R0 the result, and all other registers stay as they are.
//
// A stub has put the function's number into R16 and the address of the image's data into R17, which belong to nobody between a call and
// the function (AAPCS64, IP0 and IP1). R8 is where a structure goes that the function returns. The stack frame holds the call (0 to 207),
// the message received (208 to 271), whether a payload is being received (272: 1 where it goes, 2 where it can go nowhere), and whether a
// payload went nowhere (276). RSP is a multiple of 16, as AAPCS64 asks for.
// R19 is the socket, R20 the slot, R21 how many bytes are yet to come, R22 the data, R23 where they go, R24 the process.
TEXT ·client(SB), NOSPLIT|NOFRAME, $0-0
	STP.W (R29, R30), -64(RSP)
	MOVD  RSP, R29
	STP   (R19, R20), 16(RSP)
	STP   (R21, R22), 32(RSP)
	STP   (R23, R24), 48(RSP)
	SUB   $288, RSP
	MOVW  R16, 0(RSP)
	STP   (R0, R1), 8(RSP)
	STP   (R2, R3), 24(RSP)
	STP   (R4, R5), 40(RSP)
	STP   (R8, R17), 56(RSP)
	STP   (R6, R7), 80(RSP)
	MOVD  R17, R22
	ADD   $64, R29, R9
	ADD   $96, RSP, R10
	MOVD  $14, R11

stack:
	MOVD.P 8(R9), R12
	MOVD.P R12, 8(R10)
	SUBS   $1, R11, R11
	BNE    stack
	MOVD   $178, R8        // gettid
	SVC
	MOVW   R0, 4(RSP)
	MOVW   ZR, 276(RSP)

	// Take the first slot that is free. Each has a connection: several threads call at the same time. Every processor has this pair of
	// instructions, with which what the last holder wrote can be seen.
take:
	ADD  $128, R22, R20
	MOVD $64, R21

next:
	LDAXRW (R20), R0
	CBNZW  R0, held
	MOVD   $1, R1
	STXRW  R1, (R20), R2
	CBNZW  R2, next
	JMP    taken

held:
	ADD  $16, R20
	SUBS $1, R21, R21
	BNE  next
	MOVD $124, R8          // sched_yield
	SVC
	JMP  take

taken:
	MOVD $172, R8          // getpid: a forked child must not talk on its parent's connection
	SVC
	MOVW R0, R24
	MOVW ZR, 76(RSP)
	MOVW 4(R20), R1
	CMPW R1, R24
	BEQ  connected
	MOVD $198, R8          // socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0)
	MOVD $1, R0
	MOVD $0x80001, R1
	MOVD ZR, R2
	SVC
	CMP  $0, R0
	BLT  free
	MOVW R0, 8(R20)
	MOVD R0, R19
	MOVD $203, R8          // connect
	ADD  $8, R22, R1
	MOVW 0(R22), R2
	SVC
	CBNZ R0, fail
	MOVW R24, 4(R20)
	MOVD $1, R0
	MOVW R0, 76(RSP)

connected:
	MOVW 8(R20), R19
	MOVW R19, 72(RSP)
	MOVD $208, R2

	// Send R2 bytes of the frame: the call, or the result of what the server has asked for.
send:
	MOVD $206, R8          // sendto(socket, frame, n, MSG_NOSIGNAL, 0, 0)
	MOVD R19, R0
	MOVD RSP, R1
	MOVD $0x4000, R3
	MOVD ZR, R4
	MOVD ZR, R5
	SVC
	CMN  $4, R0            // EINTR
	BEQ  send
	CMP  R2, R0
	BNE  fail

message:
	ADD  $208, RSP, R23
	MOVD $64, R21
	MOVW ZR, 272(RSP)

	// Receive R21 bytes at R23. A signal may end a receive in the middle.
receive:
	MOVD R21, R2
	MOVW 272(RSP), R6
	CMPW $2, R6
	BNE  whole
	ADD  $80, RSP, R23     // in pieces, to what was the call's
	CMP  $128, R2
	BLS  whole
	MOVD $128, R2

whole:
	MOVD $207, R8          // recvfrom(socket, to, n, MSG_WAITALL, 0, 0)
	MOVD R19, R0
	MOVD R23, R1
	MOVD $0x100, R3
	MOVD ZR, R4
	MOVD ZR, R5
	SVC
	CMN  $4, R0            // EINTR
	BEQ  receive
	CMN  $14, R0           // EFAULT
	BEQ  nowhere
	CMP  $0, R0
	BLE  fail
	ADD  R0, R23
	SUBS R0, R21, R21
	BNE  receive
	CBNZW R6, message
	LDP  208(RSP), (R9, R16)
	LDP  224(RSP), (R0, R1)
	LDP  240(RSP), (R2, R3)
	LDP  256(RSP), (R4, R5)
	CMP  $1, R9
	BEQ  system
	CMP  $2, R9
	BEQ  call
	CMP  $3, R9
	BEQ  put
	STLRW ZR, (R20)
	MOVD R16, R0
	MOVW 276(RSP), R1
	CBZW R1, done
	MOVD $1, R0            // CUDA_ERROR_INVALID_VALUE

done:
	ADD   $288, RSP
	LDP   16(RSP), (R19, R20)
	LDP   32(RSP), (R21, R22)
	LDP   48(RSP), (R23, R24)
	LDP.P 64(RSP), (R29, R30)
	RET

put:
	MOVD R0, R23
	MOVD R1, R21
	MOVD $1, R2
	MOVW R2, 272(RSP)
	JMP  receive

nowhere:
	CMPW $1, R6
	BNE  fail
	MOVD $2, R2
	MOVW R2, 272(RSP)
	MOVD $1, R2
	MOVW R2, 276(RSP)
	JMP  receive

system:
	MOVD R16, R8
	SVC
	JMP  result

call:
	CALL (R16)

result:
	MOVD R0, 0(RSP)
	MOVD $8, R2
	JMP  send

	// The server is gone: the next call connects again.
fail:
	MOVD $57, R8           // close
	MOVD R19, R0
	SVC

free:
	MOVW  ZR, 4(R20)
	STLRW ZR, (R20)
	MOVD  $999, R0         // CUDA_ERROR_UNKNOWN
	JMP   done

TEXT ·clientEnd(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func clientBounds() (begin, end unsafe.Pointer)
TEXT ·clientBounds(SB), NOSPLIT, $0-16
	MOVD $·client(SB), R0
	MOVD R0, begin+0(FP)
	MOVD $·clientEnd(SB), R0
	MOVD R0, end+8(FP)
	RET
