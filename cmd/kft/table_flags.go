package main

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
)

// tableFlags describe how a table is read for a fitted model.
type tableFlags struct {
	Side      []string `sep:"none" placeholder:"TABLE" help:"Side information of new ids, as in store=new_stores.csv, for a mode whose side information the model uses. May be repeated."`
	Delimiter string   `placeholder:"D" values:"auto,comma,tab,semicolon,bar,space" help:"Delimiter of a text table: auto, comma, tab, semicolon, bar, space, one character, or several characters such as :: (default: auto)."`
	Header    string   `placeholder:"H" values:"auto,yes,no" help:"Whether the first row contains the column names: auto, yes or no (default: auto)."`
	Decimal   string   `placeholder:"SIGN" values:"point,comma" help:"Decimal sign of formatted numbers, point or comma (default: as in the table of the fit)."`
	Thousands string   `placeholder:"SIGN" values:"comma,point,space,apostrophe,underscore,none" help:"Separator of thousands in numbers: comma, point, space, apostrophe, underscore or none (default: as in the table of the fit)."`
	Target    string   `placeholder:"NAME" help:"Target, of a model of several (default: all where that is possible)."`
	Threads   int      `from:"0" to:"4096" placeholder:"N" help:"Number of threads (default: all CPUs)."`
}

// inputs checks the flags and returns the files of the tables and side tables.
func (f *tableFlags) inputs(tables ...string) ([]string, error) {
	files := slices.Concat(sideFiles(f.Side), tables)
	return files, checkInputs(files)
}

// changedModel checks the tables and the output of a verb that changes a model, and returns
// the output: the model itself by default.
func (f *tableFlags) changedModel(model, output string, tables []string) (string, error) {
	if output == "" {
		output = model
	}
	inputs, err := f.inputs(tables...)
	if err != nil {
		return "", err
	}
	if err := checkOutput(output, inputs); err != nil || output == model {
		return output, err
	}
	return output, checkReplaceable(output, "")
}

// open is openAny for a verb that gives one answer: of several targets one must be chosen.
func (f *tableFlags) open(e *env, file string) (*kft.Model, kft.TableOptions, error) {
	m, opt, err := f.openAny(e, file)
	if err == nil && len(m.Targets()) > 0 {
		err = usagef("%s is a model of several targets; choose one of them by --target: %s", file, strings.Join(m.Targets(), ", "))
	}
	return m, opt, err
}

// ofTarget returns the model of the chosen target, or the model itself if none is chosen.
func (f *tableFlags) ofTarget(m *kft.Model, name string) (*kft.Model, error) {
	switch {
	case f.Target == "":
		return m, nil
	case len(m.Targets()) > 0:
		return m.ForTarget(f.Target)
	case m.Spec().Data.Target != f.Target:
		return nil, usagef("--target: the target of %s is %s", name, m.Spec().Data.Target)
	}
	return m, nil
}

// openWhole is openAny for a verb that changes a model, and so cannot have a part of it.
func (f *tableFlags) openWhole(e *env, file string) (*kft.Model, kft.TableOptions, error) {
	m, opt, err := f.openAny(e, file)
	if err == nil && f.Target != "" {
		err = usagef("--target: a part of a model cannot be changed; leave it out")
	}
	return m, opt, err
}

// openAny loads a model, adds the ids of the side tables to it and returns how tables are
// read for it.
func (f *tableFlags) openAny(e *env, file string) (*kft.Model, kft.TableOptions, error) {
	opt := kft.TableOptions{Threads: f.Threads}
	var err error
	if opt.Format, err = (&dataFlags{Delimiter: f.Delimiter, Header: f.Header, Decimal: f.Decimal, Thousands: f.Thousands}).format(e.stdin); err != nil {
		return nil, opt, err
	}
	m, err := kft.Load(file)
	if err == nil {
		m, err = f.ofTarget(m, file)
	}
	if err != nil || len(f.Side) == 0 {
		return m, opt, err
	}
	m, err = m.WithSide(e.ctx, f.Side, map[string]kft.Source{"-": kft.Reader("standard input", e.stdin)})
	return m, opt, err
}
