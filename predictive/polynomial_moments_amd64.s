#include "textflag.h"

// The loops of polynomialScale.moments for eight distributions. Results have the bits of the Go code: nothing is fused or reordered.
// Offsets are those of polynomialScale (SI) and momentLanes (DI).

#define scale_degree  0
#define scale_power   8
#define scale_step    16
#define scale_hermite 128
#define scale_edge    248
#define scale_square  368
#define scale_inverse 600
#define scale_root    832
#define scale_number  1024
#define scale_taylor  1216
#define scale_one     1280
#define scale_two     1288
#define scale_half    1296
#define scale_least   1304
#define scale_steps   1312
#define scale_size    1320
#define scale_quiet   1328
#define scale_three   1336
#define scale_four    1344
#define scale_five    1352

#define lanes_m       0
#define lanes_sd      64
#define lanes_rho     128
#define lanes_mean    192
#define lanes_model   256
#define lanes_noise   320
#define lanes_smooth  384
#define lanes_origin  3328 // J_0
#define lanes_slope   5248

// HERMITE sets next to He_(n+1) = a He_n - n He_(n-1) at a = Z14.
#define HERMITE(n, before, now, next) \
	VMULPD      now, Z14, next; \
	VMULPD.BCST n(SI), before, Z20; \
	VSUBPD      Z20, next, next

// HORNER replaces Z20 by coefficient - Z15*Z20, the coefficient being a polynomial over a factorial.
#define HORNER(factorial, polynomial) \
	VMULPD      Z15, Z20, Z20; \
	VMULPD.BCST (scale_taylor+8*factorial)(SI), polynomial, Z21; \
	VSUBPD      Z20, Z21, Z20

// EXPONENTIAL replaces Z20 by a coefficient of the exponential series less Z22*Z20.
#define EXPONENTIAL(factorial) \
	VMULPD       Z22, Z20, Z20; \
	VBROADCASTSD (scale_taylor+8*factorial)(SI), Z21; \
	VSUBPD       Z20, Z21, Z20

// func momentsAVX512(lanes *momentLanes, scale *polynomialScale, table *[2*normalHalf + 1][2]float64)
TEXT ·momentsAVX512(SB), NOSPLIT, $32-24
	MOVQ         lanes+0(FP), DI
	MOVQ         scale+8(FP), SI
	MOVQ         table+16(FP), BX
	MOVQ         scale_degree(SI), CX
	VMOVUPD      lanes_m(DI), Z0
	VMOVUPD      lanes_sd(DI), Z1
	VPXORQ       Z30, Z30, Z30
	VBROADCASTSD scale_one(SI), Z31
	VMULPD.BCST  scale_power(SI), Z0, Z2
	VADDPD       Z2, Z31, Z2              // base
	VDIVPD       Z2, Z1, Z3               // tau
	VMULPD       Z3, Z3, Z4               // v

	// I_k
	MOVQ    CX, AX
	SHLQ    $6, AX
	LEAQ    lanes_smooth(DI)(AX*1), R9
	LEAQ    scale_step(SI)(CX*8), R10
	MOVQ    CX, DX
	VMOVAPD Z31, Z5
	VPXORQ  Z6, Z6, Z6
	VMOVUPD Z5, (R9)

down:
	SUBQ        $64, R9
	SUBQ        $8, R10
	VMULPD.BCST (R10), Z4, Z7
	VMULPD      Z6, Z7, Z7
	VMOVAPD     Z5, Z6
	VADDPD      Z7, Z5, Z5
	VMOVUPD     Z5, (R9)
	DECQ        DX
	JNZ         down

	// c_k
	VMOVAPD Z2, Z8
	LEAQ    -1(CX), DX

raise:
	VMULPD Z2, Z8, Z8
	DECQ   DX
	JNZ    raise
	VMULPD Z8, Z5, Z9        // centre
	VPXORQ Z10, Z10, Z10     // spread
	LEAQ   (scale_hermite+8)(SI), R10
	MOVQ   CX, DX

