package main

import (
	"slices"

	"github.com/kernel-fried-tensor/kft"
)

// tableFlags say how a table is read for a model.
type tableFlags struct {
	Side      []string `sep:"none" placeholder:"TABLE" help:"Side rows of new ids, as in store=new_stores.csv, of a mode that the model has side information of. May be repeated."`
	Delimiter string   `placeholder:"D" values:"auto,comma,tab,semicolon,bar,space" help:"Of the table (default: auto)."`
	Header    string   `placeholder:"H" values:"auto,yes,no" help:"Whether the first row names the columns (default: auto)."`
	Threads   int      `placeholder:"N" help:"Threads to use (default: as many as there are processors)."`
}

// inputs returns the tables and side tables, if they can be read and the flags
// make sense.
func (f *tableFlags) inputs(tables ...string) ([]string, error) {
	if f.Threads < 0 {
		return nil, usagef("--threads: %d is not a number of threads; give 1 or more, or leave it out", f.Threads)
	}
	files := slices.Concat(sideFiles(f.Side), tables)
	return files, checkInputs(files)
}

// open loads a model, which then knows the side tables' ids, and says how to read
// tables for it.
func (f *tableFlags) open(e *env, file string) (*kft.Model, kft.TableOptions, error) {
	opt := kft.TableOptions{Threads: f.Threads}
	var err error
	if opt.Format, err = (&dataFlags{Delimiter: f.Delimiter, Header: f.Header}).format(e.stdin); err != nil {
		return nil, opt, err
	}
	m, err := kft.Load(file)
	if err != nil {
		return nil, opt, err
	}
	m, err = withSide(e, m, f.Side)
	return m, opt, err
}
