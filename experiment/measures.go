package experiment

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// A measure is a column of the table.
type measure struct {
	name     string
	title    string
	better   int // +1 if larger is better, -1 if smaller is better, 0 if neither
	decimals int
}

// measures are the columns that a table can show: measures on the test set, and the
// time and memory of a fit.
var measures = []measure{
	{"r2", "R2", +1, 4}, {"rmse", "RMSE", -1, 4}, {"mae", "MAE", -1, 4}, {"r2_scale", "R2 scale", +1, 4},
	{"xi", "Xi", -1, 4}, {"eta", "eta", -1, 4}, {"crps", "CRPS", -1, 4}, {"pinball", "pinball", -1, 4},
	{"coverage90", "coverage90", 0, 4}, {"width90", "width90", 0, 3}, {"winkler90", "Winkler90", -1, 3}, {"log_density", "log density", +1, 4},
	{"seconds", "s per fit", -1, 1}, {"cpu_seconds", "CPU s per fit", -1, 1}, {"memory", "MiB", -1, 0},
}

// DefaultMeasures returns the measures that a table shows unless others are named.
func DefaultMeasures() []string { return []string{"r2", "mae", "pinball", "xi", "seconds"} }

// CheckMeasure returns an error for a name that is not a measure. Names of measures
// on the validation set start with "valid.".
func CheckMeasure(name string) error {
	_, err := measureOf(name)
	return err
}

func measureOf(name string) (measure, error) {
	base, onValidation := strings.CutPrefix(name, "valid.")
	i := slices.IndexFunc(measures, func(m measure) bool { return m.name == base })
	if i < 0 {
		var names []string
		for _, m := range measures {
			names = append(names, m.name)
		}
		return measure{}, fmt.Errorf("unknown measure %q%s; use one of %s, with the prefix valid. for the validation set", name, suggest.Hint(base, names), strings.Join(names, ", "))
	}
	m := measures[i]
	if onValidation {
		m.name, m.title = name, "valid "+m.title
	}
	return m, nil
}

// of returns the measure of a cell, and whether the cell has it.
func (m measure) of(c Cell) (float64, bool) {
	if c.Problem != "" {
		return 0, false
	}
	switch m.name {
	case "seconds":
		return c.Seconds, c.Seconds > 0 // 0 means unknown
	case "cpu_seconds":
		return c.CPU, c.CPU > 0
	case "memory":
		return float64(c.PeakRSS) / (1 << 20), c.PeakRSS > 0
	}
	from := c.Test
	name, onValidation := strings.CutPrefix(m.name, "valid.")
	if onValidation {
		from = c.Valid
	}
	var v *float64
	if json.Unmarshal(from[name], &v) != nil || v == nil {
		return 0, false
	}
	return *v, !math.IsNaN(*v) && !math.IsInf(*v, 0)
}
