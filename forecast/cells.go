package forecast

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/model"
)

// cells are the cells to forecast as a table with the columns of the fitted one.
type cells struct {
	source tableio.Source
	names  []string // of the columns
	series int
}

// futureCells returns the cells of all chosen series in the periods of the horizon, series
// by series.
func futureCells(m *model.Model, o *Options) (*cells, error) {
	combos, origins, err := chosen(m, o)
	if err != nil {
		return nil, err
	}
	if len(combos) == 0 {
		return nil, fielderr.Errorf("only", "no series is left; choose other ids or a longer time of activity")
	}
	series, modes := m.Series(), m.Modes()
	made := &columnMaker{rows: len(combos) * o.Horizon, columns: map[string][]string{}}
	for k, at := range series.Keys {
		mode, dict := modes[at], m.Dicts()[at]
		if mode.Func != "" {
			return nil, unknownMode(mode)
		}
		texts := make([][]string, dict.Len())
		for i, combo := range combos {
			code := combo[k]
			if texts[code] == nil {
				if texts[code], err = columnsOf(mode, dict.ID(code)); err != nil {
					return nil, err
				}
			}
			made.set(mode.Columns, texts[code], i*o.Horizon, o.Horizon, 1)
		}
	}
	time := modes[series.Time]
	out := &cells{series: len(combos)}
	periods := map[int64][]string{} // the columns of a step
	for i, origin := range origins {
		for h := range o.Horizon {
			step := origin + 1 + int64(h)
			texts, seen := periods[step]
			if !seen {
				if texts, err = series.Line.Columns(step); err != nil {
					return nil, fielderr.Errorf("data.modes", "%w", err)
				}
				periods[step] = texts
			}
			made.set(time.Columns, texts, i*o.Horizon+h, 1, 1)
		}
	}
	var described []string
	for _, mode := range modes {
		switch known := mode.Computed() || mode.Target() || !slices.ContainsFunc(mode.Columns, func(c string) bool { return made.columns[c] == nil }); {
		case known:
		case !mode.Covariate():
			return nil, unknownMode(mode)
		default:
			described = append(described, mode.Columns...)
		}
	}
	if described != nil {
		slices.Sort(described)
		return nil, fielderr.Errorf("future", "the model needs the future values of %s; give a table of the cells to forecast that has them, or fit a model without covariates (data.covariates: none)", strings.Join(slices.Compact(described), ", "))
	}
	out.names = made.names
	out.source, err = made.source()
	return out, err
}

// unknownMode says that future values of a mode are not known.
func unknownMode(mode dataset.Mode) error {
	return fielderr.Errorf("future", "the future values of mode %s (%s) are not known from the series and the time; give a table of the cells to forecast that has them", mode.Name, mode.Expression())
}

// columnsOf returns the values of the columns that make up an id.
func columnsOf(mode dataset.Mode, id string) ([]string, error) {
	if len(mode.Columns) == 1 {
		return []string{id}, nil
	}
	texts := strings.Split(id, "-")
	if len(texts) != len(mode.Columns) {
		return nil, fielderr.Errorf("future", "mode %s: the id %q does not say which part of it is in which of the columns %s; give a table of the cells to forecast", mode.Name, id, strings.Join(mode.Columns, ", "))
	}
	return texts, nil
}

// columnMaker collects the columns of a table of text.
type columnMaker struct {
	rows    int
	names   []string
	columns map[string][]string
}

// set sets the values of columns in the rows from, from+every, ... below from+span.
func (c *columnMaker) set(names, values []string, from, span, every int) {
	for i, name := range names {
		column := c.columns[name]
		if column == nil {
			column = make([]string, c.rows)
			c.columns[name], c.names = column, append(c.names, name)
		}
		for row := from; row < from+span; row += every {
			column[row] = values[i]
		}
	}
}

func (c *columnMaker) source() (tableio.Source, error) {
	columns := make([]dataset.Column, len(c.names))
	for i, name := range c.names {
		columns[i] = dataset.StringColumn(name, c.columns[name])
	}
	return tableio.NewColumns(columns...)
}

