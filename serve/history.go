package serve

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// timeOf returns the mode whose ids are periods in time, -1 if there is none, and its ids
// in chronological order.
func timeOf(m *kft.Model) (mode int, periods []string) {
	for i, at := range m.Modes() {
		ids := m.IDs(i)
		if !at.IsTime(ids) {
			continue
		}
		order, err := at.Chronology(ids)
		if err != nil {
			continue
		}
		for _, code := range order.Order {
			periods = append(periods, ids[code])
		}
		return i, periods
	}
	return -1, nil
}

// A history has the observed values of a table, by series: the cells that differ only in
// the period.
type history struct {
	table *dataset.Table
	time  int
	order []int32 // rows, sorted by the codes of all modes but time
}

// readHistory reads a table with the columns of the model's, as its specification says.
func readHistory(m *kft.Model, files []string) (*history, error) {
	spec := m.Spec()
	schema, format, err := spec.Data.Table()
	if err != nil {
		return nil, err
	}
	table, err := tableio.Read(context.Background(), tableio.Files(files...), schema, format, 0)
	if err != nil {
		return nil, err
	}
	h := &history{table: table, order: make([]int32, len(table.Y))}
	h.time, _ = timeOf(m)
	for i := range h.order {
		h.order[i] = int32(i)
	}
	slices.SortFunc(h.order, func(a, b int32) int {
		for mode, codes := range table.Codes {
			if mode != h.time && codes[a] != codes[b] {
				return cmp.Compare(codes[a], codes[b])
			}
		}
		return cmp.Compare(a, b)
	})
	return h, nil
}

// series returns the observed values of the series of a cell, by period.
func (h *history) series(cell kft.Cell) map[string]float64 {
	values := map[string]float64{}
	want := make([]int32, len(h.table.Codes))
	for mode, at := range h.table.Modes {
		code, known := h.table.Dicts[mode].Code([]byte(cell[at.Name]))
		if !known && mode != h.time {
			return values
		}
		want[mode] = code
	}
	compare := func(row int32) int {
		for mode, codes := range h.table.Codes {
			if mode != h.time && codes[row] != want[mode] {
				return cmp.Compare(codes[row], want[mode])
			}
		}
		return 0
	}
	from, found := slices.BinarySearchFunc(h.order, want, func(row int32, _ []int32) int { return compare(row) })
	if !found || h.time < 0 {
		return values
	}
	for _, row := range h.order[from:] {
		if compare(row) != 0 {
			break
		}
		values[h.table.Dicts[h.time].ID(h.table.Codes[h.time][row])] = h.value(int(row))
	}
	return values
}

// value returns the target of a row as the table has it. Most targets are kept as 32-bit numbers,
// of which 64 bits show digits that nobody wrote: 51.040000915527344 for 51.04.
func (h *history) value(row int) float64 {
	y := h.table.Target(row)
	if h.table.Low == nil || h.table.Low[row] == 0 {
		if short, err := strconv.ParseFloat(strconv.FormatFloat(y, 'g', -1, 32), 64); err == nil && y != math.Trunc(y) {
			return short
		}
	}
	return y
}

// A period of a history has a value if it was observed.
type period struct {
	ID    string   `json:"id"`
	Value *float64 `json:"value"`
}

// showHistory answers GET /models/{model}/history?store=2106&item=11776: the periods in
// order, with the values that were observed.
func (s *Server) showHistory(w http.ResponseWriter, r *http.Request) error {
	slot, err := s.slot(r.PathValue("model"), "model")
	if err != nil {
		return err
	}
	m := slot.current.Load()
	mode, ids := m.periods()
	if mode < 0 {
		return problemf(notAvailable, "", "no mode of the model is a time")
	}
	cell := kft.Cell{}
	for key, values := range r.URL.Query() {
		if !slices.Contains(m.names, key) {
			return problemf(unknownMode, key, "the model has no mode %q", key)
		}
		cell[key] = values[0]
	}
	for i, name := range m.names {
		if _, given := cell[name]; !given && i != mode {
			return problemf(missingField, name, "the request has no id of mode %s", name)
		}
	}
	values := map[string]float64{}
	if m.history != nil {
		h, err := m.history()
		if err != nil {
			return err
		}
		values = h.series(cell)
	}
	periods := make([]period, len(ids))
	for i, id := range ids {
		periods[i].ID = id
		if v, observed := values[id]; observed {
			periods[i].Value = &v
		}
	}
	return writeValue(w, map[string]any{"mode": m.names[mode], "observed": m.history != nil, "periods": periods})
}
