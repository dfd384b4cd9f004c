package serve

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// fuzz sends a body to a path and checks that the server neither panics nor fails: each
// answer is valid JSON with a known status.
func fuzz(f *testing.F, method, path, media string, seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	var log strings.Builder
	s := newServer(f, func(o *Options) {
		o.Log = testLog(&log)
		o.Limits.Cells = 100
		o.Explain = fakeExplain
		o.Updates = UpdatesMemory
	})
	f.Fuzz(func(t *testing.T, body []byte) {
		log.Reset()
		r := httptest.NewRequest(method, path, strings.NewReader(string(body)))
		r.Header.Set("Content-Type", media)
		w := httptest.NewRecorder()
		func() {
			defer func() {
				if p := recover(); p != nil && p != http.ErrAbortHandler {
					panic(p)
				}
			}()
			s.ServeHTTP(w, r)
		}()
		if w.Code >= 500 || strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("status %d: %s\n%s", w.Code, w.Body, log.String())
		}
		if w.Header().Get("Content-Type") == jsonType && !json.Valid(w.Body.Bytes()) {
			t.Errorf("the answer is not JSON: %s", w.Body)
		}
	})
}

func FuzzPredict(f *testing.F) {
	fuzz(f, "POST", "/predict", jsonType, oneCell, `{"cells":[{"store":1,"item":"i1","year":2015,"month":1e2}],"quantiles":[0.5],"histogram":true,"strict":false}`,
		`{"model":"sales","cells":[{"store":"\u0000\ud800","item":"x","time":"2015-1"}]}`, `[`, `{"cells":[{"store":{}}]}`, `{"cells":[],"reasons":true}`)
}

func FuzzInfer(f *testing.F) {
	fuzz(f, "POST", "/v2/models/sales/infer", jsonType,
		`{"id":"1","inputs":[{"name":"store","shape":[1,1],"datatype":"BYTES","data":[["s1"]]},{"name":"item","shape":[1],"datatype":"INT8","data":[1]},{"name":"time","shape":[1],"datatype":"BYTES","data":["2015-1"]}],"outputs":[{"name":"mean"}],"parameters":{"quantiles":[0.5],"strict":true}}`,
		`{"inputs":[{"name":"store","shape":[0],"datatype":"BYTES","data":[]}]}`, `{"inputs":[{"shape":[-1,99999999999]}]}`)
}

func FuzzOutcomes(f *testing.F) {
	fuzz(f, "POST", "/outcomes", jsonType, `{"outcomes":[{"cell":{"store":"s1","item":"i1","time":"2015-1"},"value":-1e300}]}`, `{"outcomes":[{"cell":{},"value":0}]}`)
}

func FuzzExplain(f *testing.F) {
	fuzz(f, "POST", "/explain", jsonType, oneCell, `{"cells":[],"what_if":["item.price=1"]}`)
}

func FuzzForecast(f *testing.F) {
	fuzz(f, "POST", "/forecast", jsonType, `{"cell":{"store":"s1","item":"i1"},"horizon":3,"quantiles":[0.1,0.9]}`)
}

func FuzzUpdate(f *testing.F) {
	fuzz(f, "POST", "/update", jsonType, `{"model":"sales","late":true,"rows":`+updateRows+`}`, `{"remove":`+updateRows+`}`, `{"rows":[{"store":"new","value":1e300}]}`)
}

func FuzzArrow(f *testing.F) {
	fuzz(f, "POST", "/predict", arrowType, string(arrowStream(f, []map[string]string{{"store": "s1", "item": "i1", "year": "2015", "month": "1"}}, "store", "item", "year", "month")),
		string(arrowStream[map[string]string](f, nil, "store", "item", "year", "month")), "ARROW1\x00\x00", "")
}