// chosen returns the codes of the chosen series, by key mode, and the steps after which they are forecast.
func chosen(m *model.Model, o *Options) (combos [][]int32, origins []int64, err error) {
	series := m.Series()
	filters, err := parseOnly(m, o)
	if err != nil {
		return nil, nil, err
	}
	for i := range series.Len() {
		if o.Active > 0 && int64(series.Last[i]) <= series.End-int64(o.Active) {
			continue
		}
		combo := make([]int32, len(series.Keys))
		keep := true
		for k := range combo {
			combo[k] = series.Codes[k][i]
			keep = keep && (filters[k] == nil || filters[k][combo[k]])
		}
		if keep {
			combos, origins = append(combos, combo), append(origins, series.Origin(i))
		}
	}
	for _, combo := range newCombinations(m, filters) {
		combos, origins = append(combos, combo), append(origins, series.Origin(-1))
	}
	return combos, origins, nil
}

// newCombinations returns the combinations of chosen ids that have no series with every
// combination of the other modes that has one.
func newCombinations(m *model.Model, filters []map[int32]bool) [][]int32 {
	series := m.Series()
	var out [][]int32
	for k, at := range series.Keys {
		if filters[k] == nil {
			continue
		}
		var fresh []int32
		for code := range filters[k] {
			if m.TrainingRows(at, code) == 0 {
				fresh = append(fresh, code)
			}
		}
		slices.Sort(fresh)
		seen := map[string]bool{}
		for i := range series.Len() {
			if len(fresh) == 0 {
				break
			}
			combo := make([]int32, len(series.Keys))
			keep := true
			for j := range combo {
				combo[j] = series.Codes[j][i]
				keep = keep && (j == k || filters[j] == nil || filters[j][combo[j]])
			}
			combo[k] = -1
			if key := fmt.Sprint(combo); keep && !seen[key] {
				seen[key] = true
				for _, code := range fresh {
					own := slices.Clone(combo)
					own[k] = code
					out = append(out, own)
				}
			}
		}
	}
	return out
}

// parseOnly returns, by key mode, the codes that are chosen; nil for all.
func parseOnly(m *model.Model, o *Options) ([]map[int32]bool, error) {
	series, modes := m.Series(), m.Modes()
	filters := make([]map[int32]bool, len(series.Keys))
	for _, text := range o.Only {
		name, list, ok := strings.Cut(text, "=")
		if !ok || list == "" {
			return nil, fielderr.Errorf("only", "%q does not choose series; write a mode and its ids, as in store=2106,2113", text)
		}
		l, err := findLevels(m, o, strings.TrimSpace(name), "only")
		if err != nil {
			return nil, err
		}
		k := slices.Index(series.Keys, l.mode)
		if k < 0 {
			return nil, fielderr.Errorf("only", "mode %s does not distinguish series; choose ids of %s", modes[l.mode].Name, modeNames(m))
		}
		if filters[k] == nil {
			filters[k] = map[int32]bool{}
		}
		for _, id := range splitIDs(list, l.all()) {
			codes := l.codesOf(id)
			if len(codes) == 0 {
				if mode, _, ok := strings.Cut(id, "="); ok {
					if _, err := findLevels(m, o, mode, "only"); err == nil {
						return nil, fielderr.Errorf("only", "%q chooses ids of two modes; choose those of each mode separately: %s=... and %s", text, name, id)
					}
				}
				return nil, fielderr.Errorf("only", "%s: the id %q is neither in the training data nor in a side table%s; new ids need their side rows", name, id, suggest.Hint(id, l.all()))
			}
			for _, c := range codes {
				filters[k][c] = true
			}
		}
	}
	return filters, nil
}

// splitIDs splits a list of ids at its commas. The longest run of pieces that is a known id is
// one, because ids may contain commas.
func splitIDs(list string, known []string) []string {
	is, longest := make(map[string]bool, len(known)), 0
	for _, id := range known {
		is[id], longest = true, max(longest, len(id))
	}
	var ids []string
	for start := 0; start <= len(list); {
		end := -1 // of the id
		for at := start; at <= len(list); at++ {
			if at < len(list) && list[at] != ',' {
				continue
			}
			id := strings.TrimSpace(list[start:at])
			if end < 0 || is[id] {
				end = at
			}
			if len(id) > longest {
				break
			}
		}
		ids = append(ids, strings.TrimSpace(list[start:end]))
		start = end + 1
	}
	return ids
}

// modeNames lists the modes that distinguish series.
func modeNames(m *model.Model) string {
	var names []string
	for _, k := range m.Series().Keys {
		names = append(names, m.Modes()[k].Name)
	}
	return strings.Join(names, ", ")
}
