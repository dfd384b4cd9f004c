package automatic_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

func TestAutomaticRefusesOneMode(t *testing.T) {
	t.Parallel()
	table := func(cities, rows int) string {
		var text strings.Builder
		text.WriteString("city,price\n")
		for i := range cities * rows {
			fmt.Fprintf(&text, "c%d,%d.5\n", i%cities, i)
		}
		file := filepath.Join(t.TempDir(), "t.csv")
		writeFile(t, file, text.String())
		return file
	}
	for _, tc := range []struct {
		file, duplicates, want string
	}{
		{table(50, 40), "mean", "after averaging the rows of the same cell each id of the only mode, city, has one value, so these averages are the best prediction; name a second mode"},
		{table(5, 40), "sum", "after summing the rows of the same cell each id of the only mode, city, has one value, so these sums are"},
		{table(50, 40), "last", "after taking the last of the rows of the same cell"},
	} {
		s := spec.Spec{Data: spec.Data{Files: []string{tc.file}, Duplicates: tc.duplicates}}
		if _, _, err := search.Fit(t.Context(), s, tableio.Source{}, train.Options{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("duplicates %q: got %v, want an error with %q", tc.duplicates, err, tc.want)
		}
	}
	s := spec.Spec{Data: spec.Data{Files: []string{table(50, 1)}, Target: "price", Modes: []string{"city"}}}
	if _, _, err := search.Fit(t.Context(), s, tableio.Source{}, train.Options{}); err == nil || !strings.Contains(err.Error(), "or if it is a time, write it as dates") {
		t.Errorf("got %v", err)
	}
}

// Where nothing is guessed, neither is a rule for rows of the same cell, and the error
// names the rules.
func TestGuessLeavesGivenModesAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "t.csv")
	writeFile(t, file, "shop,item,units\na,x,1\nb,x,2\na,y,3\na,x,4\n")
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "units", Modes: []string{"shop", "item"}}}
	_, _, err := search.Fit(t.Context(), s, tableio.Source{}, train.Options{})
	if want := "line 5: cell shop=a,item=x already occurs on line 2 (1 repeated row in total); set data.duplicates to sum, mean, last or keep"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}
