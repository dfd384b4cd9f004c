#include "textflag.h"

// Loops over cells with vectors of eight, the last one masked: lanes beyond the end are 0 when
// loaded. Results have the bits of the Go code: nothing is fused or reordered.

// TAIL sets K1 to the first CX lanes, for CX from 1 to 7.
#define TAIL \
	MOVQ  $1, AX; \
	SHLQ  CX, AX; \
	DECQ  AX; \
	KMOVW AX, K1

// LEVELS replaces the edges in Z0 by their levels, and sets Z5 to the differences. The two numbers of the table that a
// level is between are loaded together: gather instructions are slow on some CPUs.
#define LEVELS \
	VMULPD      Z16, Z0, Z0; \
	VADDPD      Z17, Z0, Z0; \
	VCMPPD      $13, Z19, Z0, K4; \
	VMINPD      Z18, Z0, Z0; \
	VMAXPD      Z19, Z0, Z0; \
	VCVTTPD2DQ  Z0, Y1; \
	VCVTDQ2PD   Y1, Z2; \
	VSUBPD      Z2, Z0, Z0; \
	VMOVDQU     Y1, place-32(SP); \
	MOVL        place-32(SP), AX; \
	MOVL        place-24(SP), DX; \
	VMOVUPD     (BX)(AX*8), X3; \
	VINSERTF64X2 $1, (BX)(DX*8), Z3, Z3; \
	MOVL        place-16(SP), AX; \
	MOVL        place-8(SP), DX; \
	VINSERTF64X2 $2, (BX)(AX*8), Z3, Z3; \
	VINSERTF64X2 $3, (BX)(DX*8), Z3, Z3; \
	MOVL        place-28(SP), AX; \
	MOVL        place-20(SP), DX; \
	VMOVUPD     (BX)(AX*8), X4; \
	VINSERTF64X2 $1, (BX)(DX*8), Z4, Z4; \
	MOVL        place-12(SP), AX; \
	MOVL        place-4(SP), DX; \
	VINSERTF64X2 $2, (BX)(AX*8), Z4, Z4; \
	VINSERTF64X2 $3, (BX)(DX*8), Z4, Z4; \
	VUNPCKHPD   Z4, Z3, Z5; \
	VUNPCKLPD   Z4, Z3, Z3; \
	VMOVAPD     Z5, Z4; \
	VSUBPD      Z3, Z4, Z4; \
	VMULPD      Z4, Z0, Z0; \
	VADDPD.Z    Z0, Z3, K4, Z0; \
	VALIGNQ     $7, Z20, Z0, Z5; \
	VMOVAPD     Z0, Z20; \
	VSUBPD      Z5, Z0, Z5; \
	VMAXPD      Z19, Z5, Z5

// func levelsAVX512(level, weight, edges *float64, n int, table *levelTable, scale, shift, before, most float64)
TEXT ·levelsAVX512(SB), NOSPLIT, $32-72
	MOVQ         level+0(FP), DI
	MOVQ         weight+8(FP), R8
	MOVQ         edges+16(FP), SI
	MOVQ         n+24(FP), CX
	MOVQ         table+32(FP), BX
	VBROADCASTSD scale+40(FP), Z16
	VBROADCASTSD shift+48(FP), Z17
	VBROADCASTSD before+56(FP), Z20
	VBROADCASTSD most+64(FP), Z18
	VPXORQ       Z19, Z19, Z19
	CMPQ         CX, $8
	JL           last

next:
	VMOVUPD (SI), Z0
	LEVELS
	VMOVUPD Z0, (DI)
	VMOVUPD Z5, (R8)
	ADDQ    $64, SI
	ADDQ    $64, DI
	ADDQ    $64, R8
	SUBQ    $8, CX
	CMPQ    CX, $8
	JGE     next

last:
	TESTQ     CX, CX
	JZ        done
	TAIL
	VMOVUPD.Z (SI), K1, Z0
	LEVELS
	VMOVUPD   Z0, K1, (DI)
	VMOVUPD   Z5, K1, (R8)

done:
	VZEROUPPER
	RET

