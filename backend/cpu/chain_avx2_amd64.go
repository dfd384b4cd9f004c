package cpu

//go:noescape
func chainDotsAVX2(dst, rows *float32, idx *int32, w *float32, n, cols, stride, accumulate int)

//go:noescape
func chainMatVecAVX2(dst, rows, w *float32, n, cols, stride int)

//go:noescape
func chainGatherSumAVX2(acc, rows *float32, idx *int32, e *float32, n, cols, stride int)

//go:noescape
func chainScatterAddAVX2(grad *float32, idx *int32, e, w *float32, n, cols, stride int)

//go:noescape
func chainGatherScatterAVX2(acc, grad, rows *float32, idx *int32, e, w *float32, n, cols, stride int)

//go:noescape
func chainVecMatAVX2(acc, rows, e *float32, n, cols, stride int)

//go:noescape
func chainRank1AVX2(grad, e, w *float32, n, cols, stride int)

//go:noescape
func chainGatherRowsAVX2(dst, rows *float32, idx *int32, s *float32, n, cols, stride int)

//go:noescape
func chainAxpyAVX2(dst, src *float32, n int, a uint64)

//go:noescape
func chainDotAVX2(a, b *float32, n int) float64
