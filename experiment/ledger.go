package experiment

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// Limits of a ledger.
const (
	behindFormula  = 0.01 // relative difference in RMSE or MAE above which a model is behind a formula
	coverageFrom   = 2000 // test rows from which coverage is judged
	coverageLowest = 0.87 // of 90 % intervals
	coverageMost   = 0.93
)

// A Ledger compares the first configuration with the best formula and with the reference
// configuration, on every table of an experiment. All measures are means over the splits,
// on the test set.
type Ledger struct {
	Splits  int
	Names   []string // of the configurations
	Against string
	Lines   []LedgerLine
}

// A LedgerLine is one table of a ledger.
type LedgerLine struct {
	Table          string
	Rows           float64 // test rows
	Formula        Formula
	Configurations []LedgerScores // in the order of the names
	Verdict        []string       // what is behind; empty if nothing is
}

// LedgerScores are the scores of a configuration, NaN if unknown.
type LedgerScores struct {
	RMSE, MAE, R2, Coverage, Seconds float64

	pit float64 // share of the randomised PIT in the central 90 %
}

// NewLedger compares the results on several tables.
func NewLedger(tables []Results) *Ledger {
	l := &Ledger{}
	if len(tables) > 0 {
		p := tables[0].Plan
		l.Splits, l.Names, l.Against = p.Splits, p.Configurations, p.Against
	}
	for _, r := range tables {
		l.Lines = append(l.Lines, l.line(r))
	}
	return l
}

func (l *Ledger) line(r Results) LedgerLine {
	line := LedgerLine{Table: r.Plan.Name, Rows: math.NaN(), Formula: Formula{RMSE: math.NaN(), MAE: math.NaN()}}
	for i, name := range l.Names {
		cells := r.cells(name)
		mean := func(of func(c Cell) float64) float64 {
			sum, n := 0.0, 0
			for k := 1; k <= l.Splits; k++ {
				if c, found := cells[k]; found && c.Problem == "" {
					sum += of(c)
					n++
				}
			}
			return sum / float64(n)
		}
		test := func(name string) float64 {
			return mean(func(c Cell) float64 {
				v := math.NaN()
				if json.Unmarshal(c.Test[name], &v) != nil {
					return math.NaN()
				}
				return v
			})
		}
		line.Configurations = append(line.Configurations, LedgerScores{
			RMSE: test("rmse"), MAE: test("mae"), R2: test("r2"), Coverage: test("coverage90"), pit: mean(centralPIT),
			Seconds: mean(func(c Cell) float64 { return c.Seconds }),
		})
		for k := l.Splits; k > 0; k-- {
			if c := cells[k]; c.Problem != "" {
				line.Verdict = append(line.Verdict, fmt.Sprintf("%s failed on split %d", name, k))
			} else if i == 0 && c.Formula != nil {
				line.Formula.Name = c.Formula.Name
			}
		}
		if i == 0 {
			line.Rows = test("n")
			of := func(value func(f *Formula) float64) float64 {
				return mean(func(c Cell) float64 {
					if c.Formula == nil {
						return math.NaN()
					}
					return value(c.Formula)
				})
			}
			line.Formula.RMSE, line.Formula.MAE = of(func(f *Formula) float64 { return f.RMSE }), of(func(f *Formula) float64 { return f.MAE })
		}
	}
	line.judge(l, r)
	return line
}

