package summary

import (
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
)

func TestSharesOfTerms(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	writeTerms(&b, []model.TermContribution{{Term: "store", Share: 1.0304}, {Term: "item", Share: -0.0304}, {Term: "time", Share: -1e-5}})
	if want := "Terms, by share of the variance explained: store 103.0 %, item -3.0 %, time 0.0 %\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
