// Package inflate decompresses blocks whose size the file states, of files that may be
// damaged or made to do harm. The memory that it takes is bounded by what the
// compressed bytes really contain, not by what the file states.
package inflate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A Codec is a kind of compression.
type Codec int

// The codecs of Parquet pages and Arrow buffers.
const (
	None Codec = iota
	Snappy
	Gzip
	Brotli
	Zstd
	LZ4Block  // one block, without a frame
	LZ4Hadoop // blocks, each after its sizes as big-endian numbers; some writers omit the sizes
	LZ4Frame
)

// A Decoder decompresses blocks. It keeps the state of its codecs from block to block.
// It is not safe for concurrent use. The zero value is ready to use.
type Decoder struct {
	in     bytes.Reader
	gzip   *gzip.Reader
	brotli *brotli.Reader
	zstd   *zstd.Decoder
	lz4    *lz4.Reader
}

var (
	errLonger  = errors.New("the compressed data contains more bytes than stated")
	errShorter = errors.New("the compressed data contains fewer bytes than stated")
)

// Append appends the content of src to dst. It returns an error if the content does not
// have the given size.
func (d *Decoder) Append(dst []byte, codec Codec, src []byte, size int) ([]byte, error) {
	if size < 0 {
		return dst, fmt.Errorf("compressed data of %d bytes", size)
	}
	switch codec {
	case None:
		if len(src) != size {
			return dst, fmt.Errorf("%d bytes instead of %d", len(src), size)
		}
		return append(dst, src...), nil
	case Snappy:
		return appendSnappy(dst, src, size)
	case LZ4Block:
		return appendLZ4(dst, src, size)
	case LZ4Hadoop:
		return appendHadoop(dst, src, size)
	case Zstd:
		return d.appendZstd(dst, src, size)
	}
	r, err := d.reader(codec, src)
	if err != nil {
		return dst, err
	}
	return appendFrom(dst, r, len(src), size)
}

// reader returns a reader of the content of src.
func (d *Decoder) reader(codec Codec, src []byte) (r io.Reader, err error) {
	d.in.Reset(src)
	switch codec {
	case Gzip:
		if d.gzip == nil {
			d.gzip, err = gzip.NewReader(&d.in)
		} else {
			err = d.gzip.Reset(&d.in)
		}
		return d.gzip, err
	case Brotli:
		if d.brotli == nil {
			d.brotli = brotli.NewReader(nil)
		}
		return d.brotli, d.brotli.Reset(&d.in)
	case LZ4Frame:
		if d.lz4 == nil {
			d.lz4 = lz4.NewReader(nil)
		}
		d.lz4.Reset(&d.in)
		return d.lz4, nil
	}
	return nil, fmt.Errorf("compression %d is unknown", codec)
}

// appendFrom appends size bytes of r and checks that it ends there. Room for them is
// made as they arrive.
func appendFrom(dst []byte, r io.Reader, compressed, size int) ([]byte, error) {
	end := len(dst) + size
	room := 4*compressed + 4<<10
	for len(dst) < end {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, min(end-len(dst), room))
			room *= 2
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), end)])
		dst = dst[:len(dst)+n]
		if err == io.EOF && len(dst) < end {
			return dst, errShorter
		}
		if err != nil && err != io.EOF {
			return dst, err
		}
	}
	// The end also contains the checksum.
	var more [1]byte
	for {
		n, err := r.Read(more[:])
		switch {
		case n > 0:
			return dst, errLonger
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}

func (d *Decoder) appendZstd(dst, src []byte, size int) (out []byte, err error) {
	if d.zstd == nil {
		// One goroutine: the caller decompresses several columns at once.
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return dst, err
		}
	}
	var header zstd.Header
	if err := header.Decode(src); err != nil {
		return dst, err
	}
	const usual = 256 // more than this is compressed so well that the size is not trusted
	if header.HasFCS && header.FrameContentSize == uint64(size) && size <= usual*len(src) {
		dst = slices.Grow(dst, size)
		out, err = d.zstd.DecodeAll(src, dst[:len(dst):len(dst)+size])
		if err == nil && len(out) < len(dst)+size {
			err = errShorter
		}
		return out, err
	}
	d.in.Reset(src)
	if err := d.zstd.Reset(&d.in); err != nil {
		return dst, err
	}
	out, err = appendFrom(dst, d.zstd, len(src), size)
	if end := d.zstd.Reset(nil); err == nil { // a stream that is not at its end keeps the state that the next DecodeAll waits for
		err = end
	}
	return out, err
}

func appendSnappy(dst, src []byte, size int) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return dst, err
	}
	// Three bytes copy at most 64.
	if n != size || size > 32*len(src) {
		return dst, fmt.Errorf("compressed data states %d and %d bytes", n, size)
	}
	if size == 0 {
		return dst, nil
	}
	dst = slices.Grow(dst, size)
	end := len(dst) + size
	got, err := snappy.Decode(dst[len(dst):end:end], src)
	if err != nil {
		return dst, err
	}
	return dst[:len(dst)+len(got)], nil
}

func appendLZ4(dst, src []byte, size int) ([]byte, error) {
	if n, ok := lz4Size(src); !ok || n != size {
		return dst, fmt.Errorf("the LZ4 data does not contain %d bytes", size)
	}
	if size == 0 {
		return dst, nil
	}
	dst = slices.Grow(dst, size)
	end := len(dst) + size
	n, err := lz4.UncompressBlock(src, dst[len(dst):end:end])
	if err == nil && n != size {
		err = errShorter
	}
	return dst[:len(dst)+n], err
}

// lz4Size returns the number of bytes that a block contains. It reads only the lengths.
// It reports whether they and the distances are possible.
func lz4Size(src []byte) (size int, ok bool) {
	at := 0
	length := func(n int) int {
		if n < 15 {
			return n
		}
		for at < len(src) {
			b := src[at]
			at++
			n += int(b)
			if b != 255 {
				break
			}
		}
		return n
	}
	for at < len(src) {
		token := src[at]
		at++
		literals := length(int(token >> 4))
		at += literals
		size += literals
		if at >= len(src) {
			return size, at == len(src)
		}
		if at+2 > len(src) {
			return size, false
		}
		distance := int(binary.LittleEndian.Uint16(src[at:]))
		if distance == 0 || distance > size {
			return size, false
		}
		at += 2
		size += length(int(token&15)) + 4
	}
	return size, size > 0
}

// appendHadoop reads blocks after their sizes. Early writers of Parquet wrote a block
// without sizes under the same name.
func appendHadoop(dst, src []byte, size int) ([]byte, error) {
	out, rest, end := dst, src, len(dst)+size
	for len(rest) >= 8 {
		full, packed := int(binary.BigEndian.Uint32(rest)), int(binary.BigEndian.Uint32(rest[4:]))
		if packed > len(rest)-8 || full > end-len(out) {
			break
		}
		var err error
		if out, err = appendLZ4(out, rest[8:8+packed], full); err != nil {
			break
		}
		rest = rest[8+packed:]
	}
	if len(rest) == 0 && len(out) == end {
		return out, nil
	}
	return appendLZ4(dst, src, size)
}
