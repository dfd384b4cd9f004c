package covariate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// fewValues is the number of different numbers up to which a covariate whose kind is open
// has levels: the values of a flag or of a rating need no curve.
const fewValues = 12

// Encode replaces the ids of the covariates of a table, which are fields as they were
// read, by levels and bins, and decides which of the two an open covariate has. source
// names the table in messages. It changes the modes, dictionaries and codes of the
// covariates, in new slices.
func Encode(t *dataset.Table, source string, format dataset.NumberFormat) error {
	t.Modes, t.Dicts, t.Codes = slices.Clone(t.Modes), slices.Clone(t.Dicts), slices.Clone(t.Codes)
	for m, mode := range t.Modes {
		if !mode.Covariate() || mode.Computed() {
			continue
		}
		codes := t.Codes[m]
		values, wrong := numbers(t.Dicts[m].IDs(), format)
		different := distinct(values)
		if mode.Open() {
			mode = mode.Decided(wrong < 0 && different > fewValues)
			t.Modes[m] = mode
		}
		switch {
		case !mode.Numeric():
			joinMissing(t, m)
		case wrong >= 0:
			return notNumber(t, m, int32(wrong), source)
		default:
			if err := checkPercents(t, m, values, source); err != nil {
				return err
			}
			SetNumbers(t, m, values)
			keepNumbers(t, m, codes, values)
		}
		if t.Dicts[m].Len() == 1 {
			if mode.Numeric() && different > 1 {
				return fielderr.Errorf("data.modes", "the numbers of the covariate %s differ by so little that all are %s in single precision; subtract their mean, change their unit, or remove it", mode.Name, t.Dicts[m].ID(0))
			}
			return fielderr.Errorf("data.covariates", "the covariate %s has only one value, %q, so it carries no information; remove it", mode.Name, t.Dicts[m].ID(0))
		}
	}
	return nil
}

// exactRows is the number of rows up to which a table keeps the numbers that bins join: 4 bytes for each row and covariate. With more rows
// points are formed by the centres of bins.
const exactRows = 100_000

// keepNumbers notes the numbers of a covariate whose bins join several, given the number of each code that it had before.
func keepNumbers(t *dataset.Table, m int, codes []int32, values []float64) {
	if t.Len() > exactRows || distinct(values) <= t.Dicts[m].Len() {
		return
	}
	if t.Numbers == nil {
		t.Numbers = make([][]float32, len(t.Modes))
	}
	t.Numbers[m] = make([]float32, len(codes))
	for k, code := range codes {
		t.Numbers[m][k] = float32(values[code])
	}
}

// numbers reads ids as numbers, NaN if they are missing. It returns the code of the first
// that is neither, or -1.
func numbers(ids []string, format dataset.NumberFormat) (values []float64, wrong int) {
	values, wrong = make([]float64, len(ids)), -1
	for code, id := range ids {
		v, ok := Value(id, format)
		if values[code] = v; !ok && wrong < 0 {
			wrong = code
		}
	}
	return values, wrong
}

func distinct(values []float64) int {
	present := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(present)
	return len(slices.Compact(present))
}

// checkPercents returns an error if some numbers have a percent sign and others, but for 0, have
// none, because their unit is unknown then.
func checkPercents(t *dataset.Table, m int, values []float64, source string) error {
	ids, with, without := t.Dicts[m].IDs(), -1, -1 // observations
	for k, code := range t.Codes[m] {
		switch percent := strings.HasSuffix(ids[code], "%"); {
		case percent && with < 0:
			with = k
		case !percent && without < 0 && values[code] != 0 && !math.IsNaN(values[code]):
			without = k
		}
		if with >= 0 && without >= 0 {
			value := func(k int) string { return fmt.Sprintf("%q in data row %d", ids[t.Codes[m][k]], t.SourceRow(k)+1) }
			return fielderr.Errorf("data.modes", "%s: column %s: some values have a percent sign, as %s, and others have none, as %s, so that their unit is unknown; write all of them with a percent sign or all without",
				source, t.Modes[m].Columns[0], value(with), value(without))
		}
	}
	return nil
}

// notNumber describes a value of a numeric covariate that is not a number.
func notNumber(t *dataset.Table, m int, code int32, source string) error {
	rows, first := 0, -1
	for k, c := range t.Codes[m] {
		if c == code {
			if rows++; first < 0 {
				first = t.SourceRow(k)
			}
		}
	}
	again := ""
	if rows > 1 {
		again = fmt.Sprintf(" (%s have it)", plural.Count(rows, "row"))
	}
	mode := t.Modes[m]
	return fielderr.Errorf("data.modes", "%s: data row %d, column %s: %q is not a finite number, which %s requires%s; correct it, leave it empty if the value is missing, or use level(%s)",
		source, first+1, mode.Columns[0], t.Dicts[m].ID(code), mode.Expression(), again, mode.Columns[0])
}

// joinMissing gives all spellings of a missing value one id.
func joinMissing(t *dataset.Table, m int) {
	var ids []string
	to, missing := make([]int32, t.Dicts[m].Len()), int32(-1)
	for code, id := range t.Dicts[m].IDs() {
		if dataset.Missing(id) {
			if missing < 0 {
				missing = int32(len(ids))
				ids = append(ids, dataset.MissingID)
			}
			to[code] = missing
			continue
		}
		to[code] = int32(len(ids))
		ids = append(ids, id)
	}
	t.Dicts[m], t.Codes[m] = dataset.NewDict(ids), recoded(t.Codes[m], to)
}

// SetNumbers sets mode m of a table to bins, given the number of each of its present
// codes, NaN for a missing one. The ids are the centres of the bins in increasing order
// and, as far as they occur, those of NoRow and of missing values at the end.
func SetNumbers(t *dataset.Table, m int, values []float64) {
	rows := make([]int, len(values))
	for _, c := range t.Codes[m] {
		rows[c]++
	}
	var order []int // codes of numbers
	special := map[string]bool{}
	for code, v := range values {
		switch {
		case rows[code] == 0:
		case math.IsNaN(v), v == NoRow:
			special[Text(v)] = true
		default:
			values[code] = round(v)
			order = append(order, code)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(values[a], values[b]), a-b) })
	var present []float64
	var count []int
	group := make([]int, len(values)) // of each code, among the distinct numbers
	for _, code := range order {
		if n := len(present); n == 0 || present[n-1] != values[code] {
			present, count = append(present, values[code]), append(count, 0)
		}
		group[code] = len(present) - 1
		count[len(count)-1] += rows[code]
	}
	centres, bin := cut(present, count)
	var ids []string
	for _, c := range centres {
		ids = append(ids, Text(c))
	}
	for _, id := range []string{dataset.NoRowID, dataset.MissingID} {
		if special[id] {
			ids = append(ids, id)
		}
	}
	to := make([]int32, len(values))
	for code, v := range values {
		switch {
		case rows[code] == 0:
		case math.IsNaN(v), v == NoRow:
			to[code] = int32(slices.Index(ids, Text(v)))
		default:
			to[code] = int32(bin[group[code]])
		}
	}
	t.Dicts[m], t.Codes[m] = dataset.NewDict(ids), recoded(t.Codes[m], to)
}

func recoded(codes, to []int32) []int32 {
	out := make([]int32, len(codes))
	for k, c := range codes {
		out[k] = to[c]
	}
	return out
}
