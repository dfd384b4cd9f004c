package serve

import (
	"bytes"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/kernel-fried-tensor/kft"
)

// arrowStream writes cells as an Arrow stream.
func arrowStream[C ~map[string]string](t testing.TB, cells []C, modes ...string) []byte {
	t.Helper()
	var fields []arrow.Field
	for _, name := range modes {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
	}
	schema := arrow.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, cell := range cells {
		for i, name := range modes {
			builder.Field(i).(*array.StringBuilder).Append(cell[name])
		}
	}
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	if err := w.Write(builder.NewRecordBatch()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestArrow(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	cells := make([]kft.Cell, 5000)
	for i := range cells {
		cells[i] = kft.Cell{"store": "s" + string(rune('0'+i%9)), "item": "i" + string(rune('0'+i%7)), "year": "2015", "month": string(rune('1' + i%6))}
	}
	cells[7]["item"] = "new"
	body := arrowStream(t, cells, "year", "month", "store", "item")
	web := httptest.NewServer(s)
	defer web.Close()
	for _, keep := range []string{"", "&keep=true", "&columns=prediction,unseen"} {
		response, err := http.Post(web.URL+"/predict?quantiles=.1,.9"+keep, arrowType, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != arrowType || response.Header.Get("Kft-Model-Version") == "" {
			t.Fatalf("status %d, header %v", response.StatusCode, response.Header)
		}
		reader, err := ipc.NewReader(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range reader.Schema().Fields() {
			names = append(names, f.Name)
		}
		want := []string{"prediction", "median", "sd", "sd_model", "sd_noise", "q0.1", "q0.9", "unseen"}
		switch keep {
		case "&columns=prediction,unseen":
			want = []string{"prediction", "unseen"}
		case "&keep=true":
			want = append([]string{"year", "month", "store", "item"}, want...)
		}
		if !slices.Equal(names, want) {
			t.Fatalf("columns %q, want %q", names, want)
		}
		row := 0
		for reader.Next() {
			batch := reader.RecordBatch()
			at := func(name string) int { return slices.Index(names, name) }
			for i := range int(batch.NumRows()) {
				if row < 20 {
					cell, err := s.models[0].current.Load().CellFromColumns(cells[row])
					if err != nil {
						t.Fatal(err)
					}
					p, err := s.models[0].current.Load().Predict(t.Context(), []kft.Cell{cell})
					if err != nil {
						t.Fatal(err)
					}
					got := float64(batch.Column(at("prediction")).(*array.Float32).Value(i))
					if math.Abs(got-p[0].Mean) > 1e-5*p[0].Mean {
						t.Errorf("row %d: prediction %g, want %g", row, got, p[0].Mean)
					}
					if unseen := batch.Column(at("unseen")).(*array.String); (row == 7) != (unseen.IsValid(i) && unseen.Value(i) == "item") {
						t.Errorf("row %d: unseen %q", row, unseen.Value(i))
					}
				}
				row++
			}
		}
		if err := reader.Err(); err != nil || row != len(cells) {
			t.Errorf("%d rows, want %d: %v", row, len(cells), err)
		}
	}
	for _, tc := range []struct {
		path string
		body []byte
		code code
	}{
		{"/predict", body[:len(body)/2], badTable},
		{"/predict", []byte("no table"), badTable},
		{"/predict", nil, badTable},
		{"/predict", arrowStream(t, cells[:3], "store", "item"), badTable},
		{"/predict?quantiles=.9,.1", body, invalidValue},
		{"/predict?quantiles=x", body, invalidValue},
		{"/predict?columns=prediction,q0.5", body, invalidValue},
		{"/predict?strict=true", body, unseenID},
		{"/predict?strict=maybe", body, invalidValue},
		{"/predict?other=1", body, unknownField},
		{"/predict?model=other", body, unknownModel},
	} {
		w := ask(t, s, "POST", tc.path, string(tc.body), "Content-Type", arrowType)
		if w.Code < 400 {
			t.Errorf("%s: status %d", tc.path, w.Code)
			continue
		}
		if p := failure(t, w); p.Code != tc.code {
			t.Errorf("%s: %+v, want %s", tc.path, p, tc.code)
		}
	}
	small := newServer(t, func(o *Options) { o.Limits.Body = 1000 })
	if p := failure(t, ask(t, small, "POST", "/predict", strings.Repeat("x", 5000), "Content-Type", arrowType)); p.Code != bodyTooLarge {
		t.Errorf("a large request: %+v", p)
	}
}
