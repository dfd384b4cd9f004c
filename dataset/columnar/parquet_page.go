package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/kernel-fried-tensor/kft/dataset/internal/inflate"
	"github.com/kernel-fried-tensor/kft/dataset/internal/packed"

	"github.com/parquet-go/parquet-go/format"
)

// pageReader reads the pages of one column, row group after row group. It decodes them
// itself: every size is checked before memory is taken for it, checksums are verified,
// and a page that contains other than it states is an error.
type pageReader struct {
	file   io.ReaderAt
	size   int64 // of the file
	column *parquetColumn

	codec inflate.Codec
	at    int64 // of the first byte that is not in buffer
	end   int64 // of the column chunk
	left  int64 // rows of the row group
	dict  *dictionary

	buffer []byte // read ahead; what is left of it
	memory []byte // that contains buffer
	own    pageMemory
}

// page is a page of values that has been read but not decoded. Pages are decoded in any order.
type page struct {
	header *format.PageHeader
	body   []byte
	rows   int
	left   int64 // rows of the row group from this page on
	column *parquetColumn
	codec  inflate.Codec
	dict   *dictionary
}

// pageMemory is what the decoding of a page needs. It serves one page after the other.
type pageMemory struct {
	decoder  inflate.Decoder
	inflated []byte
	body     []byte
}

// readAhead is the number of bytes that are read at a time.
const readAhead = 256 << 10

// plainDictionary is what old writers call the encodings of dictionaries and of indexes
// into them.
const plainDictionary format.Encoding = 2

// pageRows bounds the rows of a page that has only a few bytes for them.
const pageRows = 1 << 26

// start begins to read the column in a row group.
func (p *pageReader) start(group *format.RowGroup) error {
	chunk := &group.Columns[p.column.leaf]
	m := &chunk.MetaData
	switch {
	case chunk.CryptoMetadata.Value != nil || len(chunk.EncryptedColumnMetadata) > 0:
		return unsupported("it is encrypted")
	case chunk.FilePath != "":
		return unsupported("its values are in another file")
	case m.Type != p.column.kind:
		return fmt.Errorf("values of type %s instead of %s", m.Type, p.column.kind)
	case m.NumValues != group.NumRows:
		return fmt.Errorf("%d values in %d rows", m.NumValues, group.NumRows)
	}
	var ok bool
	if p.codec, ok = pageCodec(m.Codec); !ok {
		return unsupported(fmt.Sprintf("the compression %s is not supported", m.Codec))
	}
	from := m.DataPageOffset
	if m.DictionaryPageOffset > 0 && m.DictionaryPageOffset < from {
		from = m.DictionaryPageOffset
	}
	// Old writers forget the header of the dictionary in the size. 100 bytes are enough
	// for it.
	const forgotten = 100
	if from < 4 || from > p.size || m.TotalCompressedSize < 0 || m.TotalCompressedSize > p.size-from {
		return fmt.Errorf("values at %d to %d in a file of %d bytes", from, from+m.TotalCompressedSize, p.size)
	}
	p.at, p.end = from, min(p.size, from+m.TotalCompressedSize+forgotten)
	p.left, p.dict, p.buffer = group.NumRows, nil, nil
	return nil
}

func pageCodec(c format.CompressionCodec) (inflate.Codec, bool) {
	switch c {
	case format.Uncompressed:
		return inflate.None, true
	case format.Snappy:
		return inflate.Snappy, true
	case format.Gzip:
		return inflate.Gzip, true
	case format.Brotli:
		return inflate.Brotli, true
	case format.Zstd:
		return inflate.Zstd, true
	case format.Lz4:
		return inflate.LZ4Hadoop, true
	case format.Lz4Raw:
		return inflate.LZ4Block, true
	}
	return inflate.None, false
}

// peek returns the next n bytes, or as many as there are.
func (p *pageReader) peek(n int) ([]byte, error) {
	if len(p.buffer) >= n {
		return p.buffer[:n], nil
	}
	have := len(p.buffer)
	want := min(int64(max(n, readAhead)), int64(have)+p.end-p.at)
	if int64(cap(p.memory)) < want {
		memory := make([]byte, want)
		copy(memory, p.buffer)
		p.memory = memory
	} else {
		copy(p.memory[:want], p.buffer)
	}
	p.buffer = p.memory[:want]
	read, err := p.file.ReadAt(p.buffer[have:], p.at)
	p.at += int64(read)
	if have+read < len(p.buffer) {
		if err == io.EOF || err == nil {
			err = errTruncated
		}
		return nil, err
	}
	return p.buffer[:min(n, len(p.buffer))], nil
}

