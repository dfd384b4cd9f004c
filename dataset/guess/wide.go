package guess

import (
	"fmt"
	"strings"
)

// Wide describes a table with one column per period or series instead of one row.
type Wide struct {
	IDs    []string // columns to keep
	Totals []string // columns to remove: the sums of those that hold the values
	First  string   // of the columns that hold the values
	Last   string
	Count  int

	// Series says that each of these columns is a series and not a period, because a column of
	// IDs is the time.
	Series bool
}

func (w *Wide) problem() string {
	return fmt.Sprintf("the table is wide: %d columns, %s to %s, hold one quantity, and a row is not a single value", w.Count, w.First, w.Last)
}

// Remedy says how to bring the table into long form.
func (w *Wide) Remedy(file string) string {
	return fmt.Sprintf("%s, as in Python: import pandas; pandas.read_csv(%q)%s.to_csv(\"long.csv\", index=False)", longForm, file, w.melt())
}

const longForm = "bring it into long form first, one row per value"

// advice is like Remedy for a table without a name.
func (w *Wide) advice() string { return longForm + ", as " + w.melt() + " of a pandas table does" }

// melt returns the calls of pandas.
func (w *Wide) melt() string {
	name, drop := "time", ""
	if w.Series {
		name = "series"
	}
	if len(w.Totals) > 0 {
		drop = fmt.Sprintf(".drop(columns=[%s])", quoted(w.Totals))
	}
	return fmt.Sprintf("%s.melt(id_vars=[%s], var_name=%q)", drop, quoted(w.IDs), name)
}

// quoted returns names as a list of Python has them.
func quoted(names []string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(texts, ", ")
}
