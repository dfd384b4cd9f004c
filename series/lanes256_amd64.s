#include "textflag.h"

#define V0 Y0
#define V1 Y1
#define V2 Y2
#define V3 Y3
#define V4 Y4
#define V5 Y5
#define V6 Y6
#define V7 Y7
#define V8 Y8
#define V9 Y9
#define V10 Y10
#define V11 Y11
#define V12 Y12
#define V13 Y13
#define V14 Y14
#define V15 Y15

#include "lanes_amd64.h"

// func filterAVX(rows *laneRow, n int, at int, constants *[3]float64)
TEXT ·filterAVX(SB), NOSPLIT, $0-32
	MOVQ rows+0(FP), SI
	MOVQ n+8(FP), CX
	ADDQ at+16(FP), SI
	MOVQ constants+24(FP), DX
	FILTER
	RET

// func smoothAVX(last *laneRow, n int, at int)
TEXT ·smoothAVX(SB), NOSPLIT, $0-24
	MOVQ last+0(FP), SI
	MOVQ n+8(FP), CX
	ADDQ at+16(FP), SI
	SMOOTH
	RET
