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
	better   int // +1 where more is better, -1 where less, 0 where neither
	decimals int
}

// measures are those a table can show: of the test part, and the work of a fit.
var measures = []measure{
	{"r2", "R2", +1, 4}, {"rmse", "RMSE", -1, 4}, {"mae", "MAE", -1, 4}, {"r2_scale", "R2 scale", +1, 4},
	{"xi", "Xi", -1, 4}, {"eta", "eta", -1, 4}, {"crps", "CRPS", -1, 4}, {"pinball", "pinball", -1, 4},
	{"coverage90", "coverage90", 0, 4}, {"width90", "width90", 0, 3}, {"winkler90", "Winkler90", -1, 3}, {"log_density", "log density", +1, 4},
	{"seconds", "s a fit", -1, 1}, {"cpu_seconds", "CPU s a fit", -1, 1}, {"memory", "MiB", -1, 0},
}

// DefaultMeasures are shown where none are named.
func DefaultMeasures() []string { return []string{"r2", "mae", "pinball", "xi", "seconds"} }

// CheckMeasure refuses a name that is no measure. One of the valid part has
// valid. before it.
func CheckMeasure(name string) error {
	if _, err := measureOf(name); err != nil {
		return err
	}
	return nil
}

func measureOf(name string) (measure, error) {
	bare, ofValid := strings.CutPrefix(name, "valid.")
	i := slices.IndexFunc(measures, func(m measure) bool { return m.name == bare })
	if i < 0 {
		var names []string
		for _, m := range measures {
			names = append(names, m.name)
		}
		return measure{}, fmt.Errorf("%q is not a measure%s; there are %s, and valid. before a name for the valid part", name, suggest.Hint(bare, names), strings.Join(names, ", "))
	}
	m := measures[i]
	if ofValid {
		m.name, m.title = name, "valid "+m.title
	}
	return m, nil
}

// of returns the measure of a cell; false where it has none.
func (m measure) of(c Cell) (float64, bool) {
	if c.Problem != "" {
		return 0, false
	}
	switch m.name {
	case "seconds":
		return c.Seconds, c.Seconds > 0 // 0 is not told
	case "cpu_seconds":
		return c.CPU, c.CPU > 0
	case "memory":
		return float64(c.PeakRSS) / (1 << 20), c.PeakRSS > 0
	}
	part := c.Test
	name, ofValid := strings.CutPrefix(m.name, "valid.")
	if ofValid {
		part = c.Valid
	}
	var v *float64
	if json.Unmarshal(part[name], &v) != nil || v == nil {
		return 0, false
	}
	return *v, !math.IsNaN(*v) && !math.IsInf(*v, 0)
}
