package tune_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/kernel-fried-tensor/kft/tune"
)

func Example() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "study")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	store, err := tune.OpenSQLite(ctx, filepath.Join(folder, "study.db"), 0)
	if err != nil {
		panic(err)
	}
	defer store.Close()
	def := tune.Definition{
		Space:   tune.Space{{Name: "rank", Kind: tune.LogInteger, Low: 1, High: 64}},
		Goal:    tune.Minimize,
		Sampler: "tpe",
		Seed:    1,
	}
	study, err := tune.Open(ctx, store, def)
	if err != nil {
		panic(err)
	}
	var last tune.Report
	err = study.Work(ctx, 30, tune.Worker{
		Objective: func(_ context.Context, t tune.Trial) (float64, error) {
			return math.Abs(float64(t.Values.Int("rank")) - 20), nil
		},
		OnEnd: func(r tune.Report) { last = r },
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(last.Finished, "trials, best rank", last.Best.Values["rank"])
	// Output: 30 trials, best rank 20
}
