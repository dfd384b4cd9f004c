package publicdata

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// A column of a download is known by several names, of which letters and digits
// count: exports write "Bottles Sold", programs sale_bottles.
type column struct {
	name    string // in the tables that are made
	aliases string // separated by bars; the first is the one told to people
	needed  bool
}

// locate returns the position of each column, -1 for one that is not there and not
// needed.
func locate(file string, names []string, columns []column) ([]int, error) {
	plain := make([]string, len(names))
	for i, name := range names {
		plain[i] = plainName(name)
	}
	at := make([]int, len(columns))
	var missing []string
	for c, column := range columns {
		at[c] = -1
		for alias := range strings.SplitSeq(column.aliases, "|") {
			if i := slices.Index(plain, plainName(alias)); i >= 0 && alias != "" {
				at[c] = i
				break
			}
		}
		if at[c] < 0 && column.needed {
			missing = append(missing, strings.ReplaceAll(column.aliases, "|", " or "))
		}
	}
	if len(missing) > 0 {
		return nil, &dataset.InputError{File: file, Problem: fmt.Sprintf("no column %s; the file has %s", strings.Join(missing, ", and no column "), strings.Join(names, ", ")),
			Remedy: "check that this is the right download, with its header"}
	}
	return at, nil
}

func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, name)
}
