package cpu

// transpose writes the transpose of the rows x columns matrix src to dst.
func transpose(dst []float32, dstRow int, src []float32, srcRow, rows, columns int) {
	for i := range rows {
		for j := range columns {
			dst[j*dstRow+i] = src[i*srcRow+j]
		}
	}
}
