package cpu

//go:noescape
func chainDotsAVX512(dst, rows *float32, idx *int32, w *float32, n, cols, stride, accumulate int)

//go:noescape
func chainMatVecAVX512(dst, rows, w *float32, n, cols, stride int)

//go:noescape
func chainGatherSumAVX512(acc, rows *float32, idx *int32, e *float32, n, cols, stride int)

//go:noescape
func chainScatterAddAVX512(grad *float32, idx *int32, e, w *float32, n, cols, stride int)

//go:noescape
func chainGatherScatterAVX512(acc, grad, rows *float32, idx *int32, e, w *float32, n, cols, stride int)

//go:noescape
func chainVecMatAVX512(acc, rows, e *float32, n, cols, stride int)

//go:noescape
func chainRank1AVX512(grad, e, w *float32, n, cols, stride int)

//go:noescape
func chainGatherRowsAVX512(dst, rows *float32, idx *int32, s *float32, n, cols, stride int)

//go:noescape
func chainAxpyAVX512(dst, src *float32, n int, a uint64)

//go:noescape
func chainDotAVX512(a, b *float32, n int) float64
