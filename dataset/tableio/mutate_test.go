package tableio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/columnar"
)

// formatSeeds returns the stored tables and larger ones in a format, "arrow" or
// "parquet", always in the same order.
func formatSeeds(tb testing.TB, format string) [][]byte {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(storedTables, "*."+format))
	if err != nil || len(paths) < 4 {
		tb.Fatalf("stored tables: %v, %v", paths, err)
	}
	var seeds [][]byte
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		seeds = append(seeds, file)
	}
	return append(seeds, writtenTable(tb, format))
}

// writtenTable returns a table as kft writes it, in one row group or record batch.
func writtenTable(tb testing.TB, format string) []byte {
	tb.Helper()
	const n = 1500
	var out bytes.Buffer
	open := columnar.NewArrowWriter
	if format == "parquet" {
		open = columnar.NewParquetWriter
	}
	w, err := open(&out, []string{"string", "category", "double", "int32"}, []columnar.Kind{{}, {}, {Type: columnar.Float32}, {}})
	if err != nil {
		tb.Fatal(err)
	}
	text := func(prefix string, mod int) columnar.Segment {
		return columnar.Texts(n, func(i int) []byte { return fmt.Append(nil, prefix, i*i%mod) })
	}
	numbers := make([]float32, n)
	for i := range numbers {
		numbers[i] = float32(i*i%501) / 4
	}
	if err := w.Write([]columnar.Segment{text("store ", 83), text("c", 9), columnar.Numbers(numbers), text("", 1200)}, n); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// interesting are numbers that sizes and counts must not be.
var interesting = []uint64{0, 1, 7, 255, 1 << 15, 1<<16 - 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 33, 1 << 40, 1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - 1, 1<<64 - 8}

// mutated returns a damaged copy of one of the seeds. It is determined by the number.
func mutated(seeds [][]byte, number int) []byte {
	r := rand.New(rand.NewPCG(uint64(number), 77))
	seed := seeds[number%len(seeds)]
	file := slices.Clone(seed)
	// Half of the places are in the last part, where the metadata are.
	place := func(room int) int {
		n := len(file) - room
		if n <= 1 {
			return 0
		}
		if r.IntN(2) == 0 {
			return n - 1 - r.IntN(min(n, 1+n/3))
		}
		return r.IntN(n)
	}
	for range 1 + r.IntN(3) {
		if len(file) < 32 {
			break
		}
		switch kind := r.IntN(14); kind {
		case 0, 1, 2, 3:
			file[place(0)] ^= 1 << r.IntN(8)
		case 4:
			file[place(0)] = byte(r.Uint32())
		case 5:
			file[place(0)] = []byte{0, 0xff, 0x7f, 0x80, 1}[r.IntN(5)]
		case 6, 7:
			binary.LittleEndian.PutUint32(file[place(4):], uint32(interesting[r.IntN(len(interesting))]))
		case 8:
			binary.LittleEndian.PutUint64(file[place(8):], interesting[r.IntN(len(interesting))])
		case 9: // a number as Thrift writes it
			number := binary.AppendUvarint(nil, interesting[r.IntN(len(interesting))])
			copy(file[place(len(number)):], number)
		case 10:
			file = file[:len(file)-1-r.IntN(len(file)/2)]
		case 11: // a part is lost or doubled
			from := place(8)
			to := min(len(file), from+1+r.IntN(64))
			if r.IntN(2) == 0 {
				file = slices.Delete(file, from, to)
			} else {
				file = slices.Insert(file, from, slices.Clone(file[from:to])...)
			}
		case 12:
			from := place(16)
			clear(file[from:min(len(file), from+1+r.IntN(100))])
		case 13: // a part of another table
			other := seeds[r.IntN(len(seeds))]
			from := place(16)
			copy(file[from:min(len(file), from+1+r.IntN(200))], other[r.IntN(len(other)):])
		}
	}
	if r.IntN(10) > 0 { // else it may be taken for text
		copy(file, seed[:8])
		if r.IntN(3) > 0 {
			copy(file[max(0, len(file)-4):], seed[len(seed)-4:])
		}
	}
	return file
}
