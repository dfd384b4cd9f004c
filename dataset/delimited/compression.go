package delimited

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/magic"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a zstd file can ask for.
const maxWindow = 512 << 20

// decompress returns a reader of the decompressed text.
func decompress(codec string, in io.Reader) (io.ReadCloser, error) {
	if codec == magic.Gzip {
		buffered := bufio.NewReaderSize(in, 64<<10)
		z, err := gzip.NewReader(buffered)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		z.Multistream(false)
		return &gzipStreams{Reader: z, in: buffered}, nil
	}
	z, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// gzipStreams reads consecutive gzip streams, with zero bytes after the last, as
// tapes pad it. Other trailing data gets its own error; a plain gzip reader would
// report a truncated or damaged stream.
type gzipStreams struct {
	*gzip.Reader
	in *bufio.Reader
}

var errAfterGzip = errors.New("data follows the end of the gzip data")

func (g *gzipStreams) Read(dst []byte) (int, error) {
	for {
		n, err := g.Reader.Read(dst)
		if n > 0 || err != io.EOF {
			if err == io.EOF {
				err = nil // the next call looks for another stream
			}
			return n, err
		}
		for {
			next, err := g.in.Peek(2)
			if len(next) == 0 {
				return 0, err
			}
			if magic.Compression(next) == magic.Gzip {
				break
			}
			if next[0] != 0 {
				return 0, errAfterGzip
			}
			g.in.Discard(1)
		}
		if err := g.Reader.Reset(g.in); err != nil {
			return 0, err
		}
		g.Reader.Multistream(false)
	}
}

// readProblem describes an error that occurred while a file was read.
func readProblem(err error, codec string, line int) *dataset.InputError {
	e := &dataset.InputError{Line: line, Problem: err.Error(), Err: err, Remedy: "check the file and its disk"}
	if codec == "" {
		return e
	}
	var path *os.PathError
	switch {
	case errors.As(err, &path):
		return e
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		e.Problem = fmt.Sprintf("the zstd data requires a window above %d MiB, which this program does not allocate", maxWindow>>20)
		e.Remedy = "compress it again with a window of at most 2^29 bytes"
		return e
	case errors.Is(err, errAfterGzip):
		e.Problem = "data other than gzip follows the end of the gzip data"
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Problem = "the " + codec + " data ends too early: the file is truncated"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zstd.ErrCRCMismatch):
		e.Problem = "the " + codec + " checksum is wrong: the file is damaged"
	case errors.Is(err, gzip.ErrHeader), errors.As(err, new(flate.CorruptInputError)), codec == magic.Zstd:
		e.Problem = "the " + codec + " data is damaged"
	default:
		return e
	}
	e.Remedy = "copy or download it again"
	return e
}

// TextSize estimates the size of a text from its first bytes, the last four bytes and
// the size of the file: the size itself, for gzip the size that the last bytes state,
// for zstd the size that the first frame states. 0 means unknown.
func TextSize(head []byte, tail [4]byte, size int64) int {
	switch magic.Compression(head) {
	case magic.Gzip:
		// A gzip file may contain several streams and states only the size of the last. The
		// hint is limited to the highest compression that deflate can reach.
		return int(min(int64(binary.LittleEndian.Uint32(tail[:])), 1032*size))
	case magic.Zstd:
		var header zstd.Header
		if err := header.Decode(head); err != nil || !header.HasFCS {
			return 0
		}
		return int(min(header.FrameContentSize, 1<<10*uint64(size)))
	}
	return int(size)
}

// TextHeadSize is the number of first bytes that TextSize needs.
const TextHeadSize = zstd.HeaderMaxSize

// Compress returns a writer that compresses text with gzip, with zstd, or not at all
// (""). It prefers speed over size.
func Compress(w io.Writer, codec string) (io.WriteCloser, error) {
	switch codec {
	case magic.Gzip:
		return gzip.NewWriterLevel(w, gzip.BestSpeed)
	case magic.Zstd:
		return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest))
	}
	return plainWriter{w}, nil
}

type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }
