package history

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/covariate"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// sales is a table of two series: a sells in months 1, 2, 4 and 6, b in 3 and 5. The
// values are 1, 2, 4, 6 and 30, 50. The modes are item and month, and those given.
func sales(t testing.TB, computed ...string) *dataset.Table {
	t.Helper()
	table := &dataset.Table{Dicts: []*dataset.Dict{dataset.NewDict([]string{"a", "b"}), dataset.NewDict([]string{"2020-01", "2020-02", "2020-04", "2020-06", "2020-03", "2020-05"})},
		Codes: [][]int32{{0, 0, 0, 0, 1, 1}, {0, 1, 2, 3, 4, 5}}, Y: []float32{1, 2, 4, 6, 30, 50}}
	for _, text := range append([]string{"item", "month"}, computed...) {
		m, err := dataset.ParseMode(text)
		if err != nil {
			t.Fatal(err)
		}
		table.Modes = append(table.Modes, m)
	}
	return table
}

// until returns the rows of the first months.
func until(table *dataset.Table, month string) func(k int) bool {
	return func(k int) bool { return table.Dicts[1].ID(table.Codes[1][k]) <= month }
}

// value returns a covariate of an item and a month.
func value(h *History, m dataset.Mode, item int32, month string) float64 {
	return h.Value(m, func(mode int) int32 {
		if mode == 0 {
			return item
		}
		return int32(slices.Index([]string{"2020-01", "2020-02", "2020-04", "2020-06", "2020-03", "2020-05"}, month))
	}, func(int) string { return month })
}

func TestLagValues(t *testing.T) {
	t.Parallel()
	nan, none := math.NaN(), covariate.NoRow
	for _, c := range []struct {
		mode  string
		item  int32
		month string
		zero  bool
		want  float64
	}{
		{"lag(1)", 0, "2020-02", false, 1},
		{"lag(1)", 0, "2020-03", false, 2},
		{"lag(1)", 0, "2020-04", false, none}, // no row in month 3
		{"lag(1)", 0, "2020-04", true, 0},
		{"lag(1)", 1, "2020-02", true, none}, // before the first row of b
		{"lag(1)", 0, "2020-01", false, nan}, // before the table
		{"lag(2)", 0, "2020-06", false, 4},
		{"lag(1)", 0, "2020-06", false, nan}, // after the last training period, month 4
		{"lag(1)", 0, "2020-06", true, nan},
		{"lag(1)", 0, "2020-05", false, 4},
		{"lag(12)", 0, "2021-01", false, 1}, // a period that the table does not have
		{"lag(12)", 0, "2021-01-15", false, nan},
		{"lag(1)", 7, "2020-02", false, none}, // an unknown item
		{"periods(item)", 0, "2020-06", false, 3},
		{"periods(item)", 1, "2020-06", false, 1},
		{"periods(item)", -1, "2020-06", false, 0},
	} {
		table := sales(t, c.mode)
		h, err := New(table, until(table, "2020-04"), Options{Zero: c.zero})
		if err != nil {
			t.Fatal(err)
		}
		if got := value(h, table.Modes[2], c.item, c.month); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s of item %d in %s, zero %v: got %v, want %v", c.mode, c.item, c.month, c.zero, got, c.want)
		}
	}
}

