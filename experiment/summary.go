package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// A Summary compares all configurations of a folder.
type Summary struct {
	Against string // the reference configuration of differences, "" for none
	Splits  int
	Rows    []Row
	Pairs   []Pair
	Failed  []Cell
	Missing []string // "configuration, split 3, 4"
	Extra   []string // the same for cells whose split is not in the plan; they do not count
	Mixed   []string // "configuration: by kft v1.0, kft v1.1" if its cells have different versions

	measures []measure
}

// A Row is one configuration over its splits. Times and memory are NaN if unknown.
type Row struct {
	Configuration string
	N             int        // number of cells with measures
	Values        []Estimate // by measure
	FitSeconds    float64    // mean of a fit
	TotalSeconds  float64    // all fits and tuning
	CPUSeconds    float64    // CPU time of all fits and tuning
	MemoryMiB     float64    // peak of any fit or of tuning
}

// An Estimate is the mean and the standard deviation of a sample.
type Estimate struct {
	N    int
	Mean float64
	SD   float64 // with n - 1; NaN for fewer than two values
}

// SE returns the standard error of the mean.
func (e Estimate) SE() float64 { return e.SD / math.Sqrt(float64(e.N)) }

// A Pair is the difference of a configuration minus the reference in one measure, on
// the splits that both have.
type Pair struct {
	Configuration string
	Measure       string
	Difference    Estimate
	// Verdict is better, worse, more or less if the mean is more than two standard
	// errors from 0, and "" otherwise.
	Verdict string

	measure measure
}

// T returns the mean difference in units of its standard error, NaN if that is not
// defined.
func (p Pair) T() float64 {
	if se := p.Difference.SE(); se > 0 {
		return p.Difference.Mean / se
	}
	return math.NaN()
}

// Summarize compares the configurations by the named measures and against a
// reference. Without names it uses the measures of the plan, or the default ones.
// Without a reference it uses that of the plan.
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
		return nil, fmt.Errorf("unknown configuration %q%s; the configurations are %s", against, suggest.Hint(against, configurations), joined(configurations))
	}
	reference := r.cells(s.Against)
	for _, c := range configurations {
		cells := r.cells(c)
		var extra []string
		for _, n := range slices.Sorted(maps.Keys(cells)) {
			if n > s.Splits {
				extra = append(extra, strconv.Itoa(n))
				delete(cells, n)
			}
		}
		if len(extra) > 0 {
			s.Extra = append(s.Extra, c+", split "+joined(extra))
		}
		if tools := toolsOf(cells); len(tools) > 1 {
			s.Mixed = append(s.Mixed, c+": by "+joined(tools))
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
			switch cell, found := cells[n]; {
			case !found:
				missing = append(missing, strconv.Itoa(n))
			case cell.Problem != "":
				s.Failed = append(s.Failed, cell)
			}
		}
		if len(missing) > 0 {
			s.Missing = append(s.Missing, c+", split "+joined(missing))
		}
	}
	return s, nil
}

// toolsOf returns the distinct tools of the cells that have a result.
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
	addUsage := func(u Usage) {
		row.TotalSeconds += u.Seconds
		row.CPUSeconds += u.CPU
		row.MemoryMiB = max(row.MemoryMiB, float64(u.PeakRSS)/(1<<20))
	}
	for _, t := range tuning {
		addUsage(t.Usage)
	}
	samples := make([][]float64, len(s.measures))
	var fits []float64
	for n := 1; n <= s.Splits; n++ { // in order, so that sums are reproducible
		c, found := cells[n]
		if !found || c.Problem != "" {
			continue
		}
		row.N++
		if c.Seconds > 0 {
			fits = append(fits, c.Seconds)
		}
		addUsage(c.Usage)
		for i, m := range s.measures {
			if v, ok := m.of(c); ok {
				samples[i] = append(samples[i], v)
			}
		}
	}
	row.FitSeconds = estimate(fits).Mean
	for _, v := range []*float64{&row.TotalSeconds, &row.CPUSeconds, &row.MemoryMiB} {
		if *v == 0 { // unknown
			*v = math.NaN()
		}
	}
	for _, sample := range samples {
		row.Values = append(row.Values, estimate(sample))
	}
	return row
}

// pair computes the differences on the splits that both have.
func pair(configuration string, m measure, cells, reference map[int]Cell) Pair {
	var differences []float64
	for _, n := range slices.Sorted(maps.Keys(cells)) {
		other, found := reference[n]
		if !found {
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

// estimate computes mean and standard deviation (with n - 1) in two passes.
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
