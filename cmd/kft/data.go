package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/publicdata"
)

// dataCommand makes the folders of well-known data sets.
type dataCommand struct {
	Iowa      dataIowa      `cmd:"" help:"Turn the State of Iowa's liquor invoices into tables."`
	Movielens dataMovieLens `cmd:"" help:"Turn a MovieLens download into tables."`
	Synthetic dataSynthetic `cmd:"" help:"Make tables of a known size and a known truth."`
}

// dataOutput says where the tables go.
type dataOutput struct {
	Output  string `short:"o" required:"" placeholder:"DIR" complete:"dir" help:"The folder the tables go to; it is made."`
	Force   bool   `help:"Overwrite files in DIR."`
	Threads int    `placeholder:"N" help:"Threads to use (default: as many as there are processors)."`
}

func (o *dataOutput) folder() (publicdata.Folder, error) {
	return publicdata.Folder{Path: o.Output, Force: o.Force}, checkFolder(o.Output)
}

// dataIowa reads invoices.
type dataIowa struct {
	Sales    []string `arg:"" name:"sales" complete:"file" help:"\"Iowa Liquor Sales\" as exported by data.iowa.gov, one file or several."`
	Stores   string   `placeholder:"FILE" complete:"file" help:"\"Iowa Liquor Stores\" (default: what the invoices say of stores)."`
	Products string   `placeholder:"FILE" complete:"file" help:"\"Iowa Liquor Products\" (default: what the invoices say of items)."`
	Years    string   `default:"2015-2016" placeholder:"Y-Y" help:"The years to take (default: 2015-2016)."`
	dataOutput
}

// Help is shown by kft data iowa --help.
func (*dataIowa) Help() string {
	return `Adds up the bottles of each year, month, store and item, and writes sales_2015_2016.csv.gz, stores.csv and items.csv, with a kft.yaml for kft fit. The files may be plain, gzip or zstd, with dates as 01/31/2015 or 2015-01-31. Rows that cannot be read are passed over and counted. Left out are cells whose store or item nothing is known of, and cells whose bottles, less those returned, are 0 or less.

Example:

    kft data iowa Iowa_Liquor_Sales.csv --stores Iowa_Liquor_Stores.csv --products Iowa_Liquor_Products.csv -o data/iowa-liquor`
}

var yearsForm = regexp.MustCompile(`^(\d{4})(?:-(\d{4}))?$`)

// Run makes the tables.
func (c *dataIowa) Run(e *env) error {
	found := yearsForm.FindStringSubmatch(c.Years)
	if found == nil {
		return usagef("--years: %q is neither a year nor two, such as 2015-2016", c.Years)
	}
	first, _ := strconv.Atoi(found[1])
	last := first
	if found[2] != "" {
		last, _ = strconv.Atoi(found[2])
	}
	if first > last {
		return usagef("--years: %s run backwards", c.Years)
	}
	inputs := slices.Concat(c.Sales, []string{c.Stores, c.Products})
	if err := checkInputs(inputs); err != nil {
		return err
	}
	return c.make(e, publicdata.Iowa{Sales: c.Sales, Stores: c.Stores, Products: c.Products, FirstYear: first, LastYear: last, Threads: c.Threads},
		"The specifications examples/iowa-*.yaml work with this folder as data/iowa-liquor.\n")
}

// dataMovieLens reads a download.
type dataMovieLens struct {
	Source string `arg:"" name:"folder" complete:"dir" help:"A MovieLens download, unpacked: latest-small, 20M, 25M, 32M, 1M or 100K."`
	dataOutput
}

// Help is shown by kft data movielens --help.
func (*dataMovieLens) Help() string {
	return `Writes ratings.csv.gz and movies.csv, with the year taken from the title; where the download has tag genome scores, genome.csv.gz with a row a movie and a column a tag; and a kft.yaml for kft fit.

Example:

    kft data movielens ml-20m -o data/movielens`
}

// Run makes the tables.
func (c *dataMovieLens) Run(e *env) error {
	return c.make(e, publicdata.MovieLens{Source: c.Source, Threads: c.Threads},
		"The specifications examples/movielens-*.yaml show what can be done with it.\n")
}

// dataSet is what can be written to a folder.
type dataSet interface {
	Write(ctx context.Context, to publicdata.Folder) (*publicdata.Report, error)
}

// make writes a data set and says what became of its rows.
func (o *dataOutput) make(e *env, set dataSet, next string) error {
	if o.Threads < 0 {
		return usagef("--threads: %d is not a number of threads; give 1 or more, or leave it out for all processors", o.Threads)
	}
	folder, err := o.folder()
	if err != nil {
		return err
	}
	report, err := set.Write(e.ctx, folder)
	var exists *publicdata.ExistsError
	var isRead *publicdata.InputOverwriteError
	if errors.As(err, &exists) || errors.As(err, &isRead) {
		return usagef("%v", err)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%s\n%sTrain on it: cd %s && kft fit\n", dataSummary(report), next, quote(o.Output))
	return err
}

// dataSummary lists rows read, dropped and written.
func dataSummary(r *publicdata.Report) string {
	var b strings.Builder
	if r.Read > 0 {
		fmt.Fprintf(&b, "Read %s.\n", plural(r.Read, "row"))
	}
	for _, part := range []struct {
		head    string
		reasons []publicdata.Reason
	}{{"Passed over:", r.Dropped}, {"Excluded from the sums:", r.Excluded}} {
		if len(part.reasons) == 0 {
			continue
		}
		b.WriteString(part.head + "\n")
		for _, reason := range part.reasons {
			fmt.Fprintf(&b, "  %12s  %s", count(reason.Rows), reason.Text)
			if reason.First != "" {
				fmt.Fprintf(&b, " (first: %s)", reason.First)
			}
			b.WriteByte('\n')
		}
	}
	for _, fact := range r.Facts {
		b.WriteString(fact + "\n")
	}
	table := textTable{header: []string{"file", "what is in it", "rows"}, left: 2}
	for _, w := range r.Written {
		rows := ""
		if w.Rows > 0 {
			rows = count(w.Rows)
		}
		table.rows = append(table.rows, []string{w.File, w.Description, rows})
	}
	b.WriteByte('\n')
	table.write(&b)
	return b.String()
}
