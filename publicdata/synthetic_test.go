package publicdata

import (
	"context"
	"math"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

func makeSynthetic(t *testing.T, o Synthetic) (map[string]string, *Report) {
	t.Helper()
	dir := t.TempDir()
	report, err := o.Write(context.Background(), Folder{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range files(t, dir) {
		texts[name] = read(t, filepath.Join(dir, name))
	}
	return texts, report
}

func table(t *testing.T, text string) (header []string, rows [][]string) {
	t.Helper()
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), ",")
		if header == nil {
			header = fields
			continue
		}
		if len(fields) != len(header) {
			t.Fatalf("got %d fields, want %d: %s", len(fields), len(header), line)
		}
		rows = append(rows, fields)
	}
	return header, rows
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Data sets have the requested rows and ids, no duplicate cells, and a truth whose
// mean, standard deviation and quantiles match the values.
func TestSyntheticSizesAndTruth(t *testing.T) {
	for _, c := range []struct {
		shape, file     string
		rows            int
		ids             []int // columns of the ids
		owners, items   int
		ownerAt, itemAt int
		least, most     float64 // bounds for the R2 of the truth
	}{
		{"alcohol", "sales_2015_2016.csv.gz", 40_000, []int{0, 1, 2, 3}, 173, 524, 2, 3, 0.5, 0.75},
		{"retail", "sales.csv.gz", 60_000, []int{0, 1, 2, 3}, 20, 2619, 2, 3, 0.55, 0.8},
		{"movielens", "ratings.csv.gz", 60_000, []int{0, 1}, 9842, 737, 0, 1, 0.45, 0.55},
	} {
		t.Run(c.shape, func(t *testing.T) {
			texts, report := makeSynthetic(t, Synthetic{Shape: c.shape, Rows: c.rows, Seed: 3})
			header, rows := table(t, texts[c.file])
			_, truth := table(t, texts[truthFile])
			if len(rows) != c.rows || len(truth) != c.rows {
				t.Fatalf("got %d rows and %d rows of truth", len(rows), len(truth))
			}
			target := len(header) - 1
			if c.shape == "movielens" {
				target = 2
			}
			cells, owners, items := map[string]bool{}, map[string]bool{}, map[string]bool{}
			var y, squares, left, z2 float64
			inside := 0
			for i, row := range rows {
				var key strings.Builder
				for _, k := range c.ids {
					key.WriteString(row[k] + ",")
				}
				cells[key.String()] = true
				owners[row[c.ownerAt]], items[row[c.itemAt]] = true, true
				v, mean := number(t, row[target]), number(t, truth[i][0])
				y += v
				squares += v * v
				left += (v - mean) * (v - mean)
				z := (v - mean) / number(t, truth[i][1])
				z2 += z * z
				if low, high := number(t, truth[i][2]), number(t, truth[i][4]); v >= low && v <= high {
					inside++
				}
			}
			n := float64(c.rows)
			if len(cells) != c.rows || len(owners) != c.owners || len(items) != c.items {
				t.Errorf("got %d cells, %d owners, %d items", len(cells), len(owners), len(items))
			}
			if r := 1 - left/(squares-y*y/n); r < c.least || r > c.most {
				t.Errorf("R2 of the truth: got %.4f", r)
			} else if _, text, _ := strings.Cut(report.Facts[0], "R2 "); len(text) < 6 || math.Abs(number(t, text[:6])-r) > 0.002 {
				t.Errorf("R2 of the truth: got %.4f, but the report has %s", r, report.Facts[0])
			}
			if spread := z2 / n; math.Abs(spread-1) > 0.05 {
				t.Errorf("ratio of the residual variance to the stated one: got %.3f", spread)
			}
			// Values are integers, so the 90 % intervals contain 90 % or more.
			if share := float64(inside) / n; share < 0.90 || share > 0.98 {
				t.Errorf("share of values within the interval: got %.3f", share)
			}
		})
	}
}

func TestSyntheticDoesNotDependOnThreads(t *testing.T) {
	for _, shape := range synthetic.ShapeNames() {
		one, _ := makeSynthetic(t, Synthetic{Shape: shape, Scale: 0.001, Seed: 2, Threads: 1})
		three, _ := makeSynthetic(t, Synthetic{Shape: shape, Scale: 0.001, Seed: 2, Threads: 3})
		other, _ := makeSynthetic(t, Synthetic{Shape: shape, Scale: 0.001, Seed: 3, Threads: 3})
		if !reflect.DeepEqual(one, three) {
			t.Errorf("%s: the files depend on the number of threads", shape)
		}
		for name := range one {
			if same := one[name] == other[name]; same != (name == specFile) {
				t.Errorf("%s: %s equal for a different seed: got %v", shape, name, same)
			}
		}
	}
}

func TestGenomeSize(t *testing.T) {
	texts, _ := makeSynthetic(t, Synthetic{Shape: "movielens", Rows: 20_000, Seed: 1})
	header, rows := table(t, texts["genome.csv.gz"])
	if len(header) != 1129 || len(rows) != 425 {
		t.Errorf("got %d columns and %d movies", len(header), len(rows))
	}
	for _, text := range rows[0][1:] {
		if v := number(t, text); v < 0 || v > 1 {
			t.Errorf("got relevance %s", text)
		}
	}
}

func TestSyntheticErrors(t *testing.T) {
	for want, o := range map[string]Synthetic{
		`unknown shape "beer"; use alcohol, movielens, retail`: {Shape: "beer"},
		"5 rows are too few for the shape alcohol":             {Shape: "alcohol", Rows: 5},
		"3000000000 rows exceed the maximum of 2000000000":     {Shape: "retail", Rows: 3_000_000_000},
	} {
		if _, err := o.Write(context.Background(), Folder{Path: t.TempDir()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	dir := t.TempDir()
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := (Synthetic{Shape: "alcohol", Scale: 0.001}).Write(stopped, Folder{Path: dir}); err != context.Canceled || len(files(t, dir)) > 0 {
		t.Errorf("interrupted: got error %v and files %q", err, files(t, dir))
	}
}

func TestFixedNumbers(t *testing.T) {
	for _, c := range []struct {
		v      float64
		digits int
		want   string
	}{{0, 4, "0.0000"}, {0.00005, 4, "0.0001"}, {12.34564, 4, "12.3456"}, {9.99996, 4, "10.0000"}, {3.5, 1, "3.5"}, {123456, 1, "123456.0"}} {
		if got := string(appendFixed(nil, c.v, c.digits)); got != c.want {
			t.Errorf("%g: got %s, want %s", c.v, got, c.want)
		}
	}
}
