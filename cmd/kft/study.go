package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/tune"
)

// studyCommand looks at what tune has done.
type studyCommand struct {
	Show   studyShow   `cmd:"" help:"List the trials of a study and the best of them."`
	Export studyExport `cmd:"" help:"Write a study as JSON, CSV or Optuna's journal."`
}

// studyShow lists trials.
type studyShow struct {
	File string `arg:"" optional:"" default:"study.db" complete:"file" help:"The study, a file or postgres://user@host/database (default: study.db)."`
}

// Help is shown by kft study show --help.
func (*studyShow) Help() string {
	return `Lists the trials with their values, the best of them, and what mattered: for each parameter the share of the differences between the finished trials that it explains alone, from 0 to 1. It is told from 8 finished trials on, and is rough below some 50. kft plot study draws it.`
}

// Run prints a line a trial.
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
	for _, t := range r.Trials {
		if t.State == tune.Failed {
			fmt.Fprintf(e.stdout, "trial %d: %s\n", t.Number+1, firstLine(t.Problem))
		}
	}
	if r.Best == nil {
		_, err = fmt.Fprintln(e.stdout, "\nno trial is done yet")
		return err
	}
	fmt.Fprintf(e.stdout, "\nbest: trial %d, %s %.4f\n", r.Best.Number+1, r.Fact("objective"), *r.Best.Score)
	return writeImportances(e.stdout, r)
}

// writeImportances writes a line of what mattered.
func writeImportances(w io.Writer, r tune.Record) error {
	all, err := r.Importances()
	if err != nil {
		return err
	}
	text := fmt.Sprintf("it takes %d finished trials that differ to tell", tune.MinTrialsForImportance)
	if all != nil {
		var parts []string
		for _, i := range all {
			parts = append(parts, fmt.Sprintf("%s %.2f", i.Name, i.Share))
		}
		text = strings.Join(parts, ", ")
	}
	_, err = fmt.Fprintln(w, "what mattered: "+text)
	return err
}

// studyExport writes a study for other programs.
type studyExport struct {
	File   string `arg:"" optional:"" default:"study.db" complete:"file" help:"The study, a file or postgres://user@host/database (default: study.db)."`
	Format string `default:"json" placeholder:"F" enum:"json,csv,optuna" values:"json,csv,optuna" help:"json, csv or optuna, a journal file that Optuna loads (default: json)."`
	Output string `short:"o" default:"-" placeholder:"FILE" complete:"file" help:"Where it goes (default: standard output)."`
}

// Help is shown by kft study export --help.
func (*studyExport) Help() string {
	return `Writes all that is known of a study. The journal is that of Optuna's JournalFileBackend: its trials, in all states, and what could vary become a study of Optuna's named kft, which its own tools and plots take.

Examples:

    kft study export --format csv -o trials.csv
    kft study export --format optuna -o journal.log`
}

// Run writes the study.
func (c *studyExport) Run(e *env) error {
	r, err := readStudy(e, c.File)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		switch c.Format {
		case "csv":
			return r.WriteCSV(w)
		case "optuna":
			return r.WriteJournal(w)
		}
		return writeJSON(w, r)
	}
	if c.Output == "-" {
		return write(e.stdout)
	}
	if err := checkTarget(c.Output, []string{c.File}); err != nil {
		return err
	}
	return atomicfile.Write(c.Output, write)
}

// checkPlace refuses what is neither a file nor the URL of a PostgreSQL database,
// without showing it, for it may have a password.
func checkPlace(place string) error {
	scheme, _, _ := strings.Cut(place, ":")
	isURL := strings.Contains(place, "://") || strings.HasPrefix(strings.ToLower(scheme), "postgres")
	switch {
	case place == "" || place == "-":
		return usagef("%q is no place for a study; give a file, or postgres://user@host/database", place)
	case isURL && strings.Contains(place, ":") && !tune.IsPostgres(place):
		return usagef("a study is a file, or in PostgreSQL at postgres://user@host/database; what begins with %s: is neither", scheme)
	}
	return nil
}

// readPatience is how long a look at a study waits where it is busy or away.
const readPatience = 10 * time.Second

// readStudy reads a study that is there.
func readStudy(e *env, file string) (tune.Record, error) {
	if err := checkPlace(file); err != nil {
		return tune.Record{}, err
	}
	if !tune.IsPostgres(file) {
		switch info, err := os.Stat(file); {
		case err != nil:
			return tune.Record{}, fmt.Errorf("%s: %v; kft tune makes a study", file, cause(err))
		case info.IsDir():
			return tune.Record{}, fmt.Errorf("%s is a folder; give the file of a study", file)
		case info.Size() == 0: // looking at it shall not make a study of it
			return tune.Record{}, fmt.Errorf("%s: the file is empty; kft tune makes a study", file)
		}
	}
	store, err := tune.OpenStore(e.ctx, file, readPatience)
	if err != nil {
		return tune.Record{}, err
	}
	defer store.Close()
	r, err := tune.Read(e.ctx, store)
	if err != nil {
		return r, fmt.Errorf("%s: %w", tune.RedactedLocation(file), err)
	}
	return r, nil
}

// writeValues writes a line a parameter.
func writeValues(w io.Writer, v tune.Values, names []string) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, n := range names {
		fmt.Fprintf(table, "  %s\t%s\n", n, shortNumber(v[n]))
	}
	table.Flush()
}

// shortNumber is a value with four digits where it is a number, - for none.
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
