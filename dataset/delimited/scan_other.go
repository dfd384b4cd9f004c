//go:build !amd64

package delimited

func separators(dst []uint32, text []byte, delimiter byte) (n, newlines int) {
	return separatorsGeneric(dst, text, delimiter)
}

func fieldWords(dst []uint64, text []byte, ends []uint32, keep []int32, columns, from, to int, cut uint32, behind byte) {
	fieldWordsGeneric(dst, text, ends, keep, columns, from, to, cut, behind)
}
