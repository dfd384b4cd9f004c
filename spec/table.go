package spec

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A Data specifies where the observations are and what the columns mean.
type Data struct {
	Files      []string `yaml:"files" json:"files" doc:"CSV or TSV (plain, gzip or zstd), Parquet or Arrow; - is standard input"`
	Target     string   `yaml:"target" json:"target" doc:"column to predict, or several: units,revenue"`
	Weight     string   `yaml:"weight" json:"weight" doc:"column of weights, which are precisions; empty for none"`
	Exposure   string   `yaml:"exposure" json:"exposure" doc:"column of exposures, which multiply the rates of counts; empty for none"`
	Censored   string   `yaml:"censored" json:"censored,omitempty" doc:"column that marks targets whose true value may be higher; empty for none"`
	Modes      []string `yaml:"modes" json:"modes" doc:"a column, name=column+column, or a function: name=hour(column), number(price)"`
	Delimiter  string   `yaml:"delimiter" json:"delimiter" doc:"auto, comma, tab, semicolon, bar, space, one character or several such as ::"`
	Header     string   `yaml:"header" json:"header" doc:"auto, yes or no"`
	Duplicates string   `yaml:"duplicates" json:"duplicates" doc:"rows of the same cell: error, sum, mean, last or keep"`

	Decimal   string `yaml:"decimal" json:"decimal" doc:"decimal sign of formatted numbers: point or comma; empty for plain numbers"`
	Thousands string `yaml:"thousands" json:"thousands" doc:"separator of thousands: comma, point, space, apostrophe, underscore or none"`

	Covariates []string `yaml:"covariates" json:"covariates,omitempty" doc:"columns that describe a cell, such as price, or none; become modes"`
	Lags       []string `yaml:"lags" json:"lags,omitempty" doc:"periods before, whose target describes a cell, such as 1; become modes"`
	History    []string `yaml:"history" json:"history,omitempty" doc:"store*item: number of training periods of the pair; become modes"`
	Absent     string   `yaml:"absent" json:"absent" doc:"cells without a row within the life of a series: unknown or zero"`
	Ends       string   `yaml:"ends" json:"ends,omitempty" doc:"what a split by time and forecasts count from: the end of the table, of each series (table, series), or empty for auto"`

	NonNegative string `yaml:"nonnegative" json:"nonnegative" doc:"predictions of 0 or more: yes, no, or auto (if no target is negative)"`
}

// Table returns the columns of the table and its format. Modes that are computed from the
// training rows have no columns.
func (d Data) Table() (dataset.Schema, tableio.Format, error) {
	schema := dataset.Schema{Target: d.Target, Weight: d.Weight, Exposure: d.Exposure, Censored: d.Censored, Duplicates: d.Duplicates}
	var format tableio.Format
	for i, text := range d.Modes {
		mode, err := dataset.ParseMode(text)
		if err != nil {
			return schema, format, fielderr.Errorf(index("data.modes", i), "%w", err)
		}
		if mode.Computed() || mode.Target() {
			continue
		}
		schema.Modes = append(schema.Modes, mode)
	}
	var err error
	if err = format.SetDelimiter(d.Delimiter); err != nil {
		return schema, format, fielderr.Errorf("data.delimiter", "%w", err)
	}
	if format.Header, err = delimited.ParseHeader(d.Header); err != nil {
		return schema, format, fielderr.Errorf("data.header", "%w", err)
	}
	format.Numbers, err = dataset.ParseNumberFormat(d.Decimal, d.Thousands)
	return schema, format, err
}

func (d *Data) fill(defaults Data) {
	fill(&d.Delimiter, defaults.Delimiter)
	fill(&d.Header, defaults.Header)
	fill(&d.Duplicates, defaults.Duplicates)
	fill(&d.NonNegative, defaults.NonNegative)
	fill(&d.Absent, defaults.Absent)
	d.AddCovariates()
}

func (d Data) validate(ps *Problems) {
	for i, f := range d.Files {
		if f == "" {
			ps.Addf(index("data.files", i), "the name is empty")
		}
	}
	if d.Target == "" {
		ps.Addf("data.target", "missing; name the column to predict")
	} else if d.Weight == d.Target {
		ps.Addf("data.weight", "column %q is already the target", d.Weight)
	} else if d.Exposure == d.Target {
		ps.Addf("data.exposure", "column %q is already the target", d.Exposure)
	}
	if len(d.Modes) == 0 {
		ps.Addf("data.modes", "missing; name the columns that identify a cell, such as store, item, time=year+month")
	}
	seen := map[string]bool{}
	for i, text := range d.Modes {
		path := index("data.modes", i)
		mode, err := dataset.ParseMode(text)
		if err != nil {
			ps.Addf(path, "%v", err)
			continue
		}
		if !mode.Computed() && !mode.Target() {
			for _, target := range d.Targets() {
				if slices.Contains(mode.Columns, target) {
					ps.Addf(path, "column %q is already the target", target)
				}
			}
		}
		if seen[mode.Name] {
			ps.Addf(path, "two modes have the name %q; rename one of them, as in other=%s", mode.Name, text)
			continue
		}
		seen[mode.Name] = true
	}
	if err := new(tableio.Format).SetDelimiter(d.Delimiter); err != nil {
		ps.Addf("data.delimiter", "%v", err)
	}
	if _, err := dataset.ParseNumberFormat(d.Decimal, d.Thousands); err != nil {
		ps.Addf(fielderr.Path(err), "%v", err)
	}
	oneOf(ps, "data.header", d.Header, "auto", "yes", "no")
	oneOf(ps, "data.nonnegative", d.NonNegative, "auto", "yes", "no")
	oneOf(ps, "data.duplicates", d.Duplicates, dataset.DuplicateRules()...)
	d.validateCovariates(ps)
	d.validateTargets(ps)
}
