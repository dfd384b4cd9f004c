package kft_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// randomSpec draws a specification of the table with a column part.
func randomSpec(random *rand.Rand) kft.Spec {
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	s := kft.Spec{Version: 1, Seed: random.Uint64N(1000), Split: "column:part"}
	s.Data = kft.DataSpec{Target: "units", Modes: []string{"store", "item", "time=year+month"}}
	s.Terms = [][]string{{"store,item,time:3"}, {"store*item,time:2"}, {"item", "store,time:2"}, {"store,item:2", "time"}}[random.IntN(4)]
	s.Transform = pick("log1p", "identity", "sqrt")
	s.Fit.Sweeps, s.Fit.Epochs = 3, 3
	s.Uncertainty.Conformal = pick("none", "split")
	switch s.Uncertainty.Inference = pick("map", "mean-field", "entity-covariance"); s.Uncertainty.Inference {
	case "map":
		s.Fit.Solver, s.Fit.Ridge, s.Fit.Lambda = pick("als", "adam"), pick("uniform", "frequency"), kft.LambdaOf(1)
	case "mean-field":
		s.Fit.Solver = pick("cavi", "adam")
	}
	s.Uncertainty.Noise = pick("constant", "entity:item", "power:store,store*item")
	return s
}

// A metamorphicTable is a CSV table in pieces.
type metamorphicTable struct {
	header string
	rows   []string
}

func (m metamorphicTable) text() string {
	return m.header + "\n" + strings.Join(m.rows, "\n") + "\n"
}

// newMetamorphicTable returns a table of sales with a part for each row.
func newMetamorphicTable(t *testing.T, rows int) metamorphicTable {
	parts := []string{"train", "train", "train", "valid", "test"}
	lines := linesOf(addColumn(readFile(t, testtable.WriteSales(t, rows)), "part", func(row int, _ string) string { return parts[row*7%5] }))
	return metamorphicTable{lines[0], lines[1:]}
}

// renamed returns the table with other names of stores and items, in the same order.
func (m metamorphicTable) renamed() metamorphicTable {
	ids := regexp.MustCompile(`,s(\d+),i(\d+),`)
	rows := make([]string, len(m.rows))
	for i, row := range m.rows {
		rows[i] = ids.ReplaceAllString(row, ",shop ${1},Ä${2}-${2},")
	}
	return metamorphicTable{m.header, rows}
}

// permuted returns the table with rows in another order, in which ids and pairs of
// ids appear for the first time in the same order, in all rows and in each part: start
// values belong to ids in this order.
func (m metamorphicTable) permuted(random *rand.Rand) metamorphicTable {
	first := map[string]int{}
	earliest := map[string]int{} // by row: the position before which it would be a first mention
	var free []int               // positions of rows without a first mention
	for i, row := range m.rows {
		fields := strings.Split(row, ",")
		part := fields[len(fields)-1]
		for _, id := range []string{fields[2], fields[3], fields[0] + "-" + fields[1], fields[2] + "*" + fields[3]} {
			for _, key := range []string{id, part + " " + id} {
				if _, seen := first[key]; !seen {
					first[key] = i
				}
				earliest[row] = max(earliest[row], first[key])
			}
		}
		if earliest[row] < i {
			free = append(free, i)
		}
	}
	rows := append([]string(nil), m.rows...)
	for range 10 * len(free) {
		i, j := free[random.IntN(len(free))], free[random.IntN(len(free))]
		if min(i, j) > max(earliest[rows[i]], earliest[rows[j]]) {
			rows[i], rows[j] = rows[j], rows[i]
		}
	}
	return metamorphicTable{m.header, rows}
}