// Lanes of probabilities for the cells of two of them.
DATA lanes01<>+0(SB)/8, $0
DATA lanes01<>+8(SB)/8, $0
DATA lanes01<>+16(SB)/8, $0
DATA lanes01<>+24(SB)/8, $0
DATA lanes01<>+32(SB)/8, $1
DATA lanes01<>+40(SB)/8, $1
DATA lanes01<>+48(SB)/8, $1
DATA lanes01<>+56(SB)/8, $1
GLOBL lanes01<>(SB), RODATA, $64

// func evenAVX512(weight, probability *float64, n int)
TEXT ·evenAVX512(SB), NOSPLIT, $0-24
	MOVQ         weight+0(FP), DI
	MOVQ         probability+8(FP), SI
	MOVQ         n+16(FP), CX
	VMOVDQU64    lanes01<>(SB), Z16
	MOVQ         $2, AX
	VPBROADCASTQ AX, Z1
	VPADDQ       Z1, Z16, Z17
	VPADDQ       Z1, Z17, Z18
	VPADDQ       Z1, Z18, Z19
	MOVQ         $0x3fd0000000000000, AX // 1/4
	VPBROADCASTQ AX, Z20
	KXNORW       K1, K1, K1

next:
	CMPQ CX, $8
	JGE  whole
	TAIL

whole:
	VMOVUPD.Z (SI), K1, Z0
	VMULPD    Z20, Z0, Z0
	VPERMPD   Z0, Z16, Z1
	VPERMPD   Z0, Z17, Z2
	VPERMPD   Z0, Z18, Z3
	VPERMPD   Z0, Z19, Z4
	VMOVUPD   Z1, (DI)
	VMOVUPD   Z2, 64(DI)
	VMOVUPD   Z3, 128(DI)
	VMOVUPD   Z4, 192(DI)
	ADDQ      $64, SI
	ADDQ      $256, DI
	SUBQ      $8, CX
	JG        next
	VZEROUPPER
	RET

// FACTORS sets Z3 to the factors of eight steps: the products of three numbers that are in registers, chosen by the lowest four bits
// of the steps, the next four and the others. Gather instructions are slow on some CPUs.
#define FACTORS \
	VPMOVZXBQ  (R8), Z0; \
	VPMOVZXBQ  (R9), Z1; \
	VPMOVZXBQ  (R10), Z2; \
	VPADDQ     Z1, Z0, Z0; \
	VPADDQ     Z2, Z0, Z0; \
	VPSRLQ     $4, Z0, Z1; \
	VPSRLQ     $8, Z0, Z2; \
	VPERMI2PD  Z17, Z16, Z0; \
	VPERMI2PD  Z19, Z18, Z1; \
	VPERMPD    Z20, Z2, Z2; \
	VMULPD     Z1, Z0, Z0; \
	VMULPD     Z2, Z0, Z3

// func multiplyAVX512(weight *float64, n int, a, b, c *uint8, parts *stepParts)
TEXT ·multiplyAVX512(SB), NOSPLIT, $0-48
	MOVQ    weight+0(FP), DI
	MOVQ    n+8(FP), CX
	MOVQ    a+16(FP), R8
	MOVQ    b+24(FP), R9
	MOVQ    c+32(FP), R10
	MOVQ    parts+40(FP), BX
	VMOVUPD (BX), Z16
	VMOVUPD 64(BX), Z17
	VMOVUPD 128(BX), Z18
	VMOVUPD 192(BX), Z19
	VMOVUPD 256(BX), Z20
	CMPQ    CX, $8
	JL      last

next:
	FACTORS
	VMULPD  (DI), Z3, Z0
	VMOVUPD Z0, (DI)
	ADDQ    $8, R8
	ADDQ    $8, R9
	ADDQ    $8, R10
	ADDQ    $64, DI
	SUBQ    $8, CX
	CMPQ    CX, $8
	JGE     next

last:
	TESTQ     CX, CX
	JZ        done
	TAIL
	FACTORS
	VMOVUPD.Z (DI), K1, Z0
	VMULPD    Z3, Z0, Z0
	VMOVUPD   Z0, K1, (DI)

done:
	VZEROUPPER
	RET

// func countAVX512(values *float64, n int, limit float64) int
TEXT ·countAVX512(SB), NOSPLIT, $0-32
	MOVQ         values+0(FP), DI
	MOVQ         n+8(FP), CX
	VBROADCASTSD limit+16(FP), Z16
	XORQ         DX, DX
	KXNORW       K1, K1, K1