scaled:
	ADDQ        $64, R9
	VMULPD      Z3, Z8, Z8
	VMULPD.BCST (R10), Z8, Z7
	VMULPD      (R9), Z7, Z7
	VMOVUPD     Z7, (R9)
	VMULPD      Z7, Z7, Z7
	VADDPD      Z7, Z10, Z10
	ADDQ        $8, R10
	DECQ        DX
	JNZ         scaled

	// x, and the normal distribution function and density there
	VDIVPD       Z1, Z0, Z11
	VSUBPD       Z11, Z30, Z11
	VBROADCASTSD scale_least(SI), Z12
	VCMPPD       $14, Z12, Z11, K1
	VMAXPD       Z12, Z11, Z11
	VMULPD.BCST  scale_steps(SI), Z11, Z13
	VRNDSCALEPD  $8, Z13, Z13
	VMULPD.BCST  scale_size(SI), Z13, Z14 // a
	VSUBPD       Z14, Z11, Z15            // h
	VCVTPD2DQ    Z13, Y13
	VPSLLD       $4, Y13, Y13
	VMOVDQU      Y13, place-32(SP)
	ADDQ         $(525*16), BX            // the entry of 0
	MOVLQSX      place-32(SP), AX
	MOVLQSX      place-24(SP), DX
	VMOVUPD      (BX)(AX*1), X16
	VINSERTF64X2 $1, (BX)(DX*1), Z16, Z16
	MOVLQSX      place-16(SP), AX
	MOVLQSX      place-8(SP), DX
	VINSERTF64X2 $2, (BX)(AX*1), Z16, Z16
	VINSERTF64X2 $3, (BX)(DX*1), Z16, Z16
	MOVLQSX      place-28(SP), AX
	MOVLQSX      place-20(SP), DX
	VMOVUPD      (BX)(AX*1), X17
	VINSERTF64X2 $1, (BX)(DX*1), Z17, Z17
	MOVLQSX      place-12(SP), AX
	MOVLQSX      place-4(SP), DX
	VINSERTF64X2 $2, (BX)(AX*1), Z17, Z17
	VINSERTF64X2 $3, (BX)(DX*1), Z17, Z17
	VUNPCKHPD    Z17, Z16, Z18            // density of the entry
	VUNPCKLPD    Z17, Z16, Z19            // its distribution function

	// He_2 to He_6 in Z23 to Z27
	VMULPD       Z14, Z14, Z23
	VSUBPD       Z31, Z23, Z23
	HERMITE(scale_two, Z14, Z23, Z24)
	HERMITE(scale_three, Z23, Z24, Z25)
	HERMITE(scale_four, Z24, Z25, Z26)
	HERMITE(scale_five, Z25, Z26, Z27)
	VMULPD.BCST  (scale_taylor+8*7)(SI), Z27, Z20
	HORNER(6, Z26)
	HORNER(5, Z25)
	HORNER(4, Z24)
	HORNER(3, Z23)
	HORNER(2, Z14)
	VMULPD       Z15, Z20, Z20
	VSUBPD       Z20, Z31, Z20
	VMULPD       Z15, Z18, Z21
	VMULPD       Z20, Z21, Z21
	VADDPD       Z21, Z19, Z16            // J_0
	VMULPD.BCST  scale_half(SI), Z15, Z22
	VADDPD       Z22, Z14, Z22
	VMULPD       Z22, Z15, Z22
	VBROADCASTSD (scale_taylor+8*7)(SI), Z20
	EXPONENTIAL(6)
	EXPONENTIAL(5)
	EXPONENTIAL(4)
	EXPONENTIAL(3)
	EXPONENTIAL(2)
	EXPONENTIAL(1)
	EXPONENTIAL(0)
	VMULPD       Z20, Z18, Z17            // J_-1

	// J_n, and the sums over them
	LEAQ      lanes_origin(DI), R9
	VMOVUPD   Z16, (R9)
	VMOVUPD   Z17, -64(R9)
	LEAQ      lanes_slope(DI), R10
	LEAQ      (scale_inverse+8)(SI), R11
	LEAQ      (scale_square+8)(SI), R12
	LEAQ      (scale_edge+8)(SI), R13
	VMOVAPD.Z Z31, K1, Z8                 // powers of sd; 0 without what is below 0
	VPXORQ    Z18, Z18, Z18               // even
	VPXORQ    Z19, Z19, Z19               // change
	VPXORQ    Z20, Z20, Z20               // square
	KXORW     K2, K2, K2                  // of even n
	MOVQ      CX, DX

