package bench

import (
	"errors"
	"testing"
)

func TestAlternationReturnsTheBest(t *testing.T) {
	r := &run{ctx: t.Context(), sizes: sizes{repetitions: 3}}
	var order []string
	named := func(name string, speeds ...float64) candidate {
		return func() (float64, error) {
			order = append(order, name)
			speed := speeds[0]
			speeds = speeds[1:]
			return speed, nil
		}
	}
	best, err := r.alternate(named("a", 1, 3, 2), named("b", 6, 5, 4))
	if err != nil {
		t.Fatal(err)
	}
	if best[0] != 3 || best[1] != 6 {
		t.Errorf("got %v, want [3 6]", best)
	}
	for i, name := range order {
		if name != []string{"a", "b"}[i%2] || len(order) != 6 {
			t.Fatalf("got order %v, want a and b three times", order)
		}
	}
}

func TestAlternationStopsAtAnError(t *testing.T) {
	r := &run{ctx: t.Context(), sizes: sizes{repetitions: 3}}
	trouble := errors.New("trouble")
	runs := 0
	work := func() error { runs++; return trouble }
	if _, err := r.alternate(timed(1, work)); !errors.Is(err, trouble) {
		t.Errorf("got error %v, want %v", err, trouble)
	}
	if runs != 1 {
		t.Errorf("got %d runs, want 1", runs)
	}
}
