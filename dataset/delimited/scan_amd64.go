package delimited

import "golang.org/x/sys/cpu"

// separators finds delimiters and newlines, 64 bytes at a time if the CPU supports it.
// See separatorsGeneric.
func separators(dst []uint32, text []byte, delimiter byte) (n, newlines int) {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasBMI1 || !cpu.X86.HasPOPCNT || len(text) == 0 {
		return separatorsGeneric(dst, text, delimiter)
	}
	blocks := (len(text) + 63) / 64
	_ = text[:64*blocks]            // check that the padding exists
	_ = dst[len(text)+padding/4-1:] // and room for positions that are overwritten later
	return separatorsAVX2(&dst[0], &text[0], blocks, uint64(delimiter))
}

//go:noescape
func separatorsAVX2(dst *uint32, text *byte, blocks int, delimiter uint64) (n, newlines int)

// fieldWords loads fields as words. See fieldWordsGeneric.
func fieldWords(dst []uint64, text []byte, ends []uint32, keep []int32, columns, from, to int, cut uint32, behind byte) {
	if !cpu.X86.HasBMI2 || len(keep) == 0 {
		fieldWordsGeneric(dst, text, ends, keep, columns, from, to, cut, behind)
		return
	}
	_ = dst[len(keep)-1]
	_ = ends[int(keep[len(keep)-1])*columns+to] // the rows ascend
	fieldWordsBMI2(&dst[0], &text[0], &ends[from], &ends[to], &keep[0], len(keep), 4*columns, uint64(cut), uint64(behind))
}

//go:noescape
func fieldWordsBMI2(dst *uint64, text *byte, starts, ends *uint32, keep *int32, n, stride int, cut, behind uint64)
