package bench

import (
	"errors"
	"testing"
)

func TestContestTakesTurnsAndTheBest(t *testing.T) {
	r := &run{ctx: t.Context(), sizes: sizes{turns: 3}}
	var order []string
	named := func(name string, speeds ...float64) contender {
		return func() (float64, error) {
			order = append(order, name)
			speed := speeds[0]
			speeds = speeds[1:]
			return speed, nil
		}
	}
	best, err := r.contest(named("a", 1, 3, 2), named("b", 6, 5, 4))
	if err != nil {
		t.Fatal(err)
	}
	if best[0] != 3 || best[1] != 6 {
		t.Errorf("best %v, want [3 6]", best)
	}
	for i, name := range order {
		if name != []string{"a", "b"}[i%2] || len(order) != 6 {
			t.Fatalf("turns %v", order)
		}
	}
}

func TestContestEndsWithAnError(t *testing.T) {
	r := &run{ctx: t.Context(), sizes: sizes{turns: 3}}
	trouble := errors.New("trouble")
	runs := 0
	work := func() error { runs++; return trouble }
	if _, err := r.contest(timed(1, work)); !errors.Is(err, trouble) {
		t.Errorf("contest: error %v", err)
	}
	if runs != 1 {
		t.Errorf("%d turns after an error", runs)
	}
}
