package evaluate

import "testing"

// With exposures formulas predict rates, and errors are those of the values.
func TestFormulaRows(t *testing.T) {
	t.Parallel()
	rows := formulaRows(Rows{Y: []float32{6, 8}, W: []float32{10, 30}, Exposure: []float32{3, 2}}, 0)
	if rows.Y[0] != 2 || rows.Y[1] != 4 || rows.W[0]/rows.W[1] != 0.5 || rows.W[0]+rows.W[1] != 2 || rows.Loss[0] != 90 || rows.Loss[1] != 120 {
		t.Errorf("got %+v", rows)
	}
}
