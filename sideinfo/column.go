package sideinfo

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/words"
)

// column is the fitted encoder of one column of a table. A quantity becomes
// (x - mean) / sd, a cycle becomes cos and sin of 2 pi x / N, a category becomes 0 or
// 1 per level, and labels and words become 0 or scale per level.
//
// The total variance per column is at most 1, so that columns contribute equally to
// a distance. Two levels of a category are sqrt(2) apart, like two random z-scores
// on average. Labels and words are scaled down if their variances add up to more than 1.
type column struct {
	Name      string    `json:"name"`
	Type      Type      `json:"type"`
	Indicator bool      `json:"indicator,omitempty"` // the last column is 1 if the value is missing
	Bare      bool      `json:"bare,omitempty"`      // the indicator is the only column: the values carry no information
	Mean      []float64 `json:"mean,omitempty"`      // of the quantity, or of cosine and sine
	SD        float64   `json:"sd,omitempty"`
	Log1p     bool      `json:"log1p,omitempty"`
	Levels    []string  `json:"levels,omitempty"`  // levels with their own column
	Hashed    []string  `json:"hashed,omitempty"`  // levels that share Buckets columns
	Buckets   int       `json:"buckets,omitempty"` // number of columns of hashed levels
	Other     bool      `json:"other,omitempty"`   // there is a column for all other levels, including new ones
	Scale     float64   `json:"scale,omitempty"`   // value of a label that is present

	at map[string]int // column of each level and hashed level
}

// quantity parses a value of a type that has no levels. problem describes an invalid
// value, including one outside the domain of the type.
func quantity(t Type, text string) (v float64, problem string) {
	if t == Date {
		m, ok := dataset.Moment(text)
		if !ok {
			return 0, "the value is not a date or a time"
		}
		return float64(m.Unix()) / (24 * 60 * 60), ""
	}
	if t == Year {
		v, _ = yearOf(text)
		return v, ""
	}
	v, ok := dataset.Number(text)
	switch {
	case infinite(text):
		return 0, "the number is infinite or too large"
	case !ok:
		return 0, fmt.Sprintf("the value is not a number, as type %s requires", t)
	case t == Log && v < 0:
		return 0, "a negative number has no logarithm"
	}
	return v, ""
}

// infinite reports whether a text is a number beyond the range of float32.
func infinite(text string) bool {
	v, _ := strconv.ParseFloat(text, 64)
	return math.Abs(v) > math.MaxFloat32
}

const quantityRemedy = "correct the value, leave it empty, or give the column another type"

// index builds the map from levels to columns.
func (c *column) index() {
	c.at = make(map[string]int, len(c.Levels)+len(c.Hashed))
	for i, level := range c.Levels {
		c.at[level] = i
	}
	for _, level := range c.Hashed {
		c.at[level] = len(c.Levels) + bucket(level, c.Buckets)
	}
}

// bucket returns the hash bucket of a level. It is the same on every machine.
func bucket(level string, buckets int) int {
	h := fnv.New64a()
	h.Write([]byte(level))
	return int(h.Sum64() % uint64(buckets))
}

// names returns the names of the encoded columns.
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

// encode writes the encoded columns of a value to dst, which is zero. problem
// describes an invalid value.
func (c *column) encode(dst []float32, text string) (problem string) {
	missing := c.Type.missing(text)
	if missing && c.Indicator {
		dst[len(dst)-1] = 1
	}
	switch {
	case c.Bare:
	case c.Type.several():
		if !missing {
			for _, label := range c.Type.split(text) {
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

// place returns the column of a level, or -1 if it has none.
func (c *column) place(level string) int {
	if at, ok := c.at[level]; ok {
		return at
	}
	if c.Other {
		return len(c.Levels) + c.Buckets
	}
	return -1
}

// transform takes the logarithm for columns of type log.
func (c *column) transform(v float64) (float64, string) {
	switch {
	case c.Type != Log:
		return v, ""
	case c.Log1p:
		return math.Log1p(v), ""
	case v == 0:
		return 0, "zero has no logarithm, and the column had no 0 when the encoder was fitted"
	}
	return math.Log(v), ""
}

func onCircle(v, period float64) (cosine, sine float64) {
	sine, cosine = math.Sincos(2 * math.Pi * math.Mod(v, period) / period)
	return cosine, sine
}

// split returns the distinct levels of a value of a type with several.
func (t Type) split(text string) []string {
	if t == Words {
		return words.Split(text)
	}
	var labels []string
	for label := range strings.SplitSeq(text, "|") {
		if label = strings.TrimSpace(label); label != "" && !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	return labels
}
