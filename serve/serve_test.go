package serve

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

func TestPredict(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	m := s.models[0].current.Load()
	cells := []kft.Cell{{"store": "s3", "item": "i4", "time": "2015-2"}, {"store": "s3", "item": "new", "time": "2015-2"}}
	want, err := m.Predict(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	got := answer[predictAnswer](t, s, "POST", "/predict",
		`{"cells":[{"store":"s3","item":"i4","time":"2015-2"},{"store":"s3","item":"new","year":2015,"month":2}],"quantiles":[0.1,0.5,0.9],"histogram":true}`)
	if got.Model != "sales" || got.Version != m.version || len(got.Predictions) != 2 {
		t.Fatalf("got %+v", got)
	}
	for i, p := range got.Predictions {
		d := want[i].Distribution()
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-6*math.Abs(want) {
				t.Errorf("cell %d: %s is %g, want %g", i, what, got, want)
			}
		}
		near("mean", p.Mean, want[i].Mean)
		near("median", p.Median, want[i].Median)
		near("sd", p.SD, want[i].SD)
		for k, level := range []float64{0.1, 0.5, 0.9} {
			near("level", p.Quantiles[k].Level, level)
			near("quantile", p.Quantiles[k].Value, d.Quantile(level))
		}
		sum := 0.0
		for _, v := range p.Histogram.Probabilities {
			sum += v
		}
		if sum < 0.985 || sum > 1 {
			t.Errorf("cell %d: the sum of the histogram is %g", i, sum)
		}
		if len(p.Histogram.Edges) != len(p.Histogram.Probabilities)+1 || !slices.IsSorted(p.Histogram.Edges) {
			t.Errorf("cell %d: edges %v", i, p.Histogram.Edges)
		}
	}
	if len(got.Predictions[0].Unseen) != 0 || !slices.Equal(got.Predictions[1].Unseen, []string{"item"}) {
		t.Errorf("unseen: %q and %q", got.Predictions[0].Unseen, got.Predictions[1].Unseen)
	}
	if n := s.models[0].cells.Load(); n != 2 {
		t.Errorf("%d cells were counted", n)
	}
	if got := answer[predictAnswer](t, s, "POST", "/predict", `{"cells":[{"store":true,"item":"i4","time":"2015-2"}]}`); !slices.Equal(got.Predictions[0].Unseen, []string{"store"}) {
		t.Errorf("a truth value: %+v", got)
	}
	if got := answer[predictAnswer](t, s, "POST", "/predict", `{"cells":[]}`); len(got.Predictions) != 0 {
		t.Errorf("no cells: %+v", got)
	}
}

