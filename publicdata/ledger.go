package publicdata

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

// Ledger generates small tables of many kinds, and the experiment that measures the
// default model on each of them.
type Ledger struct {
	Seed uint64
}

// ledgerFile is the file of the experiment.
const ledgerFile = "ledger.yaml"

// Write writes per table its rows, a specification that leaves every choice to kft, and
// one of a point estimate of a single train, the default of earlier versions.
func (l Ledger) Write(ctx context.Context, to Folder) (*Report, error) {
	tables := synthetic.LedgerTables()
	files := []string{ledgerFile}
	var names []string
	for _, t := range tables {
		names = append(names, t.Name)
		files = append(files, t.Name+".csv", t.Name+".yaml", t.Name+"-former.yaml")
	}
	if err := to.check(nil, files...); err != nil {
		return nil, err
	}
	report := &Report{}
	err := to.write(files, func(w []io.Writer) error {
		for i, t := range tables {
			if err := ctx.Err(); err != nil {
				return err
			}
			out := w[1+3*i:]
			text := appendLine(nil, append(t.Modes[:len(t.Modes):len(t.Modes)], t.Target))
			rows := 0
			t.Rows(l.Seed, func(ids []string, y string) {
				text = appendLine(text, append(ids[:len(ids):len(ids)], y))
				rows++
			})
			if _, err := out[0].Write(text); err != nil {
				return err
			}
			file := filepath.Join(to.Path, t.Name+".csv")
			data := fmt.Sprintf("# %s\nversion: 1\n\ndata:\n  files: [%q]\n  target: %s\n  modes: [%s]\n", t.Kind, file, t.Target, strings.Join(t.Modes, ", "))
			if _, err := io.WriteString(out[1], data); err != nil {
				return err
			}
			if _, err := fmt.Fprintf(out[2], "%s\nterms: ['%s:20']\ntransform: identity\nuncertainty: {inference: map}\n", data, strings.Join(t.Modes, ",")); err != nil {
				return err
			}
			report.Written = append(report.Written, OutputFile{file, rows, t.Kind})
		}
		_, err := fmt.Fprintf(w[0], ledgerExperiment, filepath.Join(to.Path, "results"), strings.Join(names, ", "))
		return err
	})
	if err != nil {
		return nil, err
	}
	report.Written = append(report.Written, OutputFile{filepath.Join(to.Path, ledgerFile), 0, "an experiment for kft experiment"})
	return report, nil
}

const ledgerExperiment = `# The default model and the default of earlier versions on tables of many kinds.
version: 1
name: ledger
output: %q
tables: [%s]
split: 'random:60/20/20'
seeds: [1, 2, 3, 4, 5]

configurations:
  - {name: default, spec: '{table}.yaml'}
  - {name: former, spec: '{table}-former.yaml'}

against: former
measures: [rmse, mae, r2, coverage90, seconds]
`
