package report

import (
	"bytes"
	"strings"
	"testing"
)

// A page with more and longer ids than fit is shortened.
func TestShortenEntities(t *testing.T) {
	t.Parallel()
	p := &page{Title: "x", Entities: []entityList{{Mode: "item", Of: 30_000}, {Mode: "store", Of: 1, IDs: []entity{{id: "s"}}}}}
	for range 30_000 {
		p.Entities[0].IDs = append(p.Entities[0].IDs, entity{id: strings.Repeat("ö", 100), at: []int{100, 200, 300, 400, 400, 300, 200, 100}})
	}
	size := func() int {
		var b bytes.Buffer
		if err := p.write(&b); err != nil {
			t.Fatal(err)
		}
		return b.Len()
	}
	if size() <= MaxBytes {
		t.Fatal("the page is too small for this test")
	}
	for size() > MaxBytes {
		p.shortenEntities()
	}
	if n := len(p.Entities[0].IDs); n < 5000 {
		t.Errorf("got %d ids in a page of %d bytes, want as many as fit", n, size())
	}
}