#define INTEGRAL \
	VMULPD      Z16, Z11, Z21; \
	VADDPD      Z17, Z21, Z21; \
	VMULPD.BCST (R11), Z21, Z21; \
	VMOVAPD     Z16, Z17; \
	VMOVAPD     Z21, Z16; \
	ADDQ        $64, R9; \
	VMOVUPD     Z16, (R9); \
	VMULPD      Z1, Z8, Z8; \
	VMULPD.BCST (R12), Z8, Z21; \
	VMULPD      Z16, Z21, Z21; \
	VADDPD      Z21, Z20, Z20; \
	ADDQ        $8, R11; \
	ADDQ        $8, R12

edges:
	INTEGRAL
	VMULPD.BCST (R13), Z8, Z21
	ADDQ        $64, R10
	VMOVUPD     Z21, (R10)
	VMULPD      Z16, Z21, Z21
	VADDPD      Z21, Z19, Z19
	VADDPD      Z21, Z18, K2, Z18
	KNOTW       K2, K2
	ADDQ        $8, R13
	DECQ        DX
	JNZ         edges
	VMOVUPD     Z30, 64(R10)
	MOVQ        CX, DX

squares:
	INTEGRAL
	DECQ DX
	JNZ  squares

	// mean and variance
	VSUBPD      Z31, Z9, Z9
	VADDPD      Z18, Z18, Z18
	VADDPD      Z18, Z9, Z18
	VMAXPD      Z30, Z18, Z18
	VMOVUPD     Z18, lanes_mean(DI)
	VADDPD      Z20, Z10, Z10
	VADDPD      Z9, Z9, Z9
	VMULPD      Z19, Z9, Z9
	VSUBPD      Z9, Z10, Z10
	VMULPD      Z19, Z19, Z19
	VSUBPD      Z19, Z10, Z10
	VMAXPD      Z30, Z10, Z10   // total

	// the part of the model
	VMOVUPD      lanes_rho(DI), Z2
	VBROADCASTSD scale_quiet(SI), Z3
	VMOVAPD      Z31, Z4          // share
	VMOVAPD      Z10, Z5          // rest
	VPXORQ       Z6, Z6, Z6       // model
	KXNORB       K2, K2, K2       // lanes that go on
	LEAQ         lanes_origin(DI), R9
	LEAQ         lanes_smooth(DI), R12
	XORQ         DX, DX           // k - 1
	LEAQ         1(CX), R8
	SHRQ         $1, R8

hermite:
	CMPQ        DX, $2
	JL          known
	VMOVUPD     128(R9), Z7
	VMULPD.BCST (scale_number+8)(SI)(DX*8), Z7, Z7
	VMULPD      64(R9), Z11, Z12
	VSUBPD      Z12, Z7, Z7
	VMOVUPD     Z7, (R9)

known:
	VPXORQ Z7, Z7, Z7
	VPXORQ Z8, Z8, Z8
	MOVQ   R9, R10
	LEAQ   (lanes_slope+64)(DI), R11
	MOVQ   R8, AX

pair:
	VMOVUPD (R11), Z12
	VMULPD  (R10), Z12, Z12
	VADDPD  Z12, Z7, Z7
	VMOVUPD 64(R11), Z13
	VMULPD  64(R10), Z13, Z13
	VADDPD  Z13, Z8, Z8
	ADDQ    $128, R10
	ADDQ    $128, R11
	DECQ    AX
	JNZ     pair
	VADDPD      Z8, Z7, Z7
	VMULPD.BCST (scale_root+8)(SI)(DX*8), Z7, Z7
	ADDQ        $64, R12
	CMPQ        DX, CX
	JGE         beyond
	VADDPD      (R12), Z7, Z7

beyond:
	VMULPD Z7, Z7, Z7
	VMULPD Z2, Z4, K2, Z4
	VMULPD Z7, Z4, Z12
	VADDPD Z12, Z6, K2, Z6
	VSUBPD Z7, Z5, Z7
	VMAXPD Z30, Z7, K2, Z5
	VMULPD Z5, Z4, Z7
	VMULPD Z6, Z3, Z12
	VCMPPD $2, Z12, Z7, K3
	KANDNB K2, K3, K2
	SUBQ   $64, R9
	INCQ   DX
	CMPQ   DX, $23
	JGE    finish
	KORTESTB K2, K2
	JNZ    hermite

finish:
	VMULPD  Z2, Z4, Z4
	VMULPD  Z5, Z4, Z4
	VADDPD  Z4, Z6, Z6
	VMINPD  Z10, Z6, Z6
	VMOVUPD Z6, lanes_model(DI)
	VSUBPD  Z6, Z10, Z10
	VMOVUPD Z10, lanes_noise(DI)
	VZEROUPPER
	RET
