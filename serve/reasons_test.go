package serve

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// fakeExplainer and fakeForecaster answer with the shapes that the page expects.
type fakeExplainer struct{ m *kft.Model }

func fakeExplain(m *kft.Model) (Explainer, error) { return fakeExplainer{m}, nil }

func (x fakeExplainer) Explain(ctx context.Context, cells []kft.Cell, changes []string) ([]any, error) {
	predictions, err := x.m.Predict(ctx, cells)
	if err != nil {
		return nil, err
	}
	all := make([]any, len(cells))
	for i, p := range predictions {
		e := map[string]any{
			"steps":      []any{map[string]any{"label": "average", "from": 0, "to": 5.0}, map[string]any{"label": "store " + cells[i]["store"], "from": 5.0, "to": p.Mean}},
			"neighbours": []any{map[string]any{"mode": "store", "id": cells[i]["store"], "by": "learned factors", "rows": 12, "mean": 3.5, "nearest": []any{map[string]any{"id": "s9", "distance": 0.5, "rows": 3, "mean": 2.5}}}},
		}
		if slices.ContainsFunc(changes, func(c string) bool { return !strings.Contains(c, "=") }) {
			return nil, errors.New("it is not of the form MODE.COLUMN=VALUE")
		}
		if len(changes) > 0 {
			e["what_if"] = map[string]any{"prediction": p.Mean + 1, "median": p.Median + 1, "low": p.Mean, "high": p.Mean + 2}
		}
		all[i] = e
	}
	return all, nil
}

type fakeForecaster struct{}

func fakeForecast(*kft.Model) (Forecaster, error) { return fakeForecaster{}, nil }

func (fakeForecaster) Forecast(_ context.Context, cell kft.Cell, horizon int, levels []float64) (any, error) {
	if cell["store"] == "" {
		return nil, errors.New("the cell has no store")
	}
	type quantile struct {
		Level float64 `json:"level"`
		Value float64 `json:"value"`
	}
	var periods []any
	for i := range horizon {
		var quantiles []quantile
		for _, level := range levels {
			quantiles = append(quantiles, quantile{level, 10 * level})
		}
		periods = append(periods, map[string]any{"id": "2017-" + string(rune('1'+i%9)), "mean": 5, "quantiles": quantiles})
	}
	return map[string]any{"periods": periods}, nil
}

func TestExplainAndForecast(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *Options) { o.Explain, o.Forecast = fakeExplain, fakeForecast })
	e := answer[struct{ Explanations []map[string]any }](t, s, "POST", "/explain", `{"cells":[{"store":"s3","item":"i4","year":2015,"month":2}],"what_if":["item.price=1"]}`)
	if len(e.Explanations) != 1 || e.Explanations[0]["what_if"] == nil {
		t.Errorf("explanations: %+v", e)
	}
	p := answer[predictAnswer](t, s, "POST", "/predict", `{"reasons":true,`+oneCell[1:])
	if p.Predictions[0].Reasons == nil {
		t.Errorf("no reasons: %+v", p)
	}
	f := answer[struct{ Forecast struct{ Periods []any } }](t, s, "POST", "/forecast", `{"cell":{"store":"s1","item":"i1"},"horizon":3}`)
	if len(f.Forecast.Periods) != 3 {
		t.Errorf("forecast: %+v", f)
	}
	for _, tc := range []struct{ path, body, field string }{
		{"/explain", `{"cells":[{"store":"s3","item":"i4","time":"2015-2"}],"what_if":["x"]}`, "what_if"},
		{"/explain", `{"cells":[{"store":"s3"}]}`, "cells[0].item"},
		{"/explain", `{"cells":[],"what_if":[1]}`, "what_if[0]"},
		{"/forecast", `{}`, "cell"},
		{"/forecast", `{"cell":{}}`, "cell"},
		{"/forecast", `{"cell":{"store":"s1"},"horizon":0}`, "horizon"},
		{"/forecast", `{"cell":{"store":"s1"},"horizon":1.5}`, "horizon"},
		{"/forecast", `{"cell":{"store":"s1"},"quantiles":[2]}`, "quantiles"},
	} {
		w := ask(t, s, "POST", tc.path, tc.body)
		if w.Code != 400 {
			t.Errorf("%s %s: status %d: %s", tc.path, tc.body, w.Code, w.Body)
			continue
		}
		if got := failure(t, w); got.Field != tc.field {
			t.Errorf("%s %s: %+v, want field %s", tc.path, tc.body, got, tc.field)
		}
	}
}
