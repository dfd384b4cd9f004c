package tableio

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/columnar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// observation is a row of a random table. A missing value is NaN.
type observation struct {
	store, item string
	value       float32
}

// randomRows returns rows with missing values, repeated cells, and ids of all kinds. The
// values are small multiples of 1/4, whose sums do not depend on their order.
func randomRows(r *rand.Rand) []observation {
	ids := func(n int) []string {
		kinds := []func(i int) string{
			func(i int) string { return strconv.Itoa(i) },
			func(i int) string { return fmt.Sprintf("%03d", i) },
			func(i int) string { return fmt.Sprint("a long identifier, with a comma ", i) },
			func(i int) string { return fmt.Sprintf("é\"%d\"", i) },
		}
		kind := kinds[r.IntN(len(kinds))]
		all := make([]string, n)
		for i := range all {
			all[i] = kind(i)
		}
		return all
	}
	stores, items := ids(1+r.IntN(50)), ids(1+r.IntN(400))
	rows := make([]observation, 1+r.IntN(3000))
	for i := range rows {
		rows[i] = observation{stores[r.IntN(len(stores))], items[r.IntN(len(items))], float32(r.IntN(4000)-2000) / 4}
		if i > 0 && r.IntN(9) == 0 {
			rows[i].value = float32(math.NaN())
		}
	}
	return rows
}

// encode writes rows in a format: csv, tsv, csv.gz, parquet or arrow.
func encodeRows(t *testing.T, rows []observation, format string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t."+format)
	var out bytes.Buffer
	switch format {
	case "parquet", "arrow":
		open := columnar.NewArrowWriter
		if format == "parquet" {
			open = columnar.NewParquetWriter
		}
		w, err := open(&out, []string{"item", "value", "store"}, []columnar.Kind{{}, {Type: columnar.Float32}, {}})
		if err != nil {
			t.Fatal(err)
		}
		for part := range slices.Chunk(rows, 700) {
			values := make([]float32, len(part))
			for i := range part {
				values[i] = part[i].value
			}
			columns := []columnar.Segment{
				columnar.Texts(len(part), func(i int) []byte { return []byte(part[i].item) }),
				columnar.Numbers(values),
				columnar.Texts(len(part), func(i int) []byte { return []byte(part[i].store) }),
			}
			if err := w.Write(columns, len(part)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return datasettest.WriteFile(t, path, out.String())
	}
	delimiter := ","
	if format == "tsv" {
		delimiter = "\t"
	}
	quoted := func(id string) string { return `"` + strings.ReplaceAll(id, `"`, `""`) + `"` }
	out.WriteString(strings.Join([]string{"store", "value", "item"}, delimiter) + "\n")
	for _, row := range rows {
		value := ""
		if row.value == row.value {
			value = strconv.FormatFloat(float64(row.value), 'g', -1, 32)
		}
		out.WriteString(strings.Join([]string{quoted(row.store), value, quoted(row.item)}, delimiter) + "\n")
	}
	if format == "csv.gz" {
		datasettest.WriteGzip(t, path, out.String())
		return path
	}
	return datasettest.WriteFile(t, path, out.String())
}

// readCells reads files and returns their cells, sorted, and the counts.
func readCells(t *testing.T, threads int, paths ...string) ([]string, dataset.Counts) {
	t.Helper()
	schema := dataset.Schema{Target: "value", Modes: datasettest.Modes(t, "store,item"), Duplicates: "sum"}
	table, err := Read(context.Background(), Files(paths...), schema, Format{}, threads)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, table.Len())
	for k := range all {
		all[k] = fmt.Sprintf("%s | %s | %g", table.Dicts[0].ID(table.Codes[0][k]), table.Dicts[1].ID(table.Codes[1][k]), table.Y[k])
	}
	slices.Sort(all)
	return all, table.Counts
}

// TestSameTable checks that the order of rows, the names of ids, the split into files,
// the format and the number of threads do not change what a table is.
func TestSameTable(t *testing.T) {
	t.Parallel()
	formats := []string{"csv", "tsv", "csv.gz", "parquet", "arrow"}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 5))
		rows := randomRows(r)
		want, counts := readCells(t, 1, encodeRows(t, rows, "csv"))
		check := func(what string, got []string, gotCounts dataset.Counts) {
			t.Helper()
			if gotCounts != counts {
				t.Fatalf("table %d, %s: got counts %+v, want %+v", seed, what, gotCounts, counts)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("table %d, %s: the cells differ", seed, what)
			}
		}
		for _, format := range formats {
			path := encodeRows(t, rows, format)
			for _, threads := range []int{1, 2, 5} {
				got, c := readCells(t, threads, path)
				check(fmt.Sprintf("%s, %d threads", format, threads), got, c)
			}
		}
		shuffled := slices.Clone(rows)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		got, c := readCells(t, 2, encodeRows(t, shuffled, formats[r.IntN(len(formats))]))
		check("other order", got, c)

		var paths []string
		for part := range slices.Chunk(shuffled, 1+len(shuffled)/3) {
			if !slices.ContainsFunc(part, func(o observation) bool { return o.value == o.value }) {
				continue // a file without any value would only change the counts
			}
			paths = append(paths, encodeRows(t, part, formats[r.IntN(len(formats))]))
		}
		if got, c = readCells(t, 3, paths...); c.Rows == counts.Rows {
			check("several files", got, c)
		}

		renamed := slices.Clone(shuffled)
		for i := range renamed {
			renamed[i].store = "new " + renamed[i].store
		}
		got, c = readCells(t, 2, encodeRows(t, renamed, formats[r.IntN(len(formats))]))
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], "new ")
		}
		slices.Sort(got)
		check("other names", got, c)
	}
}
