package experiment

import (
	"encoding/json"
	"slices"
)

// Usage is the time and memory that a piece of work took.
type Usage struct {
	Seconds float64 `json:"seconds"`        // wall-clock time, including reading
	CPU     float64 `json:"cpu_seconds"`    // user and system time
	PeakRSS int64   `json:"peak_rss_bytes"` // peak memory
}

// Add returns the usage of two pieces of work, one after the other.
func (u Usage) Add(v Usage) Usage {
	return Usage{Seconds: u.Seconds + v.Seconds, CPU: u.CPU + v.CPU, PeakRSS: max(u.PeakRSS, v.PeakRSS)}
}

// Measures are numbers, or lists of numbers, by name. The names are those of
// kft evaluate --json.
type Measures map[string]json.RawMessage

// A Cell is the result of one configuration on one split. A measure that a tool does
// not provide is absent or null.
type Cell struct {
	Configuration string            `json:"configuration"`
	Split         int               `json:"split"` // from 1
	Tool          string            `json:"tool"`
	Values        map[string]string `json:"values,omitempty"` // chosen by tuning
	Usage
	Definition string   `json:"definition"`        // hash of everything the result depends on
	Problem    string   `json:"problem,omitempty"` // why it failed; then there are no measures
	Valid      Measures `json:"valid,omitempty"`
	Test       Measures `json:"test,omitempty"`
	Formula    *Formula `json:"formula,omitempty"` // the best formula on the same split
}

// A Formula is the formula that a model is compared with, and its measures on the test
// set.
type Formula struct {
	Name string  `json:"name"`
	RMSE float64 `json:"rmse"`
	MAE  float64 `json:"mae"`
}

// A Tuning is the search of a configuration.
type Tuning struct {
	Configuration string `json:"configuration"`
	Tool          string `json:"tool"`
	Split         int    `json:"split"`
	Objective     string `json:"objective"`
	Trials        int    `json:"trials"`
	Usage
	Definition string            `json:"definition,omitempty"`
	Values     map[string]string `json:"values"`            // the best; nil until the search is finished
	Problem    string            `json:"problem,omitempty"` // why it failed

	name string // of its file, without .json
}

// A Plan is the part of an experiment that its table needs in addition to the cells.
type Plan struct {
	Name           string   `json:"name"`
	Configurations []string `json:"configurations"`
	Splits         int      `json:"splits"`
	Tuned          []string `json:"tuned"` // files in tuning that count, without .json; null if all do
	Against        string   `json:"against,omitempty"`
	Measures       []string `json:"measures"`
	Tables         []string `json:"tables,omitempty"` // subfolders with the results of several tables
}

// Results is the content of a folder of results.
type Results struct {
	Plan   Plan // zero if no experiment was run in the folder
	Cells  []Cell
	Tuning []Tuning
}

// configurations returns those of the plan in its order, then the others by name.
func (r Results) configurations() []string {
	names := slices.Clone(r.Plan.Configurations)
	var others []string
	for _, c := range r.Cells {
		if !slices.Contains(names, c.Configuration) && !slices.Contains(others, c.Configuration) {
			others = append(others, c.Configuration)
		}
	}
	slices.Sort(others)
	return append(names, others...)
}

// cells returns the cells of a configuration by split.
func (r Results) cells(configuration string) map[int]Cell {
	bySplit := map[int]Cell{}
	for _, c := range r.Cells {
		if c.Configuration == configuration {
			bySplit[c.Split] = c
		}
	}
	return bySplit
}

// splits returns the number of splits of the plan or, without a plan, the largest
// split of a cell.
func (r Results) splits() int {
	n := r.Plan.Splits
	if n > 0 {
		return n
	}
	for _, c := range r.Cells {
		n = max(n, c.Split)
	}
	return n
}

// tunings returns the searches that the cells of a configuration depend on. Files of
// searches of an earlier plan are left out.
func (r Results) tunings(configuration string) []Tuning {
	planned := r.Plan.Tuned != nil && slices.Contains(r.Plan.Configurations, configuration)
	var searches []Tuning
	for _, t := range r.Tuning {
		if t.Configuration == configuration && (!planned || slices.Contains(r.Plan.Tuned, t.name)) {
			searches = append(searches, t)
		}
	}
	return searches
}