// TestRandomParts checks that a cell whose row may be in another part is missing.
func TestRandomParts(t *testing.T) {
	t.Parallel()
	table := sales(t, "lag(1)")
	h, err := New(table, func(k int) bool { return k != 1 }, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := value(h, table.Modes[2], 0, "2020-03"); !math.IsNaN(got) {
		t.Errorf("lag of a row of another part: %v", got)
	}
}

func TestSamePeriod(t *testing.T) {
	t.Parallel()
	table := sales(t, "lag(1)")
	table.Dicts[1] = dataset.NewDict([]string{"2020-01", "2020-1", "2020-04", "2020-06", "2020-03", "2020-05"})
	_, err := New(table, func(int) bool { return true }, Options{Source: "s.csv"})
	if err == nil || !strings.Contains(err.Error(), "s.csv: data rows 1 and 2: the cells item=a,month=2020-01 and item=a,month=2020-1") {
		t.Errorf("got %v", err)
	}
}

func TestGaps(t *testing.T) {
	t.Parallel()
	table := sales(t)
	trained := until(table, "2020-05")
	time, gaps, err := Gaps(table, Life{trained, trained}, func(n int) error { return nil })
	// Item a has no row in months 3 and 5, item b none in 4. Month 6 is not a training period.
	want := []Gap{{Before: 1, Time: 4}, {Before: 2, Time: 5}, {Before: 4, Time: 2}}
	if err != nil || time != 1 || !slices.Equal(gaps, want) {
		t.Errorf("got %v %v %v, want %v", time, gaps, err, want)
	}
	// Where month 6 counts, item b, which has its first row in month 3, has no row in it.
	_, longer, err := Gaps(table, Life{trained, func(int) bool { return true }}, func(n int) error { return nil })
	if last := longer[len(longer)-1]; err != nil || len(longer) != len(want)+1 || table.Dicts[1].ID(last.Time) != "2020-06" {
		t.Errorf("got %v %v, want one more than %v, in month 6", longer, err, want)
	}
	full := errors.New("too many")
	if _, _, err := Gaps(table, Life{trained, trained}, func(n int) error {
		if n != len(want) {
			t.Errorf("%d gaps", n)
		}
		return full
	}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

// TestFile checks that a history is restored from its tensors, and that tensors that
// contradict each other are refused.
func TestFile(t *testing.T) {
	t.Parallel()
	table := sales(t, "lag(1)", "periods(item)")
	table.Dicts = append(table.Dicts, nil, nil)
	h, err := New(table, until(table, "2020-05"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	restored, err := Read(&modelfile.File{Tensors: h.Tensors()}, table.Modes, table.Dicts, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, month := range []string{"2020-02", "2020-03", "2020-04", "2020-06"} {
		for _, m := range table.Modes[2:] {
			for item := range int32(2) {
				a, b := value(h, m, item, month), value(restored, m, item, month)
				if a != b && !(math.IsNaN(a) && math.IsNaN(b)) {
					t.Errorf("%s of %d in %s: %v, restored %v", m.Name, item, month, a, b)
				}
			}
		}
	}
	for _, c := range []struct {
		name   string
		values any
	}{
		{"series", []int32{0, 2}}, {"series", []int32{0, -1}}, {"series", []int32{0, 0}}, {"series", []int32{0}},
		{"length", []int32{3, 3}}, {"length", []int32{0, 5}}, {"length", []int32{-1, 6}}, {"length", []int32{1 << 30, 1 << 30}},
		{"time", []int32{0, 2, 1, 4, 5}}, {"time", []int32{0, 0, 2, 4, 5}}, {"time", []int32{0, 1, 2, 4, 6}}, {"time", []int32{0, 1, 2, 4}},
		{"value", []float32{1, 2}}, {"full", []uint8{}},
	} {
		f := &modelfile.File{}
		for _, tensor := range h.Tensors() {
			if tensor.Name == "history/"+c.name {
				switch v := c.values.(type) {
				case []int32:
					tensor = modelfile.NewTensor(tensor.Name, v, len(v))
				case []float32:
					tensor = modelfile.NewTensor(tensor.Name, v, len(v))
				case []uint8:
					tensor = modelfile.NewTensor(tensor.Name, v, len(v))
				}
			}
			f.Tensors = append(f.Tensors, tensor)
		}
		if _, err := Read(f, table.Modes, table.Dicts, false); err == nil {
			t.Errorf("%s %v was read", c.name, c.values)
		}
	}
	if _, err := Read(&modelfile.File{}, table.Modes, table.Dicts, false); err == nil {
		t.Error("a file without a history was read")
	}
	wrong := []dataset.Mode{table.Modes[2], table.Modes[0], table.Modes[1]}
	if _, err := Read(&modelfile.File{Tensors: h.Tensors()}, wrong, table.Dicts, false); err == nil {
		t.Error("modes in the wrong order were read")
	}
}

func TestEncoder(t *testing.T) {
	t.Parallel()
	table := sales(t, "number(price)", "level(promo)", "lag(1)")
	table.Dicts = append(table.Dicts, dataset.NewDict([]string{"1", "2", "4"}), dataset.NewDict([]string{"yes", "NA"}), dataset.NewDict([]string{"1", "30", "none", "NA"}))
	h, err := New(table, until(table, "2020-05"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := NewEncoder(table.Modes, table.Dicts, h, dataset.NumberFormat{})
	fields := [][]string{{"a", "b"}, {"2020-02", "2020-04"}, {"3.0", "2.0"}, {"", "new"}}
	id := func(mode, row int) string { return fields[mode][row] }
	codes, ids, wrong := e.Encode([][]int32{{0, 1}, {1, 2}, {-1, -1}, {-1, -1}}, id)
	if wrong != nil {
		t.Fatal(wrong)
	}
	want := [][]int32{{0, 1}, {1, 2}, {-1, 1}, {1, -1}, {0, 1}}
	for m := range want {
		if !slices.Equal(codes[m], want[m]) {
			t.Errorf("codes of %s: got %v, want %v", table.Modes[m].Name, codes[m], want[m])
		}
	}
	if ids(2, 0) != "3" || ids(3, 0) != "NA" || ids(3, 1) != "new" || ids(4, 1) != "30" || ids(1, 1) != "2020-04" {
		t.Errorf("ids are %s %s %s %s", ids(2, 0), ids(3, 0), ids(3, 1), ids(4, 1))
	}
	if !e.Within(2, "3") || e.Within(2, "5") || e.Within(2, "NA") || e.Within(0, "3") {
		t.Error("range of the numbers")
	}
	fields[2][1] = "dear"
	if _, _, wrong = e.Encode([][]int32{{0, 1}, {1, 2}, {-1, -1}, {-1, -1}}, id); wrong == nil || wrong.Row != 1 || wrong.Mode != "price" {
		t.Errorf("got %v", wrong)
	}
	if columns := e.Columns(); len(columns) != 4 {
		t.Errorf("%d columns", len(columns))
	}
}
