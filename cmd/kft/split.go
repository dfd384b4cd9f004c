package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// splitCommand splits a table.
type splitCommand struct {
	Tables []string `arg:"" name:"table" complete:"file" help:"Table: CSV or TSV, plain, gzip or zstd, Parquet or Arrow. Several tables with the same columns are read as one."`
	Split  string   `default:"random:60/20/20" placeholder:"SPLIT" values:"random:60/20/20,time:last=3,entity:,column:" help:"Split: random:60/20/20, time:last=3, entity:store=10% or column:part (default: random:60/20/20)."`
	Seed   uint64   `from:"1" default:"1" placeholder:"N" help:"Seed of the random choice, 1 or more (default: 1)."`
	Output string   `endings:".csv,.txt,.gz" short:"o" default:"split.csv" placeholder:"FILE" complete:"file" help:"File to write; compressed if it ends in .gz (default: split.csv)."`
	Force  bool     `help:"Overwrite FILE if it exists."`
	dataFlags
}

// Help is shown by kft split --help.
func (*splitCommand) Help() string {
	return `Writes a file with the column part, which contains train, valid or test for each row, for kft fit --split file:FILE. A random split requires only the table; with --target and --modes rows without a target are unused, and rows of the same cell stay together. The other splits require both flags.

Examples:

    kft split sales.csv --split random:60/20/20 --seed 1 -o split.csv
    kft fit sales.csv --target units --modes store,item,time=year+month --split file:split.csv`
}

// Run reads, splits and writes the table.
func (c *splitCommand) Run(e *env) error {
	spec, err := split.Parse(c.Split)
	if err != nil {
		return usagef("--split: %v", err)
	}
	if slices.Contains(c.Tables, "-") {
		return usagef("kft split cannot read standard input, because kft fit must read the same table; save it to a file first")
	}
	if err := checkOutput(c.Output, c.Tables); err != nil {
		return err
	}
	if _, err := os.Stat(c.Output); err == nil && !c.Force {
		return usagef("%s already exists; choose another file with -o, or add --force", c.Output)
	}
	table, err := c.read(e, spec)
	if err != nil {
		return err
	}
	parts, err := spec.Apply(table, c.Seed)
	if err != nil {
		return err
	}
	err = atomicfile.Write(c.Output, func(w io.Writer) error {
		if !strings.HasSuffix(c.Output, ".gz") {
			return split.WriteParts(w, table, parts.Parts)
		}
		z := gzip.NewWriter(w)
		if err := split.WriteParts(z, table, parts.Parts); err != nil {
			return err
		}
		return z.Close()
	})
	if err != nil {
		return err
	}
	var b strings.Builder
	for p := dataset.Train; p <= dataset.Unused; p++ {
		n := parts.Count(p)
		if p == dataset.Unused {
			n += table.Counts.Missing + table.Counts.ZeroWeight + table.Counts.NoID
		}
		if n > 0 || p != dataset.Unused {
			fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("%-6s %12s  %s", p, textformat.Count(n), parts.Periods[p]), " "))
		}
	}
	if n := table.Counts.Merged; n > 0 {
		fmt.Fprintf(&b, "%s of the same cells, in the same parts\n", textformat.Plural(n, "more row"))
	}
	if parts.Note != "" {
		fmt.Fprintf(&b, "warning: %s\n", parts.Note)
	}
	_, err = fmt.Fprintf(e.stdout, "%sWrote %s; kft fit --split %s uses it.\n", b.String(), c.Output, textformat.Quote("file:"+c.Output))
	return err
}

// read reads what the split requires: the observations, or only the number of rows for a
// random split without target and modes.
func (c *splitCommand) read(e *env, spec split.Spec) (*dataset.Table, error) {
	format, err := c.format(e.stdin)
	if err != nil {
		return nil, err
	}
	if c.Target == "" && len(c.Modes) == 0 && strings.HasPrefix(c.Split, "random:") {
		return countRows(e, c.Tables, format)
	}
	if c.Target == "" || len(c.Modes) == 0 {
		return nil, usagef("the split %s requires --target and --modes; add both", c.Split)
	}
	schema := dataset.Schema{Target: c.Target, Weight: c.Weight, Exposure: c.Exposure, Censored: c.Censored, Duplicates: c.Duplicates, Part: spec.Column()}
	for _, text := range dataset.SplitModes(c.Modes...) {
		mode, err := dataset.ParseMode(text)
		if err != nil {
			return nil, usagef("--modes: %v", err)
		}
		schema.Modes = append(schema.Modes, mode)
	}
	return tableio.Read(e.ctx, tableio.Files(c.Tables...), schema, format, 0)
}

// countRows returns an empty table with as many observations as the files have rows. It
// streams the files with the first column as the only mode.
func countRows(e *env, files []string, format tableio.Format) (*dataset.Table, error) {
	n := 0
	for _, file := range files {
		names, err := tableio.ColumnNames(tableio.Files(file), format)
		if err != nil {
			return nil, err
		}
		schema := dataset.Schema{Modes: []dataset.Mode{{Name: "row", Columns: names[:1]}}}
		var rows atomic.Int64
		err = tableio.VisitBatches(e.ctx, tableio.Files(file), schema, []*dataset.Dict{dataset.NewDict(nil)}, format, 0,
			func(b *tableio.Batch) error { rows.Add(int64(b.Len())); return nil })
		if err != nil {
			return nil, err
		}
		n += int(rows.Load())
	}
	return &dataset.Table{Y: make([]float32, n), Counts: dataset.Counts{Rows: n}}, nil
}
