package delimited

import (
	"bytes"
	"io"
)

// TextBlocks returns the number of blocks of a text of the given size, which is not compressed:
// Next reads one at a time, after the first bytes.
func TextBlocks(size int64) int {
	return int(max(1, (size-headSize+BlockSize-1)/BlockSize))
}

// blockStart returns the position of a block in the text.
func blockStart(block int) int64 { return headSize + int64(block)*BlockSize }

// Restrict makes Next return the records that a reader of the whole text would return for the
// blocks [from, to). It must be called after ReadLayout. It reports false if that is not possible:
// the text is compressed or has a delimiter of several characters, or there is no line end before
// the first block.
//
// A record that starts before a block and ends in it belongs to the block. Where records start is not known from the
// middle of a text, because a line end may be quoted: it is taken from the last line end before the block. Whoever
// reads the blocks before must end there, see [Blocks.Offset]; otherwise the text cannot be divided there.
func (b *Blocks) Restrict(file io.ReaderAt, from, to int) bool {
	seeker, ok := b.in.(io.Seeker)
	if !ok || b.codec != "" || b.size != BlockSize {
		return false
	}
	if to > from {
		b.limit = blockStart(to)
	}
	if from == 0 {
		return true
	}
	start := blockStart(from)
	var carry []byte
	for size := int64(4 << 10); ; size *= 4 {
		size = min(size, start)
		carry = make([]byte, size)
		if n, err := file.ReadAt(carry, start-size); int64(n) < size && err != nil {
			return false
		}
		if end := bytes.LastIndexByte(carry, '\n'); end >= 0 {
			carry = carry[end+1:]
			break
		}
		if size == start || size > longestRecord {
			return false
		}
	}
	if _, err := seeker.Seek(start, io.SeekStart); err != nil {
		return false
	}
	b.carry, b.read, b.eof, b.decoded = carry, start, false, 0
	return true
}

// Offset returns the position of the first record that Next has not returned.
func (b *Blocks) Offset() int64 { return b.read - int64(len(b.carry)) }
