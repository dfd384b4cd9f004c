package columnar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// stored returns a table of the other package's tests.
func stored(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "tableio", "testdata", "tables", name))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// readAll reads all readable columns of a file and returns their values as text.
func readAll(t testing.TB, name string, file []byte) (string, error) {
	t.Helper()
	f, err := os.CreateTemp("", "*-"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(file); err != nil {
		t.Fatal(err)
	}
	table, err := OpenFile(name, f)
	if err != nil || table == nil {
		return "", err
	}
	defer table.Close()
	var columns []int
	for c := range table.Names() {
		if table.Readable(c) {
			table.Kind(c)
			columns = append(columns, c)
		}
	}
	table.Start(columns)
	var out strings.Builder
	var r Rows
	for {
		b, err := table.Next()
		if err == io.EOF {
			return out.String(), nil
		}
		if err != nil {
			return "", err
		}
		r.Reset(b, ',')
		for i := range b.Len() {
			for _, c := range columns {
				out.Write(r.Field(i, c))
				out.WriteByte(';')
			}
		}
	}
}

// refusedCheaply fails unless a file is refused without much memory.
func refusedCheaply(t *testing.T, what, name string, file []byte) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readAll(t, name, file)
	runtime.ReadMemStats(&after)
	var input *dataset.InputError
	if !errors.As(err, &input) {
		t.Errorf("%s: got error %v, want an InputError", what, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%s: allocates %d MB for %d bytes", what, took>>20, len(file))
	}
}

// TestEveryByte changes every byte of a file of each format, one at a time, and every
// fifth of others.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]int{"none-file.arrow": 1, "lz4-file.arrow": 5, "lz4-delta.parquet": 1, "none-dictionary.parquet": 5} {
		file := stored(t, name)
		refused := 0
		for i := 0; i < len(file); i += step {
			bad := slices.Clone(file)
			bad[i] ^= 1 << (i % 8)
			_, err := readAll(t, name, bad)
			var input *dataset.InputError
			if err != nil && !errors.As(err, &input) {
				t.Fatalf("%s, byte %d: got error %v of type %T", name, i, err, err)
			}
			if err != nil {
				refused++
			}
		}
		if refused < len(file)/step/8 {
			t.Errorf("%s: only %d of %d damaged files are refused", name, refused, len(file))
		}
	}
}

// TestFooterLength states a footer of gigabytes in a file of a few kilobytes.
func TestFooterLength(t *testing.T) {
	file := stored(t, "none-dictionary.parquet")
	for _, length := range []uint32{3_600_000_000, 1<<31 - 1, uint32(len(file)), uint32(len(file)) - 11} {
		bad := slices.Clone(file)
		binary.LittleEndian.PutUint32(bad[len(bad)-8:], length)
		refusedCheaply(t, fmt.Sprintf("a footer of %d bytes", length), "t.parquet", bad)
	}
}

// withMetadata returns a Parquet file with other metadata.
func withMetadata(t *testing.T, file []byte, change func(m *format.FileMetaData)) []byte {
	t.Helper()
	meta, err := readFooter(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	change(meta)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
	if err != nil {
		t.Fatal(err)
	}
	length := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	out := append(slices.Clone(file[:len(file)-8-length]), footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}

// TestFalseMetadata states what the pages do not have.
func TestFalseMetadata(t *testing.T) {
	for what, change := range map[string]func(m *format.FileMetaData){
		"rows of the table": func(m *format.FileMetaData) { m.NumRows = 1 << 40 },
		"rows everywhere": func(m *format.FileMetaData) {
			m.NumRows += 1<<40 - m.RowGroups[0].NumRows
			m.RowGroups[0].NumRows = 1 << 40
			for c := range m.RowGroups[0].Columns {
				m.RowGroups[0].Columns[c].MetaData.NumValues = 1 << 40
			}
		},
		"negative rows": func(m *format.FileMetaData) { m.RowGroups[0].NumRows = -1 },
		"size":          func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 50 },
		"place": func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.DataPageOffset, m.RowGroups[0].Columns[0].MetaData.DictionaryPageOffset = 1<<50, 0
		},
		"type":              func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Type = format.Double },
		"columns":           func(m *format.FileMetaData) { m.RowGroups[0].Columns = m.RowGroups[0].Columns[1:] },
		"children":          func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = 1 << 30 },
		"negative children": func(m *format.FileMetaData) { m.Schema[1].NumChildren = thrift.New[int32](-5) },
		"length of a value": func(m *format.FileMetaData) { m.Schema[len(m.Schema)-1].TypeLength = thrift.New[int32](1 << 30) },
		"codec":             func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = format.Zstd },
		"unknown codec":     func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = 99 },
		"values elsewhere":  func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].FilePath = "other.parquet" },
		"no schema":         func(m *format.FileMetaData) { m.Schema = nil },
	} {
		refusedCheaply(t, what, "t.parquet", withMetadata(t, stored(t, "none-dictionary.parquet"), change))
	}
	// Unchanged metadata are read.
	if _, err := readAll(t, "t.parquet", withMetadata(t, stored(t, "none-dictionary.parquet"), func(*format.FileMetaData) {})); err != nil {
		t.Error(err)
	}
}

