package sideinfo

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// column is the encoder of one column, fitted. A quantity becomes (x - mean) / sd,
// a cycle cos and sin of 2 pi x / N, a category a 0 or 1 a level, labels a 0 or
// scale a level.
//
// So that columns weigh alike in a distance, each has a total variance of 1, or of
// at most 1: two levels of a category are sqrt(2) apart, as two random z-scores
// are on average, and labels are scaled down where their variances add up to more.
type column struct {
	Name      string    `json:"name"`
	Type      Type      `json:"type"`
	Indicator bool      `json:"indicator,omitempty"` // a last column is 1 where the value is missing
	Bare      bool      `json:"bare,omitempty"`      // that column is all: the values themselves say nothing
	Mean      []float64 `json:"mean,omitempty"`      // of the quantity, or of cosine and sine
	SD        float64   `json:"sd,omitempty"`
	Log1p     bool      `json:"log1p,omitempty"`
	Levels    []string  `json:"levels,omitempty"`  // with a column of their own
	Hashed    []string  `json:"hashed,omitempty"`  // levels that share Buckets columns
	Buckets   int       `json:"buckets,omitempty"` // columns of hashed levels
	Other     bool      `json:"other,omitempty"`   // a column of all other levels, new ones too
	Scale     float64   `json:"scale,omitempty"`   // of labels

	at map[string]int // column of each level and hashed level
}

// quantity reads a value of a type that is not a category, as a number on which
// the type's function is defined; problem says what is wrong with it.
func quantity(t Type, text string) (v float64, problem string) {
	if t == Date {
		m, ok := dataset.Moment(text)
		if !ok {
			return 0, "this is not a date or a time"
		}
		return float64(m.Unix()) / (24 * 60 * 60), ""
	}
	v, ok := dataset.Number(text)
	switch {
	case infinite(text):
		return 0, "this number is infinite, or too large"
	case !ok:
		return 0, fmt.Sprintf("this is not a number, which %s needs", t)
	case t == Log && v < 0:
		return 0, "a negative number has no logarithm"
	}
	return v, ""
}

// infinite tells whether a text is a number that has no finite value here.
func infinite(text string) bool {
	v, _ := strconv.ParseFloat(text, 64)
	return math.Abs(v) > math.MaxFloat32
}

const quantityRemedy = "mend it, leave it empty, or give the column another type"

// index makes the map from levels to columns.
func (c *column) index() {
	c.at = make(map[string]int, len(c.Levels)+len(c.Hashed))
	for i, level := range c.Levels {
		c.at[level] = i
	}
	for _, level := range c.Hashed {
		c.at[level] = len(c.Levels) + bucket(level, c.Buckets)
	}
}

// bucket hashes a level; the same on every machine.
func bucket(level string, buckets int) int {
	h := fnv.New64a()
	h.Write([]byte(level))
	return int(h.Sum64() % uint64(buckets))
}

// names returns the names of the columns it becomes.
func (c *column) names() []string {
	var names []string
	switch {
	case c.Bare:
	case c.Type.levelled():
		for _, level := range c.Levels {
			names = append(names, c.Name+"="+level)
		}
		for b := range c.Buckets {
			names = append(names, fmt.Sprintf("%s #%d", c.Name, b+1))
		}
		if c.Other {
			names = append(names, c.Name+" other")
		}
	case c.Type.period() > 0:
		names = append(names, c.Name+" cos", c.Name+" sin")
	default:
		names = append(names, c.Name)
	}
	if c.Indicator {
		names = append(names, c.Name+" missing")
	}
	return names
}

// encode writes the columns of a value to dst, which is zero.
func (c *column) encode(dst []float32, text string) (problem string) {
	missing := dataset.Missing(text)
	if missing && c.Indicator {
		dst[len(dst)-1] = 1
	}
	switch {
	case c.Bare:
	case c.Type == Labels:
		if !missing {
			for _, label := range splitLabels(text) {
				if at := c.place(label); at >= 0 {
					dst[at] = float32(c.Scale)
				}
			}
		}
	case c.Type == Cat:
		if at := c.place(text); !missing && at >= 0 {
			dst[at] = 1
		}
	case c.Type.period() > 0:
		cosine, sine := c.Mean[0], c.Mean[1]
		if !missing {
			v, problem := quantity(c.Type, text)
			if problem != "" {
				return problem
			}
			cosine, sine = onCircle(v, c.Type.period())
		}
		dst[0], dst[1] = float32(cosine), float32(sine)
	case !missing: // the mean is 0
		v, problem := quantity(c.Type, text)
		if problem != "" {
			return problem
		}
		if v, problem = c.transform(v); problem != "" {
			return problem
		}
		dst[0] = float32((v - c.Mean[0]) / c.SD)
	}
	return ""
}

// place returns the column of a level, or -1 where it has none.
func (c *column) place(level string) int {
	if at, ok := c.at[level]; ok {
		return at
	}
	if c.Other {
		return len(c.Levels) + c.Buckets
	}
	return -1
}

// transform takes the logarithm where the type asks for it.
func (c *column) transform(v float64) (float64, string) {
	switch {
	case c.Type != Log:
		return v, ""
	case c.Log1p:
		return math.Log1p(v), ""
	case v == 0:
		return 0, "zero has no logarithm, and no value was 0 when the column was fitted"
	}
	return math.Log(v), ""
}

func onCircle(v, period float64) (cosine, sine float64) {
	sine, cosine = math.Sincos(2 * math.Pi * math.Mod(v, period) / period)
	return cosine, sine
}

// splitLabels returns the different labels of a field.
func splitLabels(text string) []string {
	var labels []string
	for label := range strings.SplitSeq(text, "|") {
		if label = strings.TrimSpace(label); label != "" && !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	return labels
}
