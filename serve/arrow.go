package serve

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// predictArrow answers POST /predict with an Arrow stream: a table with the columns of
// the modes in, and a table of predictions out, in the same order. The query has model,
// quantiles=.05,.95, columns=prediction,q0.05 (without it all), strict and keep (the columns
// of the request are repeated).
//
// The response is written while the request is still read. Many clients read nothing
// before they have sent everything: what such a client does not take yet is kept. The limit
// of the request bounds it, and only a few requests are predicted at a time.
func (s *Server) predictArrow(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	for key := range q {
		switch key {
		case "model", "quantiles", "columns", "strict", "keep":
		default:
			return unknown(key, "model, quantiles, columns, strict, keep")
		}
	}
	slot, err := s.slot(q.Get("model"), "model")
	if err != nil {
		return err
	}
	levels, err := parseLevels(q.Get("quantiles"), []float64{0.05, 0.95})
	if err != nil {
		return err
	}
	only, err := parseColumns(q.Get("columns"), levels)
	if err != nil {
		return err
	}
	strict, err := flag(q.Get("strict"), "strict")
	if err != nil {
		return err
	}
	keep, err := flag(q.Get("keep"), "keep")
	if err != nil {
		return err
	}
	select {
	case s.bulk <- struct{}{}:
		defer func() { <-s.bulk }()
	case <-r.Context().Done():
		return r.Context().Err()
	}
	if r.ContentLength > s.opt.Limits.Body {
		return &http.MaxBytesError{Limit: s.opt.Limits.Body}
	}
	if err := http.NewResponseController(w).EnableFullDuplex(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	m := slot.current.Load()
	w.Header().Set("Kft-Model-Version", m.version)
	out := newQueue(w)
	sum, err := m.PredictTable(r.Context(), kft.Reader("request", r.Body), out, kft.TableOptions{
		Strict: strict, AllowUnknown: true, Quantiles: levels, Only: only, Output: tableio.Output{Format: "arrow-stream", AddedOnly: !keep},
	})
	if written := out.close(err); err == nil {
		err = written
	}
	slot.cells.Add(int64(sum.Rows))
	slot.unseen.Add(int64(mostOf(sum.Unseen)))
	if err != nil && !isKnown(err) && r.Context().Err() == nil {
		err = &problem{badTable, err.Error(), ""} // whatever is wrong with the bytes of a stranger
	}
	return err
}

// isKnown reports whether asProblem has a code for an error.
func isKnown(err error) bool { return asProblem(err, "rows").Code != internal }

func mostOf(counts []int) int {
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	return most
}

// parseLevels parses .05,.5,.95.
func parseLevels(text string, otherwise []float64) ([]float64, error) {
	if text == "" {
		return otherwise, nil
	}
	levels := []float64{}
	for piece := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(piece), 64)
		if err != nil {
			return nil, problemf(invalidValue, "quantiles", "%q is not a number; use levels such as .05,.5,.95", piece)
		}
		if levels = append(levels, v); len(levels) > maxLevels {
			return nil, problemf(invalidValue, "quantiles", "there are more than %d levels", maxLevels)
		}
	}
	return levels, nil
}

// parseColumns parses the names of the columns of a response. They have the names of the
// columns that kft predict adds.
func parseColumns(text string, levels []float64) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	known := []string{"prediction", "median", "sd", "sd_model", "sd_noise", "unseen"}
	for _, level := range levels {
		known = append(known, "q"+strconv.FormatFloat(level, 'g', -1, 64))
	}
	columns := strings.Split(text, ",")
	for _, name := range columns {
		if !slices.Contains(known, name) {
			return nil, problemf(invalidValue, "columns", "there is no column %q; the columns are %s", name, strings.Join(known, ", "))
		}
	}
	return columns, nil
}

func flag(text, field string) (bool, error) {
	if text == "" {
		return false, nil
	}
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, problemf(invalidValue, field, "%s", fmt.Sprintf("%q is not true or false", text))
	}
	return v, nil
}
