package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkPredict answers single predictions without a network.
func BenchmarkPredict(b *testing.B) {
	s := newServer(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", "/predict", strings.NewReader(oneCell))
		r.Header.Set("Content-Type", jsonType)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}
