package tune

import (
	"errors"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// studyOf returns a study of uniformly sampled trials scored by a function.
func studyOf(space Space, trials int, score func(Values) (float64, error)) Record {
	r := Record{Definition: facts(Definition{Space: space, Goal: Minimize, Sampler: "random"}.String())}
	for i := range trials {
		t := Trial{Number: i, State: Done, Values: Random{Seed: 3}.Propose(space, i, nil)}
		s, err := score(t.Values)
		if t.Score = &s; err != nil {
			t.State, t.Score, t.Problem = Failed, nil, err.Error()
		}
		r.Trials = append(r.Trials, t)
	}
	return r
}

func shares(t *testing.T, r Record) (byName map[string]float64, order []Importance) {
	t.Helper()
	order, err := r.Importances()
	if err != nil {
		t.Fatal(err)
	}
	byName = map[string]float64{}
	for _, i := range order {
		byName[i.Name] = i.Share
	}
	return byName, order
}

func TestImportanceFindsRelevantParameter(t *testing.T) {
	for _, c := range []struct {
		name  string
		score func(Values) float64
	}{
		{"kernel", func(v Values) float64 {
			return map[string]float64{"rbf": 1, "matern32": 0, "periodic:12": 2}[v["kernel"]]
		}},
		{"depth", func(v Values) float64 { return math.Abs(v.Float("depth") - 1) }},
		{"rank", func(v Values) float64 { return math.Abs(math.Log(v.Float("rank") / 8)) }},
		{"share", func(v Values) float64 { return v.Float("share") }},
		{"lambda", func(v Values) float64 { return -math.Log(v.Float("lambda")) }},
	} {
		for _, trials := range []int{24, 100} {
			noise := randstream.New(1, "test importance")
			byName, order := shares(t, studyOf(mixed(), trials, func(v Values) (float64, error) { return c.score(v) + 0.01*noise.NormFloat64(), nil }))
			if order[0].Name != c.name || order[0].Share < 0.6 || order[1].Share > 0.2 || len(byName) != len(mixed()) {
				t.Errorf("only %s matters, %d trials: got %v", c.name, trials, order)
			}
		}
	}
}

func TestImportanceOfTwoOrNoParameters(t *testing.T) {
	byName, order := shares(t, studyOf(mixed(), 100, func(v Values) (float64, error) {
		return 2*v.Float("share") + math.Log(v.Float("lambda"))/20, nil
	}))
	if order[0].Name != "share" || order[1].Name != "lambda" || byName["lambda"] < 0.05 || order[2].Share > 0.05 {
		t.Errorf("share and lambda matter: got %v", order)
	}
	noise := randstream.New(1, "test importance")
	if _, order := shares(t, studyOf(mixed(), 100, func(Values) (float64, error) { return noise.Float64(), nil })); order[0].Share > 0.1 {
		t.Errorf("nothing matters: got %v, want shares near 0", order)
	}
	// A parameter that never varied has no importance.
	r := studyOf(mixed(), 30, func(v Values) (float64, error) { return v.Float("share"), nil })
	for _, trial := range r.Trials {
		trial.Values["kernel"] = "rbf"
	}
	if byName, _ := shares(t, r); byName["kernel"] > 1e-12 {
		t.Errorf("constant parameter: got %v, want 0 for kernel", byName)
	}
}

func TestImportanceOfFailures(t *testing.T) {
	byName, order := shares(t, studyOf(mixed(), 60, func(v Values) (float64, error) {
		if v["kernel"] == "rbf" {
			return 0, errors.New("no rbf")
		}
		return v.Float("depth"), nil
	}))
	if order[0].Name != "kernel" || order[1].Name != "depth" || byName["kernel"] < 0.4 {
		t.Errorf("got %v, want kernel and depth first", order)
	}
}

func TestImportanceIsUndefined(t *testing.T) {
	score := func(v Values) (float64, error) { return v.Float("share"), nil }
	for what, r := range map[string]Record{
		"few trials": studyOf(mixed(), MinTrialsForImportance-1, score),
		"ties":       studyOf(mixed(), 30, func(Values) (float64, error) { return 1, nil }),
		"failures":   studyOf(mixed(), 30, func(Values) (float64, error) { return 0, errors.New("no") }),
	} {
		if all, err := r.Importances(); all != nil || err != nil {
			t.Errorf("%s: got %v, %v, want nil", what, all, err)
		}
	}
	if all, err := studyOf(mixed(), MinTrialsForImportance, score).Importances(); len(all) != len(mixed()) || err != nil {
		t.Errorf("%d trials: got %v, %v, want all parameters", MinTrialsForImportance, all, err)
	}
}

func TestRanks(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	trials := []Trial{
		{State: Done, Score: value(2)}, {State: Failed}, {State: Done, Score: value(5)}, {State: Done, Score: value(2)}, {State: Failed},
		{State: Pruned, Score: value(1), Rungs: make([]Rung, 1)}, {State: Pruned, Score: value(9), Rungs: make([]Rung, 2)}, {State: Pruned, Score: value(3), Rungs: make([]Rung, 1)},
	}
	for goal, want := range map[Goal][]float64{Minimize: {0.5, 6.5, 2, 0.5, 6.5, 4, 3, 5}, Maximize: {1.5, 6.5, 0, 1.5, 6.5, 5, 3, 4}} {
		got := Definition{Goal: goal}.ranks(trials)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s: got %v, want %v", goal, got, want)
			}
		}
	}
}
