// Package bench measures how fast the product runs on this machine, as ratios
// that hold on others: a kernel beside the multiply-adds the processor can do,
// a function or a reader beside the standard library's, a large table beside a
// small one. Both sides of a ratio are measured in one run, taking turns, and
// the best turn of each counts, for other programs only ever slow a turn down.
package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// Options say what to measure.
type Options struct {
	// Quick takes fewer turns and leaves out the largest table; about 20 s.
	Quick bool
	// Data is a folder with the table sales_2015_2016.csv.gz (columns year,
	// month, store, item, bottles). Where it is empty or has none, a made-up
	// table of the same shape is used.
	Data string
	// Threads is the number of threads beside one; 0 takes as many as the
	// process may use.
	Threads int
	// Only, unless empty, is the one group to measure, of Groups.
	Only string
	// Progress, unless nil, is told what is measured next.
	Progress func(string)
}

// Result is what a run measured, and on what.
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

// Measure is one figure.
type Measure struct {
	Group string  `json:"group"`
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`

	// Ratio compares the measure with what RatioOf names; both are empty
	// where there is nothing to compare with.
	Ratio   float64 `json:"ratio,omitempty"`
	RatioOf string  `json:"ratio_of,omitempty"`

	// Target bounds the ratio, or the value where there is no ratio. OK tells
	// whether it is reached. Both are nil for a measure that only informs.
	Target *Target `json:"target,omitempty"`
	OK     *bool   `json:"ok,omitempty"`
}

// Target is a bound from one side; the other is zero.
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

// Run takes all measures. It ends between two turns when ctx does.
func Run(ctx context.Context, opt Options) (*Result, error) {
	return measure(ctx, opt, sizesFor(opt.Quick))
}

// sizes says how much work a run does.
type sizes struct {
	stores, items, months, cells int // of a made-up table

	square         int   // rows of a square GEMM
	tall, outer    int   // long sides of GEMMs with a short side of 64
	batched        int   // numbers in a batch of small matrices
	ranks          []int // of the trains
	rowRanks       []int // those of which rows are measured too
	numbers        int   // in a slice of arguments
	scaling        []int // cells of the tables that grow, about
	scalingRank    int
	predictionRank int

	turns  int           // the least a contest takes
	enough time.Duration // and how long it goes on taking them
}

func sizesFor(quick bool) sizes {
	s := sizes{
		stores: 1507, items: 4563, months: 24, cells: 3028076,
		square: 1024, tall: 100000, outer: 10000, batched: 1 << 16,
		ranks: []int{8, 16, 32, 64}, rowRanks: []int{8, 16, 32, 64}, numbers: 4096,
		scaling: []int{300_000, 3_000_000, 30_000_000}, scalingRank: 32,
		predictionRank: 30,
		turns:          10, enough: 3 * time.Second,
	}
	if quick {
		s.scaling = []int{300_000, 1_000_000, 3_000_000}
		s.rowRanks = []int{32}
		s.turns, s.enough = 2, 150*time.Millisecond
	}
	return s
}

// Groups returns the names of the groups of measures.
func Groups() []string { return []string{"dense", "functions", "pass", "scaling", "read", "predict"} }

// run is one call of Run.
type run struct {
	ctx     context.Context
	opt     Options
	sizes   sizes
	path    cpu.Path
	threads []int // 1, and Options.Threads where that is more
	sales   *sales
	folder  string          // for temporary files
	peaks   map[int]float64 // best multiply-adds a second, by threads
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
		return nil, fmt.Errorf("bench: no folder for temporary files: %w", err)
	}
	defer os.RemoveAll(r.folder)
	for _, stage := range []struct {
		name string
		work func() error
	}{
		{"table", r.takeTable},
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
		// What a stage leaves behind is not the next one's to collect.
		runtime.GC()
	}
	r.result.Seconds = time.Since(began).Seconds()
	return r.result, nil
}

// most returns the largest number of threads.
func (r *run) most() int { return r.threads[len(r.threads)-1] }

// add takes a measure into the result and judges it.
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
