#include "textflag.h"

#define V0 Z0
#define V1 Z1
#define V2 Z2
#define V3 Z3
#define V4 Z4
#define V5 Z5
#define V6 Z6
#define V7 Z7
#define V8 Z8
#define V9 Z9
#define V10 Z10
#define V11 Z11
#define V12 Z12
#define V13 Z13
#define V14 Z14
#define V15 Z15

#include "lanes_amd64.h"

// func filterAVX512(rows *laneRow, n int, constants *[3]float64)
TEXT ·filterAVX512(SB), NOSPLIT, $0-24
	MOVQ rows+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ constants+16(FP), DX
	FILTER
	RET

// func smoothAVX512(last *laneRow, n int)
TEXT ·smoothAVX512(SB), NOSPLIT, $0-16
	MOVQ last+0(FP), SI
	MOVQ n+8(FP), CX
	SMOOTH
	RET