// Changes of a table or a run that do not concern the model leave its results equal,
// for random specifications: the same bytes for threads and interruptions, the same
// predictions for files, formats and names, and up to rounding for the order of rows,
// in which sums are added. See docs/concepts/reproducibility.md.
func TestMetamorphic(t *testing.T) {
	t.Parallel()
	table := newMetamorphicTable(t, 1800)
	path := writeFile(t, "sales.csv", table.text())
	files := t.TempDir()
	converter, _ := fit(t, func() kft.Spec {
		s := randomSpec(rand.New(rand.NewPCG(1, 1)))
		s.Data.Files = []string{path}
		return s
	}(), kft.Options{})
	converted := map[string]string{}
	for _, name := range []string{"sales.parquet", "sales.arrow", "sales.csv.gz"} {
		to := filepath.Join(files, name)
		output, err := tableio.OutputFor(to)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(predictFile(t, converter, path, kft.TableOptions{Output: output})), 0o666); err != nil {
			t.Fatal(err)
		}
		converted[name] = to
	}
	half := len(table.rows) / 2
	split := []string{
		writeFile(t, "a.csv", metamorphicTable{table.header, table.rows[:half]}.text()),
		writeFile(t, "b.csv", metamorphicTable{table.header, table.rows[half:]}.text()),
	}
	renamed := writeFile(t, "renamed.csv", table.renamed().text())
	cells, renamedCells := metamorphicCells("s%d", "i%d"), metamorphicCells("shop %d", "Ä%[1]d-%[1]d")

	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 14))
		spec := randomSpec(random)
		name := fmt.Sprintf("seed %d, %v, %s, %s %s", seed, spec.Terms, spec.Transform, spec.Uncertainty.Inference, spec.Fit.Solver)
		spec.Data.Files = []string{path}
		m, _ := fit(t, spec, kft.Options{Threads: 1})
		want, file := predictCells(t, m, cells...), modelBytes(t, m)

		again, _ := fit(t, spec, kft.Options{Threads: 3})
		if !bytes.Equal(modelBytes(t, again), file) {
			t.Errorf("%s: 3 threads: got another file than with 1", name)
		}
		resumed, runs := fitWithInterruptions(t, spec, kft.Options{Threads: 1, Checkpoint: t.TempDir(), Resume: true}, 3+random.IntN(4))
		if !bytes.Equal(modelBytes(t, resumed), file) {
			t.Errorf("%s: %d runs: got another file than without interruption", name, runs)
		}
		for change, source := range map[string][]string{"two files": split, "Parquet": {converted["sales.parquet"]}, "Arrow": {converted["sales.arrow"]}, "gzip": {converted["sales.csv.gz"]}} {
			spec.Data.Files = source
			other, _ := fit(t, spec, kft.Options{Threads: 1})
			expectPredictions(t, name+": "+change, predictCells(t, other, cells...), want, 0)
		}
		spec.Data.Files = []string{renamed}
		other, _ := fit(t, spec, kft.Options{Threads: 1})
		expectPredictions(t, name+": renamed ids", predictCells(t, other, renamedCells...), want, 0)

		if spec.Fit.Solver == "adam" {
			continue // minibatches are drawn by the position of rows
		}
		spec.Uncertainty.Conformal = "none" // likewise the half of the validation set that split uses
		spec.Data.Files = []string{path}
		m, _ = fit(t, spec, kft.Options{Threads: 1})
		want = predictCells(t, m, cells...)
		spec.Data.Files = []string{writeFile(t, "permuted.csv", table.permuted(random).text())}
		other, _ = fit(t, spec, kft.Options{Threads: 1})
		expectPredictions(t, name+": other order of rows", predictCells(t, other, cells...), want, 1e-4)
	}
}

// metamorphicCells returns cells whose ids are made by formats of the numbers.
func metamorphicCells(store, item string) []kft.Cell {
	var cells []kft.Cell
	for k := range 12 {
		s, i := k%7, k*5%30
		cells = append(cells, kft.Cell{"store": fmt.Sprintf(store, s), "item": fmt.Sprintf(item, i), "time": fmt.Sprintf("%d-%d", 2015+k%2, 1+k%6)})
	}
	return cells
}

// expectPredictions compares means and medians up to a relative tolerance.
func expectPredictions(t *testing.T, name string, got, want []kft.Prediction, tolerance float64) {
	t.Helper()
	for i := range want {
		for _, pair := range [][2]float64{{got[i].Mean, want[i].Mean}, {got[i].Median, want[i].Median}} {
			if math.Abs(pair[0]-pair[1]) > tolerance*math.Abs(pair[1]) {
				t.Errorf("%s: cell %d: got %v, want %v", name, i, pair[0], pair[1])
				return
			}
		}
	}
}
