package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// A Summary is the comparison of all configurations of a folder.
type Summary struct {
	Against string // the reference of differences, "" for none
	Splits  int
	Rows    []Row
	Pairs   []Pair
	Failed  []Cell
	Missing []string // "configuration, split 3, 4"
	Beyond  []string // the same of cells that the plan has no such split for; they do not count
	Mixed   []string // "configuration: by kft v1.0, kft v1.1", where versions differ

	measures []measure
}

// A Row is one configuration over its splits.
type Row struct {
	Configuration string
	N             int        // cells with measures
	Values        []Estimate // by measure
	Fit           float64    // mean seconds of a fit; NaN without any
	Total         float64    // seconds of all fits and of tuning; NaN where none are told
	CPU           float64    // the same, of processor time
	Memory        float64    // the most that any of them held, MiB; NaN where that is not told
}

// An Estimate is the mean of a sample with its spread.
type Estimate struct {
	N    int
	Mean float64
	SD   float64 // of the sample; NaN below two
}

// SE is the standard error of the mean.
func (e Estimate) SE() float64 { return e.SD / math.Sqrt(float64(e.N)) }

// A Pair is a configuration less the reference on the splits that both have.
type Pair struct {
	Configuration string
	Measure       string
	Difference    Estimate
	// Verdict is better, worse, more or less where the mean is further than two
	// standard errors from 0, else "".
	Verdict string

	measure measure
}

// T is the mean difference in standard errors; NaN where that is not defined.
func (p Pair) T() float64 {
	if se := p.Difference.SE(); se > 0 {
		return p.Difference.Mean / se
	}
	return math.NaN()
}

// Summarize compares the configurations by measures, the plan's or the default
// ones where none are named, and against the reference, the plan's where none is.
func Summarize(r Results, names []string, against string) (*Summary, error) {
	if len(names) == 0 {
		names = r.Plan.Measures
	}
	if len(names) == 0 {
		names = DefaultMeasures()
	}
	s := &Summary{Against: against, Splits: r.splits()}
	for _, name := range names {
		m, err := measureOf(name)
		if err != nil {
			return nil, err
		}
		s.measures = append(s.measures, m)
	}
	configurations := r.configurations()
	if s.Against == "" {
		s.Against = r.Plan.Against
	} else if !slices.Contains(configurations, against) {
		return nil, fmt.Errorf("there is no configuration %q%s; there are %s", against, suggest.Hint(against, configurations), strings.Join(configurations, ", "))
	}
	reference := r.cells(s.Against)
	for _, c := range configurations {
		cells := r.cells(c)
		var beyond []string
		for _, n := range slices.Sorted(maps.Keys(cells)) {
			if n > s.Splits {
				beyond = append(beyond, strconv.Itoa(n))
				delete(cells, n)
			}
		}
		if len(beyond) > 0 {
			s.Beyond = append(s.Beyond, c+", split "+strings.Join(beyond, ", "))
		}
		if tools := toolsOf(cells); len(tools) > 1 {
			s.Mixed = append(s.Mixed, c+": by "+strings.Join(tools, ", "))
		}
		s.Rows = append(s.Rows, s.row(c, cells, r.tunings(c)))
		if s.Against != "" && c != s.Against {
			for _, m := range s.measures {
				if p := pair(c, m, cells, reference); p.Difference.N > 0 {
					s.Pairs = append(s.Pairs, p)
				}
			}
		}
		var missing []string
		for n := 1; n <= s.Splits; n++ {
			switch cell, there := cells[n]; {
			case !there:
				missing = append(missing, strconv.Itoa(n))
			case cell.Problem != "":
				s.Failed = append(s.Failed, cell)
			}
		}
		if len(missing) > 0 {
			s.Missing = append(s.Missing, c+", split "+strings.Join(missing, ", "))
		}
	}
	return s, nil
}

// toolsOf are the tools of cells that have a result, each once.
func toolsOf(cells map[int]Cell) []string {
	var tools []string
	for _, c := range cells {
		if c.Problem == "" {
			tools = append(tools, c.Tool)
		}
	}
	slices.Sort(tools)
	return slices.Compact(tools)
}

func (s *Summary) row(configuration string, cells map[int]Cell, tuning []Tuning) Row {
	row := Row{Configuration: configuration}
	work := func(u Usage) {
		row.Total += u.Seconds
		row.CPU += u.CPU
		row.Memory = max(row.Memory, float64(u.PeakRSS)/(1<<20))
	}
	for _, t := range tuning {
		work(t.Usage)
	}
	samples := make([][]float64, len(s.measures))
	var fits []float64
	for n := 1; n <= s.Splits; n++ { // in order, so that sums are the same each time
		c, there := cells[n]
		if !there || c.Problem != "" {
			continue
		}
		row.N++
		if c.Seconds > 0 {
			fits = append(fits, c.Seconds)
		}
		work(c.Usage)
		for i, m := range s.measures {
			if v, ok := m.of(c); ok {
				samples[i] = append(samples[i], v)
			}
		}
	}
	row.Fit = estimate(fits).Mean
	for _, v := range []*float64{&row.Total, &row.CPU, &row.Memory} {
		if *v == 0 { // nothing was told
			*v = math.NaN()
		}
	}
	for _, sample := range samples {
		row.Values = append(row.Values, estimate(sample))
	}
	return row
}

// pair takes differences on the splits that both have.
func pair(configuration string, m measure, cells, reference map[int]Cell) Pair {
	var differences []float64
	splits := make([]int, 0, len(cells))
	for n := range cells {
		splits = append(splits, n)
	}
	slices.Sort(splits)
	for _, n := range splits {
		other, there := reference[n]
		if !there {
			continue
		}
		a, okA := m.of(cells[n])
		b, okB := m.of(other)
		if okA && okB {
			differences = append(differences, a-b)
		}
	}
	p := Pair{Configuration: configuration, Measure: m.name, Difference: estimate(differences), measure: m}
	p.Verdict = p.verdict()
	return p
}

func (p Pair) verdict() string {
	mean, se := p.Difference.Mean, p.Difference.SE()
	if math.IsNaN(se) || !(math.Abs(mean) > 2*se) {
		return ""
	}
	sign := +1
	if mean < 0 {
		sign = -1
	}
	switch p.measure.better * sign {
	case +1:
		return "better"
	case -1:
		return "worse"
	}
	return map[int]string{+1: "more", -1: "less"}[sign]
}

// estimate returns mean and standard deviation (with n - 1), by two passes.
func estimate(sample []float64) Estimate {
	e := Estimate{N: len(sample), Mean: math.NaN(), SD: math.NaN()}
	if e.N == 0 {
		return e
	}
	sum := 0.0
	for _, v := range sample {
		sum += v
	}
	e.Mean = sum / float64(e.N)
	if e.N < 2 {
		return e
	}
	squares := 0.0
	for _, v := range sample {
		squares += (v - e.Mean) * (v - e.Mean)
	}
	e.SD = math.Sqrt(squares / float64(e.N-1))
	return e
}
