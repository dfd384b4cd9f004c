#include "textflag.h"

// POSITION writes the position of the lowest bit of AX and clears the bit. If
// AX is zero it writes a number that is overwritten later.
#define POSITION(offset) \
	TZCNTQ AX, R10; \
	BLSRQ  AX, AX; \
	ADDL   R8, R10; \
	MOVL   R10, offset(DI)

// func separatorsAVX2(dst *uint32, text *byte, blocks int, delimiter uint64) (n, newlines int)
//
// DI, SI: next position and next block. Y0, Y1: delimiter and newline. AX: bits of
// the bytes that match, DX their number. R8: position of the block. R9: dst. R12:
// newlines so far.
TEXT ·separatorsAVX2(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         text+8(FP), SI
	MOVQ         blocks+16(FP), CX
	MOVQ         delimiter+24(FP), AX
	VMOVD        AX, X0
	VPBROADCASTB X0, Y0
	MOVL         $10, AX
	VMOVD        AX, X1
	VPBROADCASTB X1, Y1
	XORL         R8, R8
	XORL         R12, R12
	MOVQ         DI, R9

block:
	VMOVDQU   (SI), Y2
	VMOVDQU   32(SI), Y3
	VPCMPEQB  Y2, Y0, Y4
	VPCMPEQB  Y2, Y1, Y5
	VPCMPEQB  Y3, Y0, Y6
	VPCMPEQB  Y3, Y1, Y7
	VPMOVMSKB Y5, R10
	VPMOVMSKB Y7, R11
	POPCNTL   R10, R10
	POPCNTL   R11, R11
	ADDQ      R10, R12
	ADDQ      R11, R12
	VPOR      Y4, Y5, Y4
	VPOR      Y6, Y7, Y6
	VPMOVMSKB Y4, AX
	VPMOVMSKB Y6, BX
	SHLQ      $32, BX
	ORQ       BX, AX
	POPCNTQ   AX, DX

	// Positions are written eight at a time: a block of a table contains about as many
	// separators as the block before it, so these branches can be predicted.
	POSITION(0)
	POSITION(4)
	POSITION(8)
	POSITION(12)
	POSITION(16)
	POSITION(20)
	POSITION(24)
	POSITION(28)
	CMPQ DX, $8
	JLE  next
	POSITION(32)
	POSITION(36)
	POSITION(40)
	POSITION(44)
	POSITION(48)
	POSITION(52)
	POSITION(56)
	POSITION(60)
	CMPQ DX, $16
	JLE  next
	LEAQ 64(DI), R11

rest:
	TZCNTQ AX, R10
	ADDL   R8, R10
	MOVL   R10, (R11)
	ADDQ   $4, R11
	BLSRQ  AX, AX
	JNZ    rest

next:
	LEAQ (DI)(DX*4), DI
	ADDQ $64, SI
	ADDL $64, R8
	DECQ CX
	JNZ  block

	SUBQ R9, DI
	SHRQ $2, DI
	MOVQ DI, n+32(FP)
	MOVQ R12, newlines+40(FP)
	VZEROUPPER
	RET

// func fieldWordsBMI2(dst *uint64, text *byte, starts, ends *uint32, keep *int32, n, stride int, cut, behind uint64)
//
// AX: word. BX, DX: start and end. R12: length, then its bits.
TEXT ·fieldWordsBMI2(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ starts+16(FP), R8
	MOVQ ends+24(FP), R11
	MOVQ keep+32(FP), R9
	MOVQ n+40(FP), CX
	MOVQ stride+48(FP), R10
	MOVQ cut+56(FP), R13
	MOVQ behind+64(FP), R14

row:
	MOVLQSX (R9), AX
	ADDQ    $4, R9
	IMULQ   R10, AX
	MOVL    (R8)(AX*1), BX
	MOVL    (R11)(AX*1), DX
	INCL    BX
	SUBL    R13, DX
	MOVL    DX, R12
	SUBL    BX, R12
	LEAL    -1(R12), AX
	CMPL    AX, $7
	JHI     zero
	SHLL    $3, R12
	BZHIQ   R12, (SI)(BX*1), AX
	MOVBLZX (SI)(DX*1), BX
	CMPL    BX, R14
	JNE     zero
	MOVBLZX -1(SI)(DX*1), BX
	CMPL    BX, $32
	JLS     zero
	CMPB    AX, $32
	JLS     zero
	MOVQ    AX, (DI)
	ADDQ    $8, DI
	DECQ    CX
	JNZ     row
	RET

zero:
	MOVQ $0, (DI)
	ADDQ $8, DI
	DECQ CX
	JNZ  row
	RET
