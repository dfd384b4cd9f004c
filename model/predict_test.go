package model_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
)

// Concurrent predictions equal the sequential ones bit for bit, for cells with known
// ids, with an id that has only side information, and with unseen ids.
func TestConcurrentPredictions(t *testing.T) {
	t.Parallel()
	for _, inference := range []string{"map", "mean-field"} {
		t.Run(inference, func(t *testing.T) {
			t.Parallel()
			m := fit(t, withSide(newSpec(inference)))
			requests := cells(13, 5, 3)
			requests = append(requests, model.Cell{"store": "s01", "item": "unseen", "time": "2024-01"})
			want := make([]model.Prediction, len(requests))
			for c, cell := range requests {
				p, err := m.Predict(t.Context(), []model.Cell{cell}, false)
				if err != nil {
					t.Fatal(err)
				}
				want[c] = p[0]
			}
			const workers = 8
			got := make([][]model.Prediction, workers)
			errs := make([]error, workers)
			var group sync.WaitGroup
			for w := range workers {
				group.Go(func() {
					got[w] = make([]model.Prediction, len(requests))
					for k := range requests {
						c := (k + w*len(requests)/workers) % len(requests) // each worker starts elsewhere
						p, err := m.Predict(t.Context(), requests[c:c+1], false)
						if err != nil {
							errs[w] = err
							return
						}
						got[w][c] = p[0]
					}
				})
			}
			group.Wait()
			for w := range workers {
				if errs[w] != nil {
					t.Fatal(errs[w])
				}
				for c := range requests {
					if !reflect.DeepEqual(got[w][c], want[c]) {
						t.Errorf("worker %d, cell %v: got %+v, want %+v", w, requests[c], got[w][c], want[c])
					}
				}
			}
		})
	}
}

// A prediction says which ids are unseen, and which are predicted from side
// information.
func TestOriginOfIDs(t *testing.T) {
	t.Parallel()
	m := fit(t, withSide(newSpec("mean-field")))
	for _, c := range []struct {
		store, item      string
		unseen, fromSide []string
	}{
		{"s01", "i01", nil, nil},
		{"s13", "i01", nil, []string{"store"}},
		{"s99", "i01", []string{"store"}, nil},
		{"s13", "i99", []string{"item"}, []string{"store"}},
	} {
		p, err := m.Predict(t.Context(), []model.Cell{{"store": c.store, "item": c.item, "time": "2024-01"}}, false)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p[0].Unseen, c.unseen) || !slices.Equal(p[0].FromSide, c.fromSide) {
			t.Errorf("%s, %s: got unseen %q and from side %q, want %q and %q", c.store, c.item, p[0].Unseen, p[0].FromSide, c.unseen, c.fromSide)
		}
		low, high := p[0].Interval(0.9)
		if !(low < p[0].Median && p[0].Median < high && p[0].SD > 0) {
			t.Errorf("%s, %s: got interval (%v, %v), median %v and sd %v", c.store, c.item, low, high, p[0].Median, p[0].SD)
		}
	}
}

func TestCellErrors(t *testing.T) {
	t.Parallel()
	m := fit(t, newSpec("map"))
	good := model.Cell{"store": "s01", "item": "i01", "time": "2024-01"}
	for _, c := range []struct {
		cell       model.Cell
		mode, want string
	}{
		{model.Cell{"store": "s01", "item": "i01"}, "time", `cell 2: no id for mode "time"`},
		{model.Cell{"store": "s01"}, "item", `cell 2: no id for mode "item", mode "time"; a cell needs store, item, time`},
		{model.Cell{"stor": "s01", "item": "i01", "time": "2024-01"}, "stor", `did you mean "store"`},
	} {
		requests := []model.Cell{good, c.cell}
		_, predictErr := m.Predict(t.Context(), requests, false)
		_, samplesErr := m.Samples(t.Context(), requests, 2)
		for name, err := range map[string]error{"Predict": predictErr, "Samples": samplesErr} {
			var cellErr *model.CellError
			if !errors.As(err, &cellErr) || cellErr.Cell != 1 || cellErr.Mode != c.mode || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s of %v: got error %v, want %s", name, c.cell, err, c.want)
			}
		}
	}
}

func TestStrictPrediction(t *testing.T) {
	t.Parallel()
	m := fit(t, withSide(newSpec("map")))
	requests := []model.Cell{
		{"store": "s01", "item": "i01", "time": "2024-01"},
		{"store": "s13", "item": "i01", "time": "2024-01"}, // has side information
		{"store": "s01", "item": "i99", "time": "2024-01"},
	}
	if _, err := m.Predict(t.Context(), requests[:2], true); err != nil {
		t.Errorf("known ids: got error %v, want none", err)
	}
	_, err := m.Predict(t.Context(), requests, true)
	var unseen *model.UnseenError
	if !errors.Is(err, model.ErrUnseenID) || !errors.As(err, &unseen) {
		t.Fatalf("unseen id: got error %v, want an UnseenError", err)
	}
	if want := (model.UnseenError{Row: 3, Unit: "cell", Mode: "item", ID: "i99"}); *unseen != want {
		t.Errorf("got %+v, want %+v", *unseen, want)
	}
	if got, want := err.Error(), `cell 3: mode item: the id "i99" is not in the training data`; got != want {
		t.Errorf("got message %q, want %q", got, want)
	}
}

func TestIntervalProbability(t *testing.T) {
	t.Parallel()
	for _, probability := range []float64{-0.1, 0, 1, 1.5, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "kft: the probability") {
					t.Errorf("Interval(%v): got panic %q, want one about the probability", probability, got)
				}
			}()
			model.Prediction{}.Interval(probability)
		}()
	}
}

func TestPredictCancelled(t *testing.T) {
	t.Parallel()
	m := fit(t, newSpec("map"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Predict(ctx, cells(1, 1, 1), false); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

// BenchmarkPredictOneCell measures a request for one cell, as a server gets it.
func BenchmarkPredictOneCell(b *testing.B) {
	for _, inference := range []string{"map", "mean-field"} {
		for _, month := range []string{"2024-01", "2025-01"} { // the second is not in the table
			b.Run(inference+"/"+month, func(b *testing.B) {
				m := fit(b, withCalendar(newSpec(inference)))
				cell := []model.Cell{{"store": "s01", "item": "i01", "time": month}}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Predict(b.Context(), cell, false); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
