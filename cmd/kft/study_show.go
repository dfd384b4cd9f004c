package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tune"
)

// studyShow lists trials.
type studyShow struct {
	File string `arg:"" optional:"" default:"study.db" complete:"file" help:"Study: a file or postgres://user@host/database (default: study.db)."`
}

// Help is shown by kft study show --help.
func (*studyShow) Help() string {
	return `Lists the trials with their values, the best trial, and the importance of each parameter: the share of the variation between finished trials, from 0 to 1, that it explains alone. Importance requires 8 finished trials and is rough below about 50. kft plot study plots it.

Example:

    kft study show study.db`
}

// Run prints one line per trial.
func (c *studyShow) Run(e *env) error {
	r, err := readStudy(e, c.File)
	if err != nil {
		return err
	}
	names := r.Parameters()
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "trial\tstate\t", r.Fact("objective"))
	for _, n := range names {
		fmt.Fprint(table, "\t", n)
	}
	fmt.Fprintln(table)
	for _, t := range r.Trials {
		score := "-"
		if t.Score != nil {
			score = strconv.FormatFloat(*t.Score, 'f', 4, 64)
		}
		fmt.Fprintf(table, "%d\t%s\t%s", t.Number+1, t.State, score)
		for _, n := range names {
			fmt.Fprint(table, "\t", shortNumber(t.Values[n]))
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if legend := termLegend(r.Fact("specification terms"), names); legend != "" {
		fmt.Fprintf(e.stdout, "terms: %s\n", legend)
	}
	for _, t := range r.Trials {
		if t.State == tune.Failed {
			fmt.Fprintf(e.stdout, "trial %d: %s\n", t.Number+1, firstLine(t.Problem))
		}
	}
	if r.Best == nil {
		_, err = fmt.Fprintln(e.stdout, "\nno completed trials yet")
		return err
	}
	fmt.Fprintf(e.stdout, "\nbest: trial %d, %s %.4f\n", r.Best.Number+1, r.Fact("objective"), *r.Best.Score)
	return writeImportances(e.stdout, r)
}

// termLegend says which term each of the parameters term.2, term.3 and so on is about. terms is
// the JSON list of the terms of the first trial.
func termLegend(terms string, names []string) string {
	var list, legend []string
	if json.Unmarshal([]byte(terms), &list) != nil {
		return ""
	}
	for i, term := range list {
		if name := "term." + strconv.Itoa(i+1); slices.Contains(names, name) {
			legend = append(legend, name+" "+spec.ReadableTerms(term))
		}
	}
	return strings.Join(legend, ", ")
}

// writeImportances writes the importance of each parameter.
func writeImportances(w io.Writer, r tune.Record) error {
	all, err := r.Importances()
	if err != nil {
		return err
	}
	text := fmt.Sprintf("requires %d finished trials that differ", tune.MinTrialsForImportance)
	if all != nil {
		var parts []string
		for _, i := range all {
			parts = append(parts, fmt.Sprintf("%s %.2f", i.Name, i.Share))
		}
		text = strings.Join(parts, ", ")
	}
	_, err = fmt.Fprintln(w, "importance: "+text)
	return err
}

// writeValues writes one line per parameter.
func writeValues(w io.Writer, v tune.Values, names []string) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, n := range names {
		fmt.Fprintf(table, "  %s\t%s\n", n, shortNumber(v[n]))
	}
	table.Flush()
}

// shortNumber returns a number with four digits, another value as it is, and - for none.
func shortNumber(text string) string {
	if text == "" {
		return "-"
	}
	if _, err := strconv.Atoi(text); err == nil {
		return text
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return text
}
