package train

import (
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/model"
)

// Residuals returns the codes of at most n training rows, and their targets less the predictions of
// a model, on the scale of the model. Of yes/no targets the prediction is a probability, and counts
// and their rates are on log1p.
func (d *Data) Residuals(m *model.Model, n int, seed uint64, threads int) (codes [][]int32, residuals []float64, err error) {
	path, err := cpu.ChoosePath()
	if err != nil {
		return nil, nil, err
	}
	rows := d.Sample(n, seed)
	z, scale := m.Moments(cpu.New(path, threads), rows.Codes), m.Scale()
	residuals = make([]float64, rows.Len())
	for i := range residuals {
		residuals[i] = scale.OnScale(rows.Target(i)) - scale.PredictionOnScale(z.Mean[i])
	}
	return rows.Codes, residuals, nil
}
