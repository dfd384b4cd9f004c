package train

import (
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/solver"
)

// Residuals returns the targets of rows less the predictions of a model, on the scale of the model. Of yes/no targets the prediction is a probability, and counts
// and their rates are on log1p.
func Residuals(m *model.Model, rows solver.Observations, threads int) ([]float64, error) {
	path, err := cpu.ChoosePath()
	if err != nil {
		return nil, err
	}
	z, scale := m.Moments(cpu.New(path, threads), rows.Codes), m.Scale()
	residuals := make([]float64, rows.Len())
	for i := range residuals {
		residuals[i] = scale.OnScale(rows.Target(i)) - scale.PredictionOnScale(z.Mean[i])
	}
	return residuals, nil
}
