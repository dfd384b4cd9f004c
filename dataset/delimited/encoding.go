package delimited

import (
	"bytes"
	"unicode/utf8"
)

// A table is UTF-8. Older programs write Windows-1252, of which Latin-1 is a part, and
// its letters beyond ASCII are almost never valid UTF-8. So a line that is not valid
// UTF-8 is read as Windows-1252. To decide line by line does not depend on how the text is
// cut into blocks, and an id is the same in the table of a fit and in any other.

// decodeLines returns text with the lines that are not UTF-8 converted from Windows-1252,
// and their number. Text that is UTF-8 is returned as it is.
func decodeLines(text []byte) (decoded []byte, lines int) {
	if utf8.Valid(text) {
		return text, 0
	}
	decoded = make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line = text[:end+1]
		}
		text = text[len(line):]
		if utf8.Valid(line) {
			decoded = append(decoded, line...)
			continue
		}
		lines++
		for _, c := range line {
			decoded = utf8.AppendRune(decoded, windows1252(c))
		}
	}
	return decoded, lines
}

// Decode returns the text of a block of [Blocks.Take] with the lines that are not UTF-8 converted from
// Windows-1252, and their number. The text is followed by padding, as that of a block.
func Decode(text []byte) (decoded []byte, lines int) {
	if decoded, lines = decodeLines(text); lines > 0 {
		n := len(decoded)
		decoded = grow(decoded, n+padding)
		clear(decoded[n:])
		decoded = decoded[:n]
	}
	return decoded, lines
}

// windows1252 returns the character of a byte. The five bytes without one are controls,
// as in Latin-1.
func windows1252(c byte) rune {
	if c < 0x80 || c > 0x9f {
		return rune(c)
	}
	return high1252[c-0x80]
}

var high1252 = [32]rune{
	'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8d, 'Ž', 0x8f,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9d, 'ž', 'Ÿ',
}

// decodeHead decodes the whole lines of the first bytes.
func (b *Blocks) decodeHead() {
	whole := len(b.carry)
	if !b.eof {
		whole = bytes.LastIndexByte(b.carry, '\n') + 1
	}
	head, n := decodeLines(b.carry[:whole])
	if n > 0 {
		b.carry, b.decoded = append(head, b.carry[whole:]...), n
	}
}

// Decoded returns how many lines of the block returned last were not UTF-8 and were read as
// Windows-1252; for the first block those of the header count as well. Take counts those of the
// header alone.
func (b *Blocks) Decoded() int { return b.blockDecoded }