// judge sets the verdict.
func (line *LedgerLine) judge(l *Ledger, r Results) {
	if len(line.Configurations) == 0 {
		return
	}
	ours := line.Configurations[0]
	cells, former := r.cells(l.Names[0]), r.cells(l.Against)
	// behind adds to the verdict if a is more than the limit above b, with the difference
	// in units of its standard error over the splits.
	behind := func(of, measure string, a, b, limit float64, other func(n int) (float64, bool)) {
		if !(a > b*(1+limit)) {
			return
		}
		text := fmt.Sprintf("%s %.1f %% behind %s", measure, 100*(a/b-1), of)
		m, _ := measureOf(strings.ToLower(measure))
		var differences []float64
		for n := 1; n <= l.Splits; n++ {
			v, ok := m.of(cells[n])
			w, okOther := other(n)
			if ok && okOther {
				differences = append(differences, v-w)
			}
		}
		if e := estimate(differences); e.SE() > 0 {
			text += fmt.Sprintf(" (%.1f SE)", e.Mean/e.SE())
		}
		line.Verdict = append(line.Verdict, text)
	}
	formula := func(value func(f *Formula) float64) func(n int) (float64, bool) {
		return func(n int) (float64, bool) {
			if f := cells[n].Formula; f != nil {
				return value(f), true
			}
			return 0, false
		}
	}
	behind("formula", "RMSE", ours.RMSE, line.Formula.RMSE, behindFormula, formula(func(f *Formula) float64 { return f.RMSE }))
	behind("formula", "MAE", ours.MAE, line.Formula.MAE, behindFormula, formula(func(f *Formula) float64 { return f.MAE }))
	if i := slices.Index(l.Names, l.Against); i > 0 {
		of := func(name string) func(n int) (float64, bool) {
			m, _ := measureOf(name)
			return func(n int) (float64, bool) { return m.of(former[n]) }
		}
		behind(l.Against, "RMSE", ours.RMSE, line.Configurations[i].RMSE, 0, of("rmse"))
		behind(l.Against, "MAE", ours.MAE, line.Configurations[i].MAE, 0, of("mae"))
	}
	// An interval of counts may have to hold more than its level; the randomised PIT does
	// not count that.
	outside := func(share float64) bool { return share < coverageLowest || share > coverageMost }
	if line.Rows >= coverageFrom && outside(ours.Coverage) && outside(ours.pit) {
		line.Verdict = append(line.Verdict, "coverage")
	}
}

// centralPIT returns the share of a cell's rows whose randomised PIT is between 0.05 and
// 0.95.
func centralPIT(c Cell) float64 {
	var bins []float64
	if json.Unmarshal(c.Test["pit"], &bins) != nil || len(bins) == 0 {
		return math.NaN()
	}
	share := 0.0
	for i, s := range bins {
		low, high := float64(i)/float64(len(bins)), float64(i+1)/float64(len(bins))
		share += s * max(0, min(high, 0.95)-max(low, 0.05)) * float64(len(bins))
	}
	return share
}

// Behind returns the number of tables on which something is behind or not measured.
func (l *Ledger) Behind() int {
	n := 0
	for _, line := range l.Lines {
		if len(line.Verdict) > 0 || math.IsNaN(line.Rows) {
			n++
		}
	}
	return n
}

// Write writes the ledger in one of the Formats.
func (l *Ledger) Write(w io.Writer, format string) error {
	write, known := map[string]func(*strings.Builder, grid){"text": textGrid, "markdown": markdownGrid, "latex": latexGrid}[format]
	if !known {
		return fmt.Errorf("unknown format %q; use one of %s", format, joined(Formats()))
	}
	g := grid{caption: fmt.Sprintf("Test scores, mean over %s; formula: the best one, chosen on validation rows", plural.Count(l.Splits, "split")), header: []string{"table", "best formula", "test rows", "RMSE", "MAE"}, left: 2}
	for _, name := range l.Names {
		g.header = append(g.header, name+" RMSE", "MAE", "R2", "coverage90", "s")
	}
	g.header = append(g.header, "")
	digits := func(v float64) string {
		if math.IsNaN(v) {
			return dash
		}
		return fmt.Sprintf("%.4g", v)
	}
	for _, line := range l.Lines {
		row := []string{line.Table, line.Formula.Name, number(line.Rows, 0), digits(line.Formula.RMSE), digits(line.Formula.MAE)}
		for _, c := range line.Configurations {
			row = append(row, digits(c.RMSE), digits(c.MAE), number(c.R2, 3), number(c.Coverage, 3), number(c.Seconds, 1))
		}
		verdict := "ahead"
		switch {
		case len(line.Verdict) > 0:
			verdict = strings.Join(line.Verdict, "; ")
		case math.IsNaN(line.Rows):
			verdict = "not measured"
		}
		g.rows = append(g.rows, append(row, verdict))
	}
	var b strings.Builder
	write(&b, g)
	fmt.Fprintf(&b, "\nAhead on %d of %s.\n", len(l.Lines)-l.Behind(), plural.Count(len(l.Lines), "table"))
	_, err := io.WriteString(w, b.String())
	return err
}
