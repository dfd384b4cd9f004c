package main

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/kernel-fried-tensor/kft/publicdata"
)

// dataIowa converts invoices to tables.
type dataIowa struct {
	Sales    []string `arg:"" name:"sales" complete:"file" help:"\"Iowa Liquor Sales\" as exported by data.iowa.gov, one or several files."`
	Stores   string   `placeholder:"FILE" complete:"file" help:"\"Iowa Liquor Stores\" (default: the columns of the invoices)."`
	Products string   `placeholder:"FILE" complete:"file" help:"\"Iowa Liquor Products\" (default: the columns of the invoices)."`
	Years    string   `default:"2015-2016" placeholder:"Y-Y" help:"Years to include (default: 2015-2016)."`
	dataOutput
}

// Help is shown by kft data iowa --help.
func (*dataIowa) Help() string {
	return `Adds up the bottles per year, month, store and item, and writes sales_2015_2016.csv.gz, stores.csv and items.csv with a kft.yaml for kft fit. The files may be plain, gzip or zstd, with dates such as 01/31/2015 or 2015-01-31. Invalid rows are skipped and counted. Cells are left out if nothing is known about their store or item, or if their bottles minus returns are 0 or less.

Example:

    kft data iowa Iowa_Liquor_Sales.csv --stores Iowa_Liquor_Stores.csv --products Iowa_Liquor_Products.csv -o data/iowa-liquor`
}

var yearsForm = regexp.MustCompile(`^(\d{4})(?:-(\d{4}))?$`)

// Run writes the tables.
func (c *dataIowa) Run(e *env) error {
	found := yearsForm.FindStringSubmatch(c.Years)
	if found == nil {
		return usagef("--years: %q is not a year or a range of years; use, for example, 2015-2016", c.Years)
	}
	first, _ := strconv.Atoi(found[1])
	last := first
	if found[2] != "" {
		last, _ = strconv.Atoi(found[2])
	}
	if first > last {
		return usagef("--years: in %s the first year is after the last; use, for example, 2015-2016", c.Years)
	}
	inputs := slices.Concat(c.Sales, []string{c.Stores, c.Products})
	if err := checkInputs(inputs); err != nil {
		return err
	}
	return c.write(e, publicdata.Iowa{Sales: c.Sales, Stores: c.Stores, Products: c.Products, FirstYear: first, LastYear: last, Threads: c.Threads},
		"The specifications examples/iowa-*.yaml use this folder under the name data/iowa-liquor.\n")
}
