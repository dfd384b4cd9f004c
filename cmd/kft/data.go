package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/publicdata"
)

// dataCommand prepares well-known data sets.
type dataCommand struct {
	Iowa      dataIowa      `cmd:"" help:"Convert the liquor sales of the State of Iowa to tables."`
	Ledger    dataLedger    `cmd:"" help:"Generate small tables of many kinds, on which the default model is measured."`
	Movielens dataMovieLens `cmd:"" help:"Convert a MovieLens download to tables."`
	Synthetic dataSynthetic `cmd:"" help:"Generate synthetic tables whose true distribution is known."`
}

// dataOutput are the flags of the output.
type dataOutput struct {
	Output  string `short:"o" required:"" placeholder:"DIR" complete:"dir" help:"Folder to write; it is created if necessary."`
	Force   bool   `help:"Overwrite existing files in DIR."`
	Threads int    `from:"0" to:"4096" placeholder:"N" help:"Number of threads (default: all CPUs)."`
}

func (o *dataOutput) folder() (publicdata.Folder, error) {
	return publicdata.Folder{Path: o.Output, Force: o.Force}, checkFolder(o.Output)
}

// dataSet can be written to a folder.
type dataSet interface {
	Write(ctx context.Context, to publicdata.Folder) (*publicdata.Report, error)
}

// write writes a data set and prints a summary.
func (o *dataOutput) write(e *env, set dataSet, next string) error {
	folder, err := o.folder()
	if err != nil {
		return err
	}
	report, err := set.Write(e.ctx, folder)
	if err != nil {
		return err
	}
	for _, w := range report.Warnings {
		fmt.Fprintf(e.stderr, "warning: %s\n", w)
	}
	_, err = fmt.Fprintf(e.stdout, "%s\n%sTrain on it: cd %s && kft fit\n", dataSummary(report), next, textformat.Quote(o.Output))
	return err
}

// dataSummary counts the rows that were read, dropped and written.
func dataSummary(r *publicdata.Report) string {
	var b strings.Builder
	if r.Read > 0 {
		fmt.Fprintf(&b, "Read %s.\n", textformat.Plural(r.Read, "row"))
	}
	for _, part := range []struct {
		head    string
		reasons []publicdata.Reason
	}{{"Skipped:", r.Dropped}, {"Excluded from the sums:", r.Excluded}} {
		if len(part.reasons) == 0 {
			continue
		}
		b.WriteString(part.head + "\n")
		for _, reason := range part.reasons {
			fmt.Fprintf(&b, "  %12s  %s", textformat.Count(reason.Rows), reason.Text)
			if reason.First != "" {
				fmt.Fprintf(&b, " (first: %s)", reason.First)
			}
			b.WriteByte('\n')
		}
	}
	for _, fact := range r.Facts {
		b.WriteString(fact + "\n")
	}
	table := textformat.Table{Header: []string{"file", "content", "rows"}, Left: 2}
	for _, w := range r.Written {
		rows := ""
		if w.Rows > 0 {
			rows = textformat.Count(w.Rows)
		}
		table.Rows = append(table.Rows, []string{w.File, w.Description, rows})
	}
	b.WriteByte('\n')
	table.Write(&b)
	return b.String()
}
