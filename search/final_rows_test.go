package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Validation rows beyond the given number train the final fit only where they are like
// training rows.
func TestFinalData(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 400)
	for _, tc := range []struct {
		split string
		keep  int
		moved bool
	}{
		{"random:60/20/20", 30, true},
		{"random:60/20/20", 0, false},
		{"random:60/20/20", 300, false},
		{"time:last=2", 30, false},
		{"entity:item=20%", 30, false},
	} {
		s := salesSpec(table)
		s.Split = tc.split
		s.Fill()
		data, err := train.Read(t.Context(), s, tableio.Source{}, train.Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		final, decisions, err := finalData(s, data, tc.keep)
		if err != nil {
			t.Fatal(err)
		}
		if moved := final.Count(dataset.Train) > data.Count(dataset.Train); moved != tc.moved || moved != (len(decisions) == 1) {
			t.Errorf("split %s, %d rows: got %d training rows of %d and the decisions %v", tc.split, tc.keep, final.Count(dataset.Train), data.Count(dataset.Train), decisions)
		}
		if tc.moved && (final.Count(dataset.Valid) != tc.keep || !strings.HasPrefix(decisions[0].Options[0].Value, "30 of ")) {
			t.Errorf("got %d validation rows and the decision %v", final.Count(dataset.Valid), decisions)
		}
		if final.Count(dataset.Test) != data.Count(dataset.Test) {
			t.Errorf("split %s: the test set has changed", tc.split)
		}
	}
}

// A budget is divided by the rows of the trainings.
func TestFirstShare(t *testing.T) {
	t.Parallel()
	s := salesSpec(testtable.WriteSales(t, 400))
	s.Fill()
	data, err := train.Read(t.Context(), s, tableio.Source{}, train.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		refits   []string
		from, to float64
	}{{nil, 1, 1}, {[]string{"valid"}, 0.42, 0.44}, {[]string{"all"}, 0.37, 0.38}, {[]string{"valid", "all"}, 0.24, 0.26}} {
		if got := firstShare(data, tc.refits); got < tc.from || got > tc.to {
			t.Errorf("%v: got %g", tc.refits, got)
		}
	}
}

// A large table is trained again on all rows of a random split where that continues the first training.
func TestRefitOfLargeTables(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("store,item,units\n")
	for i := range 1_300_000 {
		fmt.Fprintf(&text, "%d,%d,%d\n", i/1300, i%1300, i%7)
	}
	for _, tc := range []struct{ split, likelihood, inference, want string }{
		{"random:60/20/20", "auto", "auto", spec.RefitAll},
		{"random:60/20/20", "gaussian", "mean-field", spec.RefitAll},
		{"random:60/20/20", "poisson", "mean-field", spec.RefitNone},
		{"random:60/20/20", "gaussian", "map", spec.RefitNone},
		{"entity:item=20%", "gaussian", "mean-field", spec.RefitNone},
	} {
		s := spec.Spec{Data: spec.Data{Files: []string{"sales"}, Target: "units", Modes: []string{"store", "item"}}, Split: tc.split, Terms: []string{"auto"},
			Uncertainty: spec.Uncertainty{Likelihood: tc.likelihood, Inference: tc.inference}, Fit: spec.Fit{Refit: spec.Auto}}
		s.Fill()
		data, err := train.Read(t.Context(), s, tableio.Reader("sales", strings.NewReader(text.String())), train.Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, memory := range []int64{0, 1 << 30} { // a limit does not change the model
			if got := resolveRefit(s, data, train.Options{Memory: memory}); got != tc.want {
				t.Errorf("%+v, limit %d: got the refit %q", tc, memory, got)
			}
		}
		s.Terms = []string{"store"}
		want := tc.want
		if tc.likelihood == spec.Auto {
			want = spec.Auto // the likelihood that is chosen decides
		}
		if got, planned := planRefit(s, data, train.Options{}); got.Fit.Refit != want || planned.Fit.Refit != tc.want {
			t.Errorf("%+v: given terms have the refit %q, planned %q", tc, got.Fit.Refit, planned.Fit.Refit)
		}
	}
}
