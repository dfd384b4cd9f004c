// Package bench measures the speed of kft as ratios that carry over to other
// machines: a kernel relative to the peak multiply-add rate of the CPU, a
// function or a reader relative to the standard library, a large table relative to
// a small one. Both sides of a ratio are measured in one run, alternating, and the
// best repetition of each counts, because other programs can only slow it down.
package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// Options selects what to measure.
type Options struct {
	// Quick uses fewer repetitions and omits the largest table; takes about 20 s.
	Quick bool
	// Data is a folder with the table sales_2015_2016.csv.gz (columns year,
	// month, store, item, bottles). If it is empty or has no such table, a
	// synthetic table of the same shape is used.
	Data string
	// Threads is the number of threads for the parallel measurements; 0 means
	// GOMAXPROCS.
	Threads int
	// Only selects one of Groups; empty means all.
	Only string
	// Progress is called with the name of each group before it starts; may be nil.
	Progress func(string)
}

// Result holds the measurements and the environment of a run.
type Result struct {
	Path     string    `json:"cpu"`
	Threads  int       `json:"threads"`
	OS       string    `json:"goos"`
	Arch     string    `json:"goarch"`
	Go       string    `json:"go"`
	Table    string    `json:"table"`
	Quick    bool      `json:"quick"`
	Seconds  float64   `json:"seconds"`
	Measures []Measure `json:"measures"`
}

// Measure is one measurement.
type Measure struct {
	Group string  `json:"group"`
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`

	// Ratio compares the measurement with the reference named by RatioOf. Both
	// are empty if there is no reference.
	Ratio   float64 `json:"ratio,omitempty"`
	RatioOf string  `json:"ratio_of,omitempty"`

	// Target bounds the ratio, or the value if there is no ratio. OK reports
	// whether it is reached. Both are nil for informative measurements.
	Target *Target `json:"target,omitempty"`
	OK     *bool   `json:"ok,omitempty"`
}

// Target is a one-sided bound; the other side is zero.
type Target struct {
	AtLeast float64 `json:"at_least,omitempty"`
	AtMost  float64 `json:"at_most,omitempty"`
}

func atLeast(x float64) *Target { return &Target{AtLeast: x} }
func atMost(x float64) *Target  { return &Target{AtMost: x} }

func (t Target) reached(x float64) bool {
	if t.AtMost != 0 {
		return x <= t.AtMost
	}
	return x >= t.AtLeast
}

// Run takes all measurements. It stops between repetitions when ctx is cancelled.
func Run(ctx context.Context, opt Options) (*Result, error) {
	return measure(ctx, opt, sizesFor(opt.Quick))
}

// sizes determines the amount of work of a run.
type sizes struct {
	stores, items, months, cells int // of a synthetic table

	square         int   // rows of a square GEMM
	tall, outer    int   // long sides of GEMMs with a short side of 64
	batched        int   // numbers in a batch of small matrices
	ranks          []int // ranks of the tensor trains
	rowRanks       []int // ranks for which the normal equations of outer cores are measured
	numbers        int   // arguments per slice
	scaling        []int // approximate cells of the tables of increasing size
	scalingRank    int
	predictionRank int

	repetitions int           // minimum number of repetitions
	minTime     time.Duration // minimum duration
}

func sizesFor(quick bool) sizes {
	s := sizes{
		stores: 1507, items: 4563, months: 24, cells: 3028076,
		square: 1024, tall: 100000, outer: 10000, batched: 1 << 16,
		ranks: []int{8, 16, 32, 64}, rowRanks: []int{8, 16, 32, 64}, numbers: 4096,
		scaling: []int{300_000, 3_000_000, 30_000_000}, scalingRank: 32,
		predictionRank: 30,
		repetitions:    10, minTime: 3 * time.Second,
	}
	if quick {
		s.scaling = []int{300_000, 1_000_000, 3_000_000}
		s.rowRanks = []int{32}
		s.repetitions, s.minTime = 2, 150*time.Millisecond
	}
	return s
}

// Groups returns the names of the groups of measurements.
func Groups() []string { return []string{"dense", "functions", "pass", "scaling", "read", "predict"} }

// run is the state of one call of Run.
type run struct {
	ctx     context.Context
	opt     Options
	sizes   sizes
	path    cpu.Path
	threads []int // 1, and Options.Threads if larger
	sales   *sales
	folder  string          // for temporary files
	peaks   map[int]float64 // best multiply-add rate by number of threads
	result  *Result
	group   string
}

func measure(ctx context.Context, opt Options, size sizes) (*Result, error) {
	path, err := cpu.ChoosePath()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	r := &run{ctx: ctx, opt: opt, sizes: size, path: path, threads: []int{1}, peaks: map[int]float64{}}
	threads := opt.Threads
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	if threads > 1 {
		r.threads = append(r.threads, threads)
	}
	r.result = &Result{Path: string(path), Threads: threads, OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(), Quick: opt.Quick}
	if r.folder, err = os.MkdirTemp("", "kft-bench-"); err != nil {
		return nil, fmt.Errorf("bench: cannot create a folder for temporary files: %w", err)
	}
	defer os.RemoveAll(r.folder)
	for _, stage := range []struct {
		name string
		work func() error
	}{
		{"table", r.loadTable},
		{"dense", r.dense},
		{"functions", r.functions},
		{"pass", r.passes},
		{"scaling", r.scaling},
		{"read", r.read},
		{"predict", r.predict},
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if opt.Only != "" && stage.name != opt.Only && stage.name != "table" {
			continue
		}
		if opt.Progress != nil {
			opt.Progress(stage.name)
		}
		r.group = stage.name
		if err := stage.work(); err != nil {
			return nil, err
		}
		// Collect the garbage of this stage outside of the next measurements.
		runtime.GC()
	}
	r.result.Seconds = time.Since(began).Seconds()
	return r.result, nil
}

// maxThreads returns the largest number of threads.
func (r *run) maxThreads() int { return r.threads[len(r.threads)-1] }

// add appends a measurement to the result and checks its target.
func (r *run) add(m Measure) {
	m.Group = r.group
	if m.Target != nil {
		judged := m.Value
		if m.RatioOf != "" {
			judged = m.Ratio
		}
		ok := m.Target.reached(judged)
		m.OK = &ok
	}
	r.result.Measures = append(r.result.Measures, m)
}

func onThreads(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}
