package bench

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kernel-fried-tensor/kft"
)

// predictSeconds is the time allowed for predicting 3 million cells.
const predictSeconds = 6

// predict measures prediction from one CSV file to another. The model is fitted to
// a small sample of the table that contains all ids.
func (r *run) predict() error {
	file, small := filepath.Join(r.folder, "sales.csv"), filepath.Join(r.folder, "sample.csv")
	for name, text := range map[string][]byte{file: r.sales.text, small: r.sales.sample(100)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return err
		}
	}
	m, _, err := kft.Fit(r.ctx, kft.Spec{
		Data:  kft.DataSpec{Files: []string{small}, Target: "bottles", Modes: salesModes},
		Terms: []string{fmt.Sprintf("store,item,time:%d", r.sizes.predictionRank)},
		Fit:   kft.FitSpec{Ridge: "uniform", Lambda: kft.LambdaOf(1), Sweeps: 1},
	}, kft.Source{}, kft.Options{Threads: r.maxThreads()})
	if err != nil {
		return fmt.Errorf("bench: fit the model for predictions: %w", err)
	}
	cells := float64(len(r.sales.y))
	best, err := r.alternate(timed(cells, func() error { return r.predictFile(m, file) }))
	if err != nil {
		return err
	}
	r.add(Measure{Name: fmt.Sprintf("predict %s M cells CSV to CSV r=%d, %s", number(cells/1e6), r.sizes.predictionRank, onThreads(r.maxThreads())),
		Value: cells / best[0], Unit: "s", Target: atMost(predictSeconds * cells / 3e6)})
	r.add(Measure{Name: "predict: cells", Value: best[0] / 1e6, Unit: "M/s"})
	return nil
}

func (r *run) predictFile(m *kft.Model, file string) error {
	out, err := os.Create(filepath.Join(r.folder, "predicted.csv"))
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 1<<20)
	if _, err := m.PredictTable(r.ctx, kft.Files(file), w, kft.TableOptions{Threads: r.maxThreads()}); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return out.Close()
}