// TestErrors checks that each mistake has its code, status and field. TestNull checks that null is
// a missing value: of a covariate one like others, of a mode an id that is not in the training
// data.
func TestNull(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	got := answer[predictAnswer](t, s, "POST", "/predict", `{"cells":[{"store":"s3","item":null,"time":"2015-2"},{"store":"s3","item":"","time":"2015-2"}]}`)
	if p := got.Predictions; len(p) != 2 || !slices.Equal(p[0].Unseen, []string{"item"}) || p[0].Mean != p[1].Mean {
		t.Errorf("got %+v", p)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *Options) {
		o.Limits.Cells, o.Limits.Body = 3, 2000
	})
	deep := strings.Repeat("[", 1500)
	for _, tc := range []struct {
		method, path, body string
		status             int
		code               code
		field              string
	}{
		{"POST", "/predict", `{"cells":[`, 400, badJSON, ""},
		{"POST", "/predict", `{"cells":[]} {}`, 400, badJSON, ""},
		{"POST", "/predict", `nonsense`, 400, badJSON, ""},
		{"POST", "/predict", `{"cells":` + deep, 400, invalidValue, "cells[0]"},
		{"POST", "/predict", `[]`, 400, invalidValue, ""},
		{"POST", "/predict", `{}`, 400, missingField, "cells"},
		{"POST", "/predict", `{"cells":{}}`, 400, invalidValue, "cells"},
		{"POST", "/predict", `{"cells":[7]}`, 400, invalidValue, "cells[0]"},
		{"POST", "/predict", `{"cells":[{"store":[1]}]}`, 400, invalidValue, "cells[0].store"},
		{"POST", "/predict", `{"cells":[{"store":"a","store":"b"}]}`, 400, invalidValue, "cells[0].store"},
		{"POST", "/predict", `{"cells":[{"store":"s1","item":"i1"}]}`, 400, unknownMode, "cells[0].time"},
		{"POST", "/predict", `{"cells":[{"store":"s1","item":"i1","time":"2015-1","x":1}]}`, 400, unknownMode, "cells[0].x"},
		{"POST", "/predict", `{"cells":[],"quantile":[0.5]}`, 400, unknownField, "quantile"},
		{"POST", "/predict", `{"cells":[],"quantiles":[0.9,0.1]}`, 400, invalidValue, "quantiles"},
		{"POST", "/predict", `{"cells":[],"quantiles":["a"]}`, 400, invalidValue, "quantiles[0]"},
		{"POST", "/predict", `{"cells":[],"quantiles":[1e999]}`, 400, invalidValue, "quantiles[0]"},
		{"POST", "/predict", `{"cells":[],"strict":1}`, 400, invalidValue, "strict"},
		{"POST", "/predict", `{"cells":[],"model":"other"}`, 404, unknownModel, "model"},
		{"POST", "/predict", `{"cells":[],"reasons":true}`, 404, notAvailable, ""},
		{"POST", "/predict", `{"strict":true,"cells":[{"store":"s1","item":"new","time":"2015-1"}]}`, 422, unseenID, "cells[0].item"},
		{"POST", "/predict", `{"cells":[{},{},{},{}]}`, 413, tooManyCells, "cells"},
		{"POST", "/predict", `{"model":"` + strings.Repeat("x", 3000) + `"}`, 413, bodyTooLarge, ""},
		{"GET", "/predict", "", 405, methodNotAllowed, ""},
		{"GET", "/other", "", 404, notFound, ""},
		{"POST", "/explain", oneCell, 404, notAvailable, ""},
		{"POST", "/forecast", oneCell, 400, unknownField, "cells"},
		{"POST", "/outcomes", `{"outcomes":[{"cell":{"store":"s1","item":"i1","time":"2015-1"}}]}`, 400, missingField, "outcomes[0].value"},
		{"POST", "/outcomes", `{"outcomes":[{"value":1}]}`, 400, missingField, "outcomes[0].cell"},
		{"POST", "/outcomes", `{"outcomes":[{"value":"1"}]}`, 400, invalidValue, "outcomes[0].value"},
		{"POST", "/outcomes", `{"outcomes":[{"cell":{"store":"s1"},"value":1}]}`, 400, unknownMode, "outcomes[0].item"},
		{"GET", "/models/other", "", 404, unknownModel, "model"},
		{"GET", "/models/sales/ids?mode=x", "", 400, unknownMode, "mode"},
		{"GET", "/models/sales/ids?mode=store&limit=0", "", 400, invalidValue, "limit"},
		{"GET", "/models/sales/history?store=s1", "", 400, missingField, "item"},
		{"GET", "/models/sales/history?stores=s1", "", 400, unknownMode, "stores"},
	} {
		w := ask(t, s, tc.method, tc.path, tc.body)
		if w.Code != tc.status {
			t.Errorf("%s %s %.60s: status %d, want %d: %s", tc.method, tc.path, tc.body, w.Code, tc.status, w.Body)
			continue
		}
		if p := failure(t, w); p.Code != tc.code || p.Field != tc.field || p.Message == "" {
			t.Errorf("%s %s %.60s: got %+v, want code %s and field %q", tc.method, tc.path, tc.body, p, tc.code, tc.field)
		}
	}
	w := ask(t, s, "POST", "/predict", oneCell, "Content-Type", "text/plain")
	if p := failure(t, w); w.Code != http.StatusUnsupportedMediaType || p.Code != unsupportedMedia {
		t.Errorf("text/plain: %d %+v", w.Code, p)
	}
	w = ask(t, s, "POST", "/predict", oneCell, "Sec-Fetch-Site", "cross-site")
	if p := failure(t, w); w.Code != http.StatusForbidden || p.Code != forbidden {
		t.Errorf("cross-site: %d %+v", w.Code, p)
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *Options) { o.Token = "secret-token" })
	for _, tc := range []struct {
		path, header string
		status       int
	}{
		{"/models", "", 401}, {"/models", "Bearer wrong", 401}, {"/models", "Basic secret-token", 401}, {"/models", "Bearer ", 401},
		{"/models", "Bearer secret-token", 200}, {"/models", "bearer secret-token", 200}, {"/metrics", "", 401}, {"/openapi.json", "", 401}, {"/other", "", 401},
		{"/healthz", "", 200}, {"/readyz", "", 200}, {"/", "", 200}, {"/page.js", "", 200}, {"/v2/health/live", "", 200}, {"/v2", "", 401},
	} {
		w := ask(t, s, "GET", tc.path, "", "Authorization", tc.header)
		if w.Code != tc.status {
			t.Errorf("GET %s with %q: status %d, want %d", tc.path, tc.header, w.Code, tc.status)
		}
		if w.Code == 401 && w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("GET %s: no WWW-Authenticate", tc.path)
		}
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		address string
		token   bool
		good    bool
	}{{"127.0.0.1:0", false, true}, {"localhost:0", false, true}, {"0.0.0.0:0", false, false}, {":0", false, false}, {"0.0.0.0:0", true, true}} {
		l, err := Listen(tc.address, tc.token)
		if (err == nil) != tc.good {
			t.Errorf("%s, token %v: %v", tc.address, tc.token, err)
		}
		if err == nil {
			l.Close()
		}
	}
	for host, want := range map[string]bool{"localhost": true, "localhost:80": true, "127.0.0.1:8080": true, "[::1]:80": true, "[::1]": true, "::1": true, "example.com": false, "127.0.0.1.example.com": false, "": false, "10.0.0.1:80": false} {
		if got := loopbackHost(host); got != want {
			t.Errorf("host %q: %v", host, got)
		}
	}
}

