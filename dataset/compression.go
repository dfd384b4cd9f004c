package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const magicSize = 4 // bytes that tell the compressions apart

// codecOf names the compression that a file's first bytes show, or "".
func codecOf(magic []byte) string {
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	}
	return ""
}

// decompress returns a reader of the text within.
func decompress(codec string, in io.Reader) (io.ReadCloser, error) {
	if codec == "gzip" {
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
	z, err := zstd.NewReader(in)
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// gzipStreams reads streams that stand one after the other, with zero bytes behind
// the last, as tapes pad it. What else follows is named for what it is: it would
// pass for a stream that is cut short or damaged.
type gzipStreams struct {
	*gzip.Reader
	in *bufio.Reader
}

var errAfterGzip = errors.New("something follows the end of the gzip data")

func (g *gzipStreams) Read(dst []byte) (int, error) {
	for {
		n, err := g.Reader.Read(dst)
		if n > 0 || err != io.EOF {
			if err == io.EOF {
				err = nil // the next call looks for a stream to follow
			}
			return n, err
		}
		for {
			next, err := g.in.Peek(2)
			if len(next) == 0 {
				return 0, err
			}
			if codecOf(next) == "gzip" {
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

// readProblem puts into words what went wrong while a file was read.
func readProblem(err error, codec string, line int) *InputError {
	e := &InputError{Line: line, Problem: err.Error(), Err: err, Remedy: "check the file and the disk it is on"}
	if codec == "" {
		return e
	}
	var path *os.PathError
	switch {
	case errors.As(err, &path):
		return e
	case errors.Is(err, errAfterGzip):
		e.Problem = "something that is not gzip follows the end of the gzip data"
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Problem = "the " + codec + " data ends too early: the file is truncated"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zstd.ErrCRCMismatch):
		e.Problem = "the " + codec + " checksum is wrong: the file is damaged"
	case errors.Is(err, gzip.ErrHeader), errors.As(err, new(flate.CorruptInputError)), codec == "zstd":
		e.Problem = "the " + codec + " data is damaged"
	default:
		return e
	}
	e.Remedy = "copy or download it again"
	return e
}

// textSize guesses how many bytes of text a file holds: its size or, of gzip, what
// the last four bytes say, of zstd what the first frame says, and of Parquet the
// number of rows. 0 means not known.
func textSize(name string) int {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0 // a pipe must not be opened twice
	}
	f, err := os.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	var head [zstd.HeaderMaxSize]byte
	n, _ := f.ReadAt(head[:], 0)
	switch typedFormat(head[:n]) {
	case "Parquet":
		return parquetRows(f) // chunks count rows too
	case "Arrow", "Arrow stream":
		return 0
	}
	switch codecOf(head[:n]) {
	case "gzip":
		var size [4]byte
		if _, err := f.ReadAt(size[:], info.Size()-4); err != nil {
			return 0
		}
		// A gzip file may hold several streams and tells the size of the last: the hint
		// is not trusted beyond what deflate can do at most.
		return int(min(int64(binary.LittleEndian.Uint32(size[:])), 1032*info.Size()))
	case "zstd":
		var header zstd.Header
		if err := header.Decode(head[:n]); err != nil || !header.HasFCS {
			return 0
		}
		return int(min(header.FrameContentSize, 1<<10*uint64(info.Size())))
	}
	return int(info.Size())
}
