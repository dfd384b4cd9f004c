package serve

import (
	"os"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// updateRows are a new item in three stores and a known cell.
const updateRows = `[{"cell":{"store":"s1","item":"new","time":"2016-6"},"value":90},{"cell":{"store":"s2","item":"new","time":"2016-6"},"value":120},
{"cell":{"store":"s3","item":"new","year":"2016","month":"6"},"value":100},{"cell":{"store":"s1","item":"i1","time":"2016-6"},"value":20}]`

// TestUpdate checks that rows change the served model, that removed rows leave no trace,
// and that the file is written if that was asked for.
func TestUpdate(t *testing.T) {
	t.Parallel()
	type prediction struct {
		Version     string
		Predictions []struct {
			Mean   float64 `json:"prediction"`
			Unseen []string
		}
	}
	type result struct {
		Version string
		Rows    kft.UpdateReport
		Remove  kft.UpdateReport
	}
	const cell = `{"cells":[{"store":"s7","item":"new","time":"2016-6"}]}`
	for _, kind := range []Updates{UpdatesMemory, UpdatesFile} {
		s := newServer(t, func(o *Options) { o.Updates = kind })
		path := s.models[0].file.Path
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before := answer[prediction](t, s, "POST", "/predict", cell)
		got := answer[result](t, s, "POST", "/update", `{"model":"sales","late":true,"rows":`+updateRows+`}`)
		after := answer[prediction](t, s, "POST", "/predict", cell)
		if got.Rows.Rows != 4 || len(got.Rows.New) != 1 || got.Rows.New[0].Mode != "item" || got.Version == before.Version || after.Version != got.Version {
			t.Errorf("%s: got %+v, versions %s, %s", kind, got, before.Version, after.Version)
		}
		if len(before.Predictions[0].Unseen) != 1 || len(after.Predictions[0].Unseen) != 0 || after.Predictions[0].Mean < 2*before.Predictions[0].Mean {
			t.Errorf("%s: got %+v before and %+v after", kind, before, after)
		}
		now, err := os.ReadFile(path)
		if err != nil || (string(now) == string(file)) != (kind == UpdatesMemory) {
			t.Errorf("%s: the file is the same: %v, %v", kind, string(now) == string(file), err)
		}
		s.Reload() // nothing changed behind the server's back
		if again := answer[prediction](t, s, "POST", "/predict", cell); again.Version != after.Version {
			t.Errorf("%s: reloaded as %s", kind, again.Version)
		}
		back := answer[result](t, s, "POST", "/update", `{"remove":`+updateRows+`}`)
		if end := answer[prediction](t, s, "POST", "/predict", cell); back.Remove.Struck != 4 || end.Predictions[0].Mean != before.Predictions[0].Mean {
			t.Errorf("%s: got %+v, then %+v, want %+v", kind, back, end, before)
		}
		if text := ask(t, s, "GET", "/metrics", "").Body.String(); !strings.Contains(text, `kft_model_updates_total{model="sales"} 2`) {
			t.Errorf("%s: the metrics do not count two updates", kind)
		}
		for _, tc := range []struct {
			body, field string
			code        code
		}{
			{`{}`, "rows", missingField},
			{`{"rows":[{"cell":{"store":"s1"},"value":1}]}`, "rows[0].item", unknownMode},
			{`{"rows":[{"cell":{"store":"s1","item":"i1","time":"2016-6"},"value":-1}]}`, "rows[0]", invalidValue},
			{`{"rows":[{"cell":{"store":"s1","item":"i1","time":"2016-6"},"value":1},{"cell":{"store":"s1","item":"i1","time":"2015-1"},"value":1}]}`, "rows[1]", invalidValue},
			{`{"remove":[{"cell":{"store":"s1","item":"other","time":"2016-6"},"value":1}]}`, "remove[0]", invalidValue},
			{`{"row":[]}`, "row", unknownField},
		} {
			if p := failure(t, ask(t, s, "POST", "/update", tc.body)); p.Code != tc.code || p.Field != tc.field {
				t.Errorf("%s: got %+v, want code %s and field %s", tc.body, p, tc.code, tc.field)
			}
		}
	}
	if w := ask(t, newServer(t, nil), "POST", "/update", `{"rows":`+updateRows+`}`); w.Code != 404 || !strings.Contains(w.Body.String(), "not_found") || !strings.Contains(w.Body.String(), "started without updates") {
		t.Errorf("without updates: %d %s", w.Code, w.Body)
	}
}
