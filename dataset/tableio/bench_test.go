package tableio

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// BenchmarkRead reads the plain Iowa table on two threads and, in the same run,
// with encoding/csv (fields only); x_csv is the ratio of the best times.
func BenchmarkRead(b *testing.B) {
	path := plainIowa(b)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	oracle, own := time.Duration(1<<62), time.Duration(1<<62)
	for range 3 {
		start := time.Now()
		readWithCSV(b, path)
		oracle = min(oracle, time.Since(start))
	}
	for b.Loop() {
		start := time.Now()
		if _, err := Read(context.Background(), Files(path), salesSchema, Format{}, 2); err != nil {
			b.Fatal(err)
		}
		own = min(own, time.Since(start))
	}
	megabytes := float64(info.Size()) / 1e6
	b.ReportMetric(megabytes/own.Seconds(), "MB/s")
	b.ReportMetric(megabytes/oracle.Seconds(), "csv-MB/s")
	b.ReportMetric(oracle.Seconds()/own.Seconds(), "x_csv")
}

func readWithCSV(tb testing.TB, path string) {
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	for {
		if _, err := r.Read(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkReadGzip reads the compressed file.
func BenchmarkReadGzip(b *testing.B) {
	path := datasettest.DevelopmentFile("iowa-liquor/sales_2015_2016.csv.gz")
	if path == "" {
		path = filepath.Join(b.TempDir(), "sales.csv.gz")
		datasettest.WriteGzip(b, path, string(datasettest.SalesText(300_000, 1)))
	}
	for b.Loop() {
		if _, err := Read(context.Background(), Files(path), salesSchema, Format{}, 2); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRewrite copies the Iowa table with an additional column.
func BenchmarkRewrite(b *testing.B) {
	path := plainIowa(b)
	table, err := Read(context.Background(), Files(path), salesSchema, Format{}, 2)
	if err != nil {
		b.Fatal(err)
	}
	best := time.Duration(math.MaxInt64)
	for b.Loop() {
		start := time.Now()
		err := rewriteFile(path, salesSchema, table.Dicts, 2, io.Discard, addColumns, func(batch *Batch, dst []byte) ([]byte, error) {
			dst = slices.Grow(dst, 32*batch.Len())
			for i := range batch.Len() {
				dst = append(dst, batch.line(i)...)
				dst = append(dst, ",0.5\n"...)
			}
			return dst, nil
		})
		if err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(table.Len())/best.Seconds()/1e6, "Mrows/s")
}