func TestSeveralModels(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *Options) {
		o.Models = append(o.Models, ModelFile{Name: "other", Path: writeModel(t, 1)})
	})
	a := answer[predictAnswer](t, s, "POST", "/predict", `{"model":"sales",`+oneCell[1:])
	b := answer[predictAnswer](t, s, "POST", "/predict", `{"model":"other",`+oneCell[1:])
	if a.Version == b.Version || a.Predictions[0].Mean == b.Predictions[0].Mean {
		t.Errorf("the models answer alike: %+v, %+v", a, b)
	}
	if p := failure(t, ask(t, s, "POST", "/predict", oneCell)); p.Code != missingField || p.Field != "model" {
		t.Errorf("without a name: %+v", p)
	}
	for _, names := range [][]string{{}, {"a", "a"}, {"a b"}, {""}, {".x"}} {
		var opt Options
		for _, name := range names {
			opt.Models = append(opt.Models, ModelFile{Name: name, Path: writeModel(t, 0)})
		}
		if _, err := New(opt); err == nil {
			t.Errorf("models %q are accepted", names)
		}
	}
	if _, err := New(Options{Models: []ModelFile{{Name: "a", Path: "missing.kft"}}}); err == nil || !strings.Contains(err.Error(), "missing.kft: no such file; check the path") {
		t.Error("a missing file is accepted")
	}
}

