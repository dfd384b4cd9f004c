package cpu

// transposeAVX2 is transpose in blocks of 8 x 8.
func transposeAVX2(dst []float32, dstRow int, src []float32, srcRow, rows, columns int) {
	evenRows, evenColumns := rows&^7, columns&^7
	if evenColumns > 0 {
		for i := 0; i < evenRows; i += 8 {
			transpose8(&dst[i], dstRow, &src[i*srcRow], srcRow, evenColumns/8)
		}
	}
	if evenColumns < columns && evenRows > 0 {
		transpose(dst[evenColumns*dstRow:], dstRow, src[evenColumns:], srcRow, evenRows, columns-evenColumns)
	}
	if evenRows < rows && columns > 0 {
		transpose(dst[evenRows:], dstRow, src[evenRows*srcRow:], srcRow, rows-evenRows, columns)
	}
}
