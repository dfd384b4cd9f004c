package bench

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// read measures reading a table to codes relative to encoding/csv, which only
// splits the file into fields.
func (r *run) read() error {
	file := filepath.Join(r.folder, "sales.csv")
	if err := os.WriteFile(file, r.sales.text, 0o600); err != nil {
		return err
	}
	schema, err := r.sales.schema()
	if err != nil {
		return err
	}
	size := float64(len(r.sales.text))
	candidates := []candidate{timed(size, func() error { return splitCSV(file) })}
	for _, threads := range r.threads {
		candidates = append(candidates, timed(size, func() error {
			_, err := tableio.Read(r.ctx, tableio.Files(file), schema, tableio.Format{}, threads)
			return err
		}))
	}
	best, err := r.alternate(candidates...)
	if err != nil {
		return err
	}
	for i, threads := range r.threads {
		m := Measure{Name: "CSV to codes, " + onThreads(threads), Value: best[i+1] / 1e6, Unit: "MB/s", Ratio: best[i+1] / best[0], RatioOf: "encoding/csv"}
		if threads > 1 {
			m.Target = atLeast(6)
		}
		r.add(m)
	}
	return nil
}

// splitCSV reads all records of a file in the fastest mode of encoding/csv.
func splitCSV(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	records := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
	records.ReuseRecord = true
	for {
		if _, err := records.Read(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