func TestInference(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	version := s.models[0].current.Load().version
	tensor := func(name string, data string, n int) string {
		return fmt.Sprintf(`{"name":%q,"shape":[%d],"datatype":"BYTES","data":%s}`, name, n, data)
	}
	inputs := `"inputs":[` + tensor("store", `["s3","s4"]`, 2) + "," + tensor("item", `["i4","zz"]`, 2) + "," + tensor("time", `["2015-2","2015-2"]`, 2) + "]"
	type output struct {
		Name     string
		Datatype string
		Shape    []int
		Data     []any
	}
	got := answer[struct {
		ModelName    string `json:"model_name"`
		ModelVersion string `json:"model_version"`
		ID           string
		Outputs      []output
	}](t, s, "POST", "/v2/models/sales/versions/"+version+"/infer", `{"id":"42","parameters":{"quantiles":".1,.5,.9"},`+inputs+"}")
	if got.ModelName != "sales" || got.ModelVersion != version || got.ID != "42" || len(got.Outputs) != 5 {
		t.Fatalf("got %+v", got)
	}
	plain := answer[predictAnswer](t, s, "POST", "/predict", oneCell)
	if math.Abs(got.Outputs[0].Data[0].(float64)-plain.Predictions[0].Mean) > 1e-6*plain.Predictions[0].Mean {
		t.Errorf("mean %v, want %g", got.Outputs[0].Data[0], plain.Predictions[0].Mean)
	}
	if q := got.Outputs[3]; q.Name != "quantiles" || !slices.Equal(q.Shape, []int{2, 3}) || len(q.Data) != 6 {
		t.Errorf("quantiles: %+v", q)
	}
	if u := got.Outputs[4]; u.Name != "unseen" || u.Data[0] != "" || u.Data[1] != "item" {
		t.Errorf("unseen: %+v", u)
	}
	for _, tc := range []struct{ path, body, want string }{
		{"/v2/models/sales/infer", `{}`, "missing_field"},
		{"/v2/models/sales/infer", `{"inputs":[` + tensor("store", `["s3","s4"]`, 3) + `]}`, "invalid_value"},
		{"/v2/models/sales/infer", `{"inputs":[` + tensor("store", `["s3"]`, 1) + "," + tensor("item", `["s3","s4"]`, 2) + `]}`, "invalid_value"},
		{"/v2/models/sales/infer", `{"inputs":[` + tensor("store", `[1.5]`, 1) + `]}`, "invalid_value"},
		{"/v2/models/sales/infer", `{"inputs":[{"name":"store","shape":[1e9],"datatype":"BYTES"}]}`, "bad_json"},
		{"/v2/models/sales/infer", `{"inputs":[{"name":"store","shape":[1000000000],"datatype":"BYTES"}]}`, "too_many_cells"},
		{"/v2/models/sales/infer", `{"inputs":[` + tensor("store", `["s3"]`, 1) + `]}`, "unknown_mode"},
		{"/v2/models/sales/infer", `{"outputs":[{"name":"x"}],` + inputs + `}`, "unknown_field"},
		{"/v2/models/sales/infer", `{"parameters":{"quantiles":{}},` + inputs + `}`, "invalid_value"},
		{"/v2/models/other/infer", `{` + inputs + `}`, "unknown_model"},
		{"/v2/models/sales/versions/1/infer", `{` + inputs + `}`, "unknown_model"},
	} {
		w := ask(t, s, "POST", tc.path, tc.body)
		if w.Code < 400 || !strings.Contains(w.Body.String(), `"code":"`+tc.want+`"`) || !strings.HasPrefix(w.Body.String(), `{"error":"`) {
			t.Errorf("%s %.80s: %d %s, want the code %s", tc.path, tc.body, w.Code, w.Body, tc.want)
		}
	}
}

func TestIDsAndHistory(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *Options) { o.Models[0].History = []string{writeTable(t)} })
	ids := answer[struct{ IDs []string }](t, s, "GET", "/models/sales/ids?mode=store&search=S1&limit=4", "").IDs
	if !slices.Equal(ids, []string{"s1", "s10", "s11", "s12"}) {
		t.Errorf("ids: %q", ids)
	}
	if ids := answer[struct{ IDs []string }](t, s, "GET", "/models/sales/ids?mode=store&search=9", "").IDs; !slices.Equal(ids, []string{"s19", "s9"}) {
		t.Errorf("ids that contain 9: %q", ids)
	}
	h := answer[struct {
		Mode     string
		Observed bool
		Periods  []struct {
			ID    string
			Value *float64
		}
	}](t, s, "GET", "/models/sales/history?store=s3&item=i4", "")
	want := observedValues(t, "s3", "i4")
	if h.Mode != "time" || !h.Observed || len(h.Periods) != 12 || h.Periods[0].ID != "2015-1" || h.Periods[11].ID != "2016-6" || len(want) == 0 {
		t.Fatalf("history: %+v", h)
	}
	for _, p := range h.Periods {
		v, there := want[p.ID]
		if there != (p.Value != nil) || there && *p.Value != v {
			t.Errorf("period %s: %v, want %g (%v)", p.ID, p.Value, v, there)
		}
	}
}
