// The recursions of filterRows and smoothRows with vectors V0 to V15, each a column of
// several lanes: the first of the rows, or the last one, is at SI, their number in CX.
// Results have the bits of the Go code: nothing is fused or reordered.

#define DECAY 0
#define AR_NOISE 64
#define LEVEL_NOISE 128
#define VALUE 192
#define PRECISION 256
#define MEAN 320
#define VARIANCE 384
#define PH0 448
#define PH1 512
#define ROW 576

// V0, V1 are a; V2, V3, V4 are c00, c01, c11; the constants at DX are the variances at the
// start and 1.
#define FILTER \
	VBROADCASTSD 0(DX), V2; \
	VBROADCASTSD 8(DX), V4; \
	VBROADCASTSD 16(DX), V15; \
	VXORPD       V0, V0, V0; \
	VXORPD       V1, V1, V1; \
	VXORPD       V3, V3, V3; \
filter: \
	VMOVUPD DECAY(SI), V5; \
	VMULPD  V5, V1, V1; \
	VMULPD  V5, V3, V3; \
	VMULPD  V5, V4, V4; \
	VMULPD  V5, V4, V4; \
	VADDPD  AR_NOISE(SI), V4, V4; \
	VADDPD  LEVEL_NOISE(SI), V2, V2; \
	VADDPD  V3, V2, V6; \
	VADDPD  V4, V3, V7; \
	VADDPD  V1, V0, V8; \
	VADDPD  V7, V6, V9; \
	VDIVPD  PRECISION(SI), V15, V10; \
	VADDPD  V10, V9, V10; \
	VDIVPD  V10, V15, V10; \
	VMOVUPD VALUE(SI), V11; \
	VSUBPD  V8, V11, V11; \
	VMOVUPD V11, VALUE(SI); \
	VMOVUPD V10, PRECISION(SI); \
	VMOVUPD V8, MEAN(SI); \
	VMOVUPD V9, VARIANCE(SI); \
	VMOVUPD V6, PH0(SI); \
	VMOVUPD V7, PH1(SI); \
	VMULPD  V10, V11, V12; \
	VMULPD  V10, V6, V13; \
	VMULPD  V10, V7, V14; \
	VMULPD  V12, V6, V5; \
	VADDPD  V5, V0, V0; \
	VMULPD  V12, V7, V5; \
	VADDPD  V5, V1, V1; \
	VMULPD  V6, V13, V5; \
	VSUBPD  V5, V2, V2; \
	VMULPD  V7, V13, V5; \
	VSUBPD  V5, V3, V3; \
	VMULPD  V7, V14, V5; \
	VSUBPD  V5, V4, V4; \
	ADDQ    $ROW, SI; \
	DECQ    CX; \
	JNZ     filter; \
	VZEROUPPER

// V0, V1 are r; V2, V3, V4 are n00, n01, n11.
#define SMOOTH \
	VXORPD V0, V0, V0; \
	VXORPD V1, V1, V1; \
	VXORPD V2, V2, V2; \
	VXORPD V3, V3, V3; \
	VXORPD V4, V4, V4; \
	VXORPD V15, V15, V15; \
smooth: \
	VMOVUPD PH0(SI), V6; \
	VMOVUPD PH1(SI), V7; \
	VMOVUPD PRECISION(SI), V10; \
	VMULPD  V0, V6, V8; \
	VMULPD  V1, V7, V9; \
	VADDPD  V9, V8, V8; \
	VMULPD  V6, V2, V11; \
	VMULPD  V7, V3, V12; \
	VADDPD  V12, V11, V11; \
	VMULPD  V10, V11, V11; \
	VMULPD  V6, V3, V12; \
	VMULPD  V7, V4, V13; \
	VADDPD  V13, V12, V12; \
	VMULPD  V10, V12, V12; \
	VMULPD  V11, V6, V13; \
	VMULPD  V12, V7, V14; \
	VADDPD  V14, V13, V13; \
	VMULPD  V10, V13, V13; \
	VMOVUPD VALUE(SI), V14; \
	VSUBPD  V8, V14, V14; \
	VMULPD  V10, V14, V14; \
	VADDPD  V10, V13, V13; \
	VADDPD  V14, V0, V0; \
	VADDPD  V14, V1, V1; \
	VSUBPD  V11, V13, V5; \
	VSUBPD  V11, V5, V5; \
	VADDPD  V5, V2, V2; \
	VSUBPD  V12, V13, V5; \
	VSUBPD  V11, V5, V8; \
	VADDPD  V8, V3, V3; \
	VSUBPD  V12, V5, V5; \
	VADDPD  V5, V4, V4; \
	VMULPD  V0, V6, V8; \
	VADDPD  MEAN(SI), V8, V8; \
	VMULPD  V1, V7, V9; \
	VADDPD  V9, V8, V8; \
	VMOVUPD V8, MEAN(SI); \
	VMULPD  V6, V2, V8; \
	VMULPD  V7, V3, V9; \
	VADDPD  V9, V8, V8; \
	VMULPD  V8, V6, V8; \
	VMOVUPD VARIANCE(SI), V9; \
	VSUBPD  V8, V9, V9; \
	VMULPD  V6, V3, V8; \
	VMULPD  V7, V4, V11; \
	VADDPD  V11, V8, V8; \
	VMULPD  V8, V7, V8; \
	VSUBPD  V8, V9, V9; \
	VMAXPD  V9, V15, V9; \
	VMOVUPD V9, VARIANCE(SI); \
	VMOVUPD DECAY(SI), V5; \
	VMULPD  V5, V1, V1; \
	VMULPD  V5, V3, V3; \
	VMULPD  V5, V4, V4; \
	VMULPD  V5, V4, V4; \
	SUBQ    $ROW, SI; \
	DECQ    CX; \
	JNZ     smooth; \
	VZEROUPPER
