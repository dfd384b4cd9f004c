package model_test

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"sync"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
)

// withCalendar adds side information of the months that is computed from their ids.
func withCalendar(s spec.Spec) spec.Spec {
	s.Side.Tables = []string{"time=@year,@month:cycle12"}
	s.Side.Variant = ""
	s.Fill()
	return s
}

// Months after the fitted ones are predicted from their side information. The result
// does not depend on the calls before, nor on calls at the same time.
func TestFutureMonths(t *testing.T) {
	t.Parallel()
	for _, inference := range []string{"map", "mean-field"} {
		t.Run(inference, func(t *testing.T) {
			t.Parallel()
			m := fit(t, withCalendar(newSpec(inference)))
			var file bytes.Buffer
			if _, err := m.WriteTo(&file); err != nil {
				t.Fatal(err)
			}
			requests := make([]model.Cell, 24)
			want := make([]model.Prediction, len(requests))
			for i := range requests {
				requests[i] = model.Cell{"store": "s01", "item": "i01", "time": fmt.Sprintf("%d-%02d", 2024+i/12, i%12+1)}
				fresh, err := model.Read(bytes.NewReader(file.Bytes()), "model")
				if err != nil {
					t.Fatal(err)
				}
				p, err := fresh.Predict(t.Context(), requests[i:i+1], false)
				if err != nil {
					t.Fatal(err)
				}
				want[i] = p[0]
			}
			if got := want[13].FromSide; !reflect.DeepEqual(got, []string{"time"}) {
				t.Fatalf("2025-02: got modes %q from side information, want time", got)
			}
			var group sync.WaitGroup
			for w := range 4 {
				group.Go(func() {
					for k := range requests {
						i := (5*k + 7*w) % len(requests)
						got, err := m.Predict(t.Context(), requests[i:i+1], false)
						if err != nil {
							t.Error(err)
							return
						}
						if !reflect.DeepEqual(got[0], want[i]) {
							t.Errorf("%v: got %+v, want %+v", requests[i], got[0], want[i])
						}
					}
				})
			}
			group.Wait()
			got, err := m.Predict(t.Context(), requests, false)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got { // the order of multiplications depends on the cells of a call
				if math.Abs(got[i].Mean-want[i].Mean) > 1e-5*want[i].Mean || math.Abs(got[i].SD-want[i].SD) > 1e-5*want[i].SD {
					t.Errorf("%v with others: got %v ± %v, want %v ± %v", requests[i], got[i].Mean, got[i].SD, want[i].Mean, want[i].SD)
				}
			}
			var again bytes.Buffer
			if _, err := m.WriteTo(&again); err != nil || !bytes.Equal(again.Bytes(), file.Bytes()) {
				t.Errorf("the predictions changed the model file (%v)", err)
			}
		})
	}
}