// header reads the header of the next page.
func (p *pageReader) header() (*format.PageHeader, error) {
	// A header has about 30 bytes and the least and greatest value.
	for size := 1 << 10; ; size *= 8 {
		b, err := p.peek(size)
		if err != nil {
			return nil, err
		}
		h := new(format.PageHeader)
		n, err := decodeThrift(b, h)
		if errors.Is(err, errTruncated) && len(b) == size {
			continue
		}
		if err != nil {
			return nil, err
		}
		p.buffer = p.buffer[n:]
		return h, nil
	}
}

// next reads the next page with values. Its body is in the given memory.
func (p *pageReader) next(memory *pageMemory) (page, error) {
	for {
		h, err := p.header()
		if err != nil {
			return page{}, err
		}
		if h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 || int64(h.CompressedPageSize) > int64(len(p.buffer))+p.end-p.at {
			return page{}, fmt.Errorf("a page of %d bytes (%d compressed) in %d", h.UncompressedPageSize, h.CompressedPageSize, int64(len(p.buffer))+p.end-p.at)
		}
		read, err := p.peek(int(h.CompressedPageSize))
		if err != nil {
			return page{}, err
		}
		p.buffer = p.buffer[len(read):]
		out := page{header: h, left: p.left, column: p.column, codec: p.codec, dict: p.dict}
		rows := int32(0)
		switch {
		case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
			if err := p.readDictionary(h, read); err != nil {
				return page{}, err
			}
			continue
		case h.Type == format.DataPage && h.DataPageHeader.Valid:
			rows = h.DataPageHeader.V.NumValues
		case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
			rows = h.DataPageHeaderV2.V.NumValues
		case h.Type != format.IndexPage:
			return page{}, fmt.Errorf("a page of type %d", h.Type)
		default:
			continue
		}
		if rows < 0 || int64(rows) > p.left {
			return page{}, fmt.Errorf("a page of %d rows and %d bytes where %d rows are left", rows, h.UncompressedPageSize, p.left)
		}
		p.left -= int64(rows)
		memory.body = append(memory.body[:0], read...)
		out.rows, out.body = int(rows), memory.body
		return out, nil
	}
}

// decode returns the values of the page.
func (p *page) decode(memory *pageMemory) (Segment, error) {
	if err := checksum(p.header, p.body); err != nil {
		return Segment{}, err
	}
	if p.header.Type == format.DataPage {
		return p.decodeV1(memory)
	}
	return p.decodeV2(memory)
}

// checksum compares the checksum of a page, if it has one.
func checksum(h *format.PageHeader, body []byte) error {
	if h.CRC != 0 && crc32.ChecksumIEEE(body) != uint32(h.CRC) {
		return errors.New("the checksum of a page is wrong")
	}
	return nil
}

// decompress returns the content of a page.
func (m *pageMemory) decompress(codec inflate.Codec, body []byte, size int) (_ []byte, err error) {
	if codec == inflate.None {
		if len(body) != size {
			return nil, fmt.Errorf("a page of %d bytes instead of %d", len(body), size)
		}
		return body, nil
	}
	m.inflated, err = m.decoder.Append(m.inflated[:0], codec, body, size)
	return m.inflated, err
}

func (p *pageReader) readDictionary(h *format.PageHeader, body []byte) error {
	if p.dict != nil {
		return errors.New("a second dictionary")
	}
	d := &h.DictionaryPageHeader.V
	if d.Encoding != format.Plain && d.Encoding != plainDictionary {
		return fmt.Errorf("a dictionary in the encoding %s", d.Encoding)
	}
	if err := checksum(h, body); err != nil {
		return err
	}
	data, err := p.own.decompress(p.codec, body, int(h.UncompressedPageSize))
	if err != nil {
		return err
	}
	if d.NumValues < 0 {
		return fmt.Errorf("a dictionary of %d values", d.NumValues)
	}
	s, err := p.column.values(format.Plain, data, int(d.NumValues))
	if err != nil {
		return err
	}
	p.dict = &dictionary{values: s}
	return nil
}

// checkRows checks the number of rows of a page against its content.
func (p *page) checkRows(data []byte) error {
	if p.rows > pageRows && p.rows/8 > len(data) {
		return fmt.Errorf("a page of %d rows and %d bytes where %d rows are left", p.rows, len(data), p.left)
	}
	return nil
}

