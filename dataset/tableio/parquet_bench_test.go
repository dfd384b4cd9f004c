//go:build unix

package tableio

import (
	"context"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

type iowaSale struct {
	Year    int32  `parquet:"year,optional,dict,snappy"`
	Month   int32  `parquet:"month,optional,dict,snappy"`
	Store   string `parquet:"store,optional,dict,snappy"`
	Item    string `parquet:"item,optional,dict,snappy"`
	Bottles int32  `parquet:"bottles,optional,dict,snappy"`
}

type iowaPlainSale struct {
	Year    int32  `parquet:"year"`
	Month   int32  `parquet:"month"`
	Store   int32  `parquet:"store"`
	Item    string `parquet:"item"`
	Bottles int32  `parquet:"bottles"`
}

// iowaParquet writes the table of plainIowa in two ways: as most programs do (one
// dictionary per column, snappy, nulls allowed), and as plain values.
func iowaParquet(tb testing.TB, csv string) (usual, plain string) {
	tb.Helper()
	f, err := ReadFrame(context.Background(), Files(csv), Format{})
	if err != nil {
		tb.Fatal(err)
	}
	column := func(name string) []string {
		c, err := f.Find(name)
		if err != nil {
			tb.Fatal(err)
		}
		return f.Columns[c]
	}
	number := func(text string) int32 {
		v, err := strconv.Atoi(text)
		if err != nil {
			tb.Fatal(err)
		}
		return int32(v)
	}
	years, months, stores, items, bottles := column("year"), column("month"), column("store"), column("item"), column("bottles")
	rows := make([]iowaSale, f.Len())
	plainRows := make([]iowaPlainSale, f.Len())
	for i := range rows {
		rows[i] = iowaSale{number(years[i]), number(months[i]), stores[i], items[i], number(bottles[i])}
		plainRows[i] = iowaPlainSale{number(years[i]), number(months[i]), number(stores[i]), items[i], number(bottles[i])}
	}
	dir := filepath.Dir(csv)
	usual, plain = filepath.Join(dir, "usual.parquet"), filepath.Join(dir, "plain.parquet")
	writeParquet(tb, usual, rows, 1<<20, parquet.PageBufferSize(1<<20))
	writeParquet(tb, plain, plainRows, 1<<20, parquet.PageBufferSize(1<<20))
	return usual, plain
}

// BenchmarkFormats compares the formats on the Iowa table. All give the same table.
func BenchmarkFormats(b *testing.B) {
	csv := plainIowa(b)
	usual, plain := iowaParquet(b, csv)
	want, err := Read(context.Background(), Files(csv), salesSchema, Format{}, 0)
	if err != nil {
		b.Fatal(err)
	}
	for _, tc := range []struct{ name, path string }{{"csv", csv}, {"parquet", usual}, {"parquet-plain", plain}} {
		b.Run(tc.name, func(b *testing.B) {
			rows, cpu, best := 0, cpuTime(), time.Duration(1<<62)
			for b.Loop() {
				start := time.Now()
				table, err := Read(context.Background(), Files(tc.path), salesSchema, Format{}, 0)
				if err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(start))
				if rows == 0 {
					sameTable(b, table, want)
				}
				rows += table.Counts.Rows
			}
			b.ReportMetric((cpuTime()-cpu).Seconds()*1e3/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(want.Counts.Rows)/best.Seconds()/1e6, "best-Mrows/s")
		})
	}
}

// cpuTime returns the CPU time of all threads of the process, which is more reliable
// than the clock on a busy machine.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