next:
	CMPQ CX, $8
	JGE  whole
	TAIL

whole:
	VMOVUPD.Z (DI), K1, Z0
	VCMPPD    $1, Z16, Z0, K1, K2
	KMOVB     K2, AX
	POPCNTQ   AX, AX
	ADDQ      AX, DX
	ADDQ      $64, DI
	SUBQ      $8, CX
	JG        next
	MOVQ      DX, ret+24(FP)
	VZEROUPPER
	RET

// func totalAVX512(weight *float64, n int) float64
TEXT ·totalAVX512(SB), NOSPLIT, $0-24
	MOVQ   weight+0(FP), DI
	MOVQ   n+8(FP), CX
	VXORPD Z0, Z0, Z0
	CMPQ   CX, $8
	JL     last

next:
	VADDPD (DI), Z0, Z0
	ADDQ   $64, DI
	SUBQ   $8, CX
	CMPQ   CX, $8
	JGE    next

last:
	TESTQ     CX, CX
	JZ        done
	TAIL
	VMOVUPD.Z (DI), K1, Z1
	VADDPD    Z1, Z0, Z0

done:
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPD        Y1, Y0, Y0
	VEXTRACTF128  $1, Y0, X1
	VADDPD        X1, X0, X0
	VPERMILPD     $1, X0, X1
	VADDSD        X1, X0, X0
	VMOVSD        X0, ret+16(FP)
	VZEROUPPER
	RET

// TEMPER multiplies the weights in Z0 by their factors for the counts in Z1.
#define TEMPER \
	VMULPD Z0, Z16, Z2; \
	VADDPD Z17, Z2, Z2; \
	VADDPD Z17, Z1, Z1; \
	VDIVPD Z2, Z1, Z1; \
	VMULPD Z1, Z0, Z0

// func temperAVX512(weight, count *float64, n int, expected, c float64)
TEXT ·temperAVX512(SB), NOSPLIT, $0-40
	MOVQ         weight+0(FP), DI
	MOVQ         count+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD expected+24(FP), Z16
	VBROADCASTSD c+32(FP), Z17
	CMPQ         CX, $8
	JL           last

next:
	VMOVUPD (DI), Z0
	VMOVUPD (SI), Z1
	TEMPER
	VMOVUPD Z0, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	CMPQ    CX, $8
	JGE     next

last:
	TESTQ     CX, CX
	JZ        done
	TAIL
	VMOVUPD.Z (DI), K1, Z0
	VMOVUPD.Z (SI), K1, Z1
	TEMPER
	VMOVUPD   Z0, K1, (DI)

done:
	VZEROUPPER
	RET

// ACCUMULATE replaces the weights in Z0 by their sums and adds those before, in Z16, which becomes the last
// of the new ones. Z19 is 0, and all numbers of Z18 are 7.
#define ACCUMULATE \
	VALIGNQ $7, Z19, Z0, Z1; \
	VADDPD  Z1, Z0, Z0; \
	VALIGNQ $6, Z19, Z0, Z1; \
	VADDPD  Z1, Z0, Z0; \
	VALIGNQ $4, Z19, Z0, Z1; \
	VADDPD  Z1, Z0, Z0; \
	VPERMPD Z0, Z18, Z1; \
	VADDPD  Z16, Z0, Z0; \
	VADDPD  Z16, Z1, Z16

// func accumulateAVX512(sum, weight *float64, n int) float64
TEXT ·accumulateAVX512(SB), NOSPLIT, $0-32
	MOVQ         sum+0(FP), DI
	MOVQ         weight+8(FP), SI
	MOVQ         n+16(FP), CX
	MOVQ         $7, AX
	VPBROADCASTQ AX, Z18
	VPXORQ       Z16, Z16, Z16
	VPXORQ       Z19, Z19, Z19
	CMPQ         CX, $8
	JL           last

next:
	VMOVUPD (SI), Z0
	ACCUMULATE
	VMOVUPD Z0, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	CMPQ    CX, $8
	JGE     next

last:
	TESTQ     CX, CX
	JZ        done
	TAIL
	VMOVUPD.Z (SI), K1, Z0
	ACCUMULATE
	VMOVUPD   Z0, K1, (DI)

done:
	VMOVSD X16, ret+24(FP)
	VZEROUPPER
	RET