// TestChecksum changes each byte of each page of a file with checksums.
func TestChecksum(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := NewParquetWriter(&out, []string{"id", "y"}, []Kind{{}, {Type: Float32}})
	if err != nil {
		t.Fatal(err)
	}
	const n = 200
	ids := Texts(n, func(i int) []byte { return fmt.Append(nil, "id ", i*i%31) })
	numbers := make([]float32, n)
	for i := range numbers {
		numbers[i] = float32(i * i % 97)
	}
	if err := errors.Join(w.Write([]Segment{ids, Numbers(numbers)}, n), w.Close()); err != nil {
		t.Fatal(err)
	}
	file := out.Bytes()
	bodies := 0
	for _, body := range pageBodies(t, file) {
		for i := body[0]; i < body[1]; i++ {
			bad := slices.Clone(file)
			bad[i] ^= 1 << (i % 8)
			if _, err := readAll(t, "t.parquet", bad); err == nil {
				t.Fatalf("byte %d of a page is changed, and the file is read", i)
			}
			bodies++
		}
	}
	if bodies < 400 {
		t.Errorf("only %d bytes were changed", bodies)
	}
}

// pageBodies returns the places of the pages of a file, without their headers.
func pageBodies(t *testing.T, file []byte) (places [][2]int) {
	t.Helper()
	meta, err := readFooter(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	columns, err := schemaColumns(meta.Schema)
	if err != nil {
		t.Fatal(err)
	}
	for c := range columns {
		p := pageReader{file: bytes.NewReader(file), size: int64(len(file)), column: &columns[c]}
		if err := p.start(&meta.RowGroups[0]); err != nil {
			t.Fatal(err)
		}
		for values := int64(0); values < meta.RowGroups[0].NumRows; {
			h, err := p.header()
			if err != nil {
				t.Fatal(err)
			}
			if h.CRC == 0 {
				t.Fatal("a page has no checksum")
			}
			values += int64(h.DataPageHeader.V.NumValues) + int64(h.DataPageHeaderV2.V.NumValues)
			from := int(p.at) - len(p.buffer)
			places = append(places, [2]int{from, from + int(h.CompressedPageSize)})
			p.buffer = p.buffer[h.CompressedPageSize:]
		}
	}
	return places
}

// TestFalseArrowSizes replaces every aligned number of an Arrow file by sizes that are
// too large: of messages, buffers, columns, lists and compressed data.
func TestFalseArrowSizes(t *testing.T) {
	for _, name := range []string{"none-file.arrow", "lz4-file.arrow", "zstd-stream.arrow"} {
		file := stored(t, name)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		files := 0
		for at := 8; at+8 <= len(file); at += 4 {
			for _, size := range []uint64{1 << 31, 1 << 40} {
				bad := slices.Clone(file)
				if size == 1<<31 {
					binary.LittleEndian.PutUint32(bad[at:], uint32(size))
				} else {
					binary.LittleEndian.PutUint64(bad[at:], size)
				}
				_, err := readAll(t, name, bad)
				var input *dataset.InputError
				if err != nil && !errors.As(err, &input) {
					t.Fatalf("%s, number at %d: got error %v of type %T", name, at, err, err)
				}
				files++
			}
		}
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) / uint64(files); took > 4<<20 {
			t.Errorf("%s: a false size takes %d MB on average", name, took>>20)
		}
	}
}

// TestArrowTextOffsets reads texts whose offsets leave their buffer or go back, which
// once ended the program.
func TestArrowTextOffsets(t *testing.T) {
	t.Parallel()
	file := stored(t, "none-file.arrow")
	sound, err := readAll(t, "t.arrow", file)
	if err != nil {
		t.Fatal(err)
	}
	// The texts "store NN" have 7 or 8 bytes each: find their offsets.
	found := 0
	for at := 8; at+12 < len(file); at += 8 {
		a, b, c := binary.LittleEndian.Uint32(file[at:]), binary.LittleEndian.Uint32(file[at+4:]), binary.LittleEndian.Uint32(file[at+8:])
		if a != 0 || b < 7 || b > 8 || c-b != 0 && (c-b < 7 || c-b > 8) {
			continue
		}
		found++
		for _, wrong := range []uint32{131791, 1 << 31, 1<<32 - 1, 3} {
			bad := slices.Clone(file)
			binary.LittleEndian.PutUint32(bad[at+8:], wrong)
			if got, err := readAll(t, "t.arrow", bad); err == nil && got == sound {
				continue // these were no offsets
			} else if err == nil && wrong != 3 {
				t.Errorf("an offset of %d is read", wrong)
			}
		}
	}
	if found == 0 {
		t.Error("the test finds no offsets")
	}
}
