package serve

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// fakeExplainer answers with the shape that the page expects.
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

func TestExplainAndForecast(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *Options) { o.Explain = fakeExplain })
	e := answer[struct{ Explanations []map[string]any }](t, s, "POST", "/explain", `{"cells":[{"store":"s3","item":"i4","year":2015,"month":2}],"what_if":["item.price=1"]}`)
	if len(e.Explanations) != 1 || e.Explanations[0]["what_if"] == nil {
		t.Errorf("explanations: %+v", e)
	}
	p := answer[predictAnswer](t, s, "POST", "/predict", `{"reasons":true,`+oneCell[1:])
	if p.Predictions[0].Reasons == nil {
		t.Errorf("no reasons: %+v", p)
	}
	rows := answer[struct{ Rows []map[string]any }](t, s, "POST", "/forecast", `{"only":["store=s1","item=i1,i2"],"level":[80],"horizon":2}`).Rows
	if _, number := rows[0]["lo-80"].(float64); len(rows) < 2 || rows[0]["store"] != "s1" || !number {
		t.Errorf("forecast of chosen series: %v", rows)
	}
	if rows := answer[struct{ Rows []map[string]any }](t, s, "POST", "/forecast", `{"by":"total","horizon":2}`).Rows; len(rows) != 2 {
		t.Errorf("total: %v", rows)
	}
	w := answer[struct{ Warnings []string }](t, s, "POST", "/predict", `{"cells":[{"store":"s1","item":"i1","time":"soon"},{"store":"s1","item":"i1","time":"2031-5"}]}`)
	if len(w.Warnings) != 1 || !strings.Contains(w.Warnings[0], `"soon" is not a period`) {
		t.Errorf("warnings of a period that cannot be read: %q", w.Warnings)
	}
	f := answer[struct{ Periods []futurePeriod }](t, s, "POST", "/forecast", `{"cell":{"store":"s1","item":"i1"},"horizon":3,"quantiles":[0.1,0.5,0.9]}`)
	if len(f.Periods) != 3 || f.Periods[0].ID != "2016-7" || f.Periods[2].ID != "2016-9" {
		t.Errorf("forecast: %+v", f)
	}
	for _, p := range f.Periods {
		if q := p.Quantiles; len(q) != 3 || q[0].Level != 0.1 || !(q[0].Value < q[1].Value && q[1].Value < q[2].Value) || q[1].Value != p.Median || !(p.Mean > q[0].Value) {
			t.Errorf("period: %+v", p)
		}
	}
	for _, tc := range []struct{ path, body, field string }{
		{"/explain", `{"cells":[{"store":"s3","item":"i4","time":"2015-2"}],"what_if":["x"]}`, "what_if"},
		{"/explain", `{"cells":[{"store":"s3"}]}`, "cells[0].item"},
		{"/explain", `{"cells":[],"what_if":[1]}`, "what_if[0]"},
		{"/forecast", `{}`, "cell"},
		{"/forecast", `{"only":["store=nowhere"]}`, "only"},
		{"/forecast", `{"only":{"store":["s1"]}}`, "only"},
		{"/forecast", `{"only":[1]}`, "only[0]"},
		{"/forecast", `{"by":"nothing"}`, "by"},
		{"/forecast", `{"cell":{"store":"s1","item":"i1"},"by":"store"}`, "cell"},
		{"/forecast", `{"cell":{}}`, "cell.store"},
		{"/forecast", `{"cell":{"store":"s1","item":"i1","time":"2017-1"}}`, "cell.time"},
		{"/forecast", `{"cell":{"store":"s1","item":"i1","x":"2017-1"}}`, "cell.x"},
		{"/forecast", `{"cell":{"store":"s1","item":"i1"},"horizon":900}`, "horizon"},
		{"/forecast", `{"cell":{"store":"s1"},"horizon":0}`, "horizon"},
		{"/forecast", `{"cell":{"store":"s1"},"horizon":1.5}`, "horizon"},
		{"/forecast", `{"cell":{"store":"s1","item":"i1"},"quantiles":[2]}`, "quantiles"},
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

// A value of another kind than a request needs is refused with the kind that it needs.
func TestKindsOfValues(t *testing.T) {
	s := newServer(t, nil)
	for body, want := range map[string]string{
		`{"only":{"store":["s1"]}}`: "only is not a list; write it in brackets, [ ]",
		`{"only":[1]}`:              "only[0] is not a text such as store=S1",
	} {
		if got := failure(t, ask(t, s, "POST", "/forecast", body)); got.Message != want {
			t.Errorf("%s: got %q, want %q", body, got.Message, want)
		}
	}
}
