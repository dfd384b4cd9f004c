package publicdata

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// column describes a column of a download. It may have several names, of which
// only letters and digits are compared: exports have "Bottles Sold", APIs
// sale_bottles.
type column struct {
	name    string // name in the output tables
	aliases string // separated by bars; the first is used in messages
	needed  bool
}

// locate returns the position of each column, or -1 for a missing optional one.
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
			Remedy: "check that this is the right download and that it has a header"}
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
