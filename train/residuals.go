package train

import (
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/model"
)

// Residuals returns the codes of at most n training rows, and their targets less the means of a model, on the scale of the model.
func (d *Data) Residuals(m *model.Model, n int, seed uint64, threads int) (codes [][]int32, residuals []float64, err error) {
	path, err := cpu.ChoosePath()
	if err != nil {
		return nil, nil, err
	}
	rows := d.Sample(n, seed)
	z, scale := m.Moments(cpu.New(path, threads), rows.Codes), m.Scale()
	residuals = make([]float64, rows.Len())
	for i := range residuals {
		residuals[i] = scale.OnScale(rows.Target(i)) - scale.Location(z.Mean[i])
	}
	return rows.Codes, residuals, nil
}