func (p *page) decodeV1(memory *pageMemory) (Segment, error) {
	data, err := memory.decompress(p.codec, p.body, int(p.header.UncompressedPageSize))
	if err != nil {
		return Segment{}, err
	}
	d := &p.header.DataPageHeader.V
	if err := p.checkRows(data); err != nil {
		return Segment{}, err
	}
	n := p.rows
	found := n
	var present []bool
	if p.column.optional {
		if d.DefinitionLevelEncoding != format.RLE {
			return Segment{}, unsupported(fmt.Sprintf("nulls in the encoding %s are not supported", d.DefinitionLevelEncoding))
		}
		var levels []byte
		if levels, data, err = sizedPart(data); err != nil {
			return Segment{}, err
		}
		if present, found, err = packed.Presence(levels, n); err != nil {
			return Segment{}, err
		}
	}
	return p.segment(d.Encoding, data, found, present)
}

func (p *page) decodeV2(memory *pageMemory) (Segment, error) {
	h, body := p.header, p.body
	d := &h.DataPageHeaderV2.V
	repeated, defined := int(d.RepetitionLevelsByteLength), int(d.DefinitionLevelsByteLength)
	if repeated < 0 || defined < 0 || repeated > len(body) || defined > len(body)-repeated {
		return Segment{}, fmt.Errorf("levels of %d and %d bytes in a page of %d", repeated, defined, len(body))
	}
	levels, data := body[repeated:][:defined], body[repeated+defined:]
	if !d.IsCompressed.Valid || d.IsCompressed.V {
		size := int(h.UncompressedPageSize) - repeated - defined
		if size != 0 || len(data) != 0 { // some writers do not compress nothing
			var err error
			if data, err = memory.decompress(p.codec, data, size); err != nil {
				return Segment{}, err
			}
		}
	}
	if err := p.checkRows(data); err != nil {
		return Segment{}, err
	}
	n := p.rows
	found := n
	var present []bool
	if p.column.optional {
		var err error
		if present, found, err = packed.Presence(levels, n); err != nil {
			return Segment{}, err
		}
	}
	if d.NumRows != d.NumValues || int(d.NumNulls) != n-found {
		return Segment{}, fmt.Errorf("a page of %d rows and %d nulls states %d and %d", n, n-found, d.NumRows, d.NumNulls)
	}
	return p.segment(d.Encoding, data, found, present)
}

// segment decodes the values of a page that are present.
func (p *page) segment(encoding format.Encoding, data []byte, n int, present []bool) (s Segment, err error) {
	if encoding == plainDictionary || encoding == format.RLEDictionary {
		s, err = p.indexed(data, n)
	} else {
		s, err = p.column.values(encoding, data, n)
	}
	if err != nil {
		return s, err
	}
	if present != nil {
		s = s.spread(present)
	}
	return s, nil
}

// indexed decodes indexes into the dictionary.
func (p *page) indexed(data []byte, n int) (Segment, error) {
	if p.dict == nil {
		return Segment{}, errors.New("there is no dictionary")
	}
	s := Segment{n: n, index: make([]int32, n), dict: p.dict}
	if n == 0 {
		return s, nil
	}
	if len(data) == 0 {
		return s, packed.ErrShort
	}
	if err := packed.UnpackRuns(s.index, data[1:], uint(data[0])); err != nil {
		return s, err
	}
	if !allWithin(s.index, int32(p.dict.values.n)) {
		return s, errors.New("a value is not in the dictionary")
	}
	return s, nil
}

// allWithin reports whether all indexes are in [0, n). It checks two at a time: v and
// n-1-v must have no sign bit. If the lower half borrows from the upper half, the
// lower sign bit is set too.
func allWithin(indexes []int32, n int32) bool {
	const signs = 1<<63 | 1<<31
	last := uint64(uint32(n - 1))
	limits := last<<32 | last
	wrong := uint64(0)
	memory := bytesOf(indexes)
	for ; len(memory) >= 16; memory = memory[16:] {
		v, w := binary.LittleEndian.Uint64(memory), binary.LittleEndian.Uint64(memory[8:])
		wrong |= v | (limits - v) | w | (limits - w)
	}
	for _, v := range indexes[len(indexes)&^3:] {
		wrong |= uint64(uint32(v | (n - 1 - v)))
	}
	return wrong&signs == 0
}
