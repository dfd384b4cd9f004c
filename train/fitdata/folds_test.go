package fitdata

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/spec"
)

// Every training and validation row is in the validation set of one fold, no test row is.
func TestFolds(t *testing.T) {
	t.Parallel()
	s := spec.Spec{Data: spec.Data{Files: []string{testtable.WriteSales(t, 400)}, Target: "units", Modes: []string{"store", "item", "time=year+month"}}}
	read := func(how string) *Data {
		t.Helper()
		s.Split = how
		s.Fill()
		data, err := Read(t.Context(), s, tableio.Source{}, Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	data := read("random:60/20/20")
	before := slices.Clone(data.split.Parts)
	folds, err := data.Folds(4, 7)
	if err != nil {
		t.Fatal(err)
	}
	for row, part := range before {
		times := 0
		for _, f := range folds {
			if f.split.Parts[row] == dataset.Valid {
				times++
			}
			if (part == dataset.Test) != (f.split.Parts[row] == dataset.Test) {
				t.Fatalf("row %d of part %v is in part %v", row, part, f.split.Parts[row])
			}
		}
		if want := 1; part != dataset.Test && times != want {
			t.Fatalf("row %d is in the validation sets of %d folds, want %d", row, times, want)
		}
	}
	if !slices.Equal(before, data.split.Parts) {
		t.Error("the division of the data has changed")
	}
	if others, err := data.Folds(4, 8); err != nil || slices.Equal(folds[0].split.Parts, others[0].split.Parts) {
		t.Error("another seed gives the same folds")
	}
	if share := data.Familiar(); share < 0.9 {
		t.Errorf("got %g familiar validation rows of a random split, want most of them", share)
	}
	if share := read("time:last=2").Familiar(); share != 0 {
		t.Errorf("got %g familiar validation rows of a split by time, want 0", share)
	}
}

// Of the validation rows as many as asked for stay, the others are training rows.
func TestKeepValid(t *testing.T) {
	t.Parallel()
	s := spec.Spec{Data: spec.Data{Files: []string{testtable.WriteSales(t, 400)}, Target: "units", Modes: []string{"store", "item", "time=year+month"}}}
	s.Fill()
	data, err := Read(t.Context(), s, tableio.Source{}, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(data.split.Parts)
	const keep = 30
	larger, err := data.KeepValid(keep, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, moved := larger.Count(dataset.Train)-data.Count(dataset.Train), data.Count(dataset.Valid)-keep; larger.Count(dataset.Valid) != keep || got != moved {
		t.Errorf("got %d validation rows and %d more training rows, want %d and %d", larger.Count(dataset.Valid), got, keep, moved)
	}
	for row, part := range before {
		if now := larger.split.Parts[row]; now != part && !(part == dataset.Valid && now == dataset.Train) {
			t.Fatalf("row %d of part %v is in part %v", row, part, now)
		}
	}
	if !slices.Equal(before, data.split.Parts) {
		t.Error("the division of the data has changed")
	}
	if same, err := data.KeepValid(len(before), 1); err != nil || same != data {
		t.Errorf("got other data although all validation rows stay (%v)", err)
	}
}

// Months are whole in one fold, and of each fold there are some, also of half a year and of every third month.
func TestFoldsOfMonths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ days, every, folds int }{{200, 1, 3}, {420, 3, 2}} {
		checkFoldsOfMonths(t, c.days, c.every, c.folds)
	}
}

func checkFoldsOfMonths(t *testing.T, n, every, want int) {
	t.Helper()
	var text strings.Builder
	text.WriteString("day,value\n")
	for k := range n {
		if day := time.Date(2021, 10, 5+k, 0, 0, 0, 0, time.UTC); int(day.Month())%every == 10%every {
			fmt.Fprintf(&text, "%s,%d\n", day.Format(time.DateOnly), k)
		}
	}
	file := filepath.Join(t.TempDir(), "days.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "value", Modes: []string{"day"}}, Split: "time:last=10"}
	s.Fill()
	data, err := Read(t.Context(), s, tableio.Files(file), Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	days := data.Days(0)
	folds, err := data.FoldsOfMonths(days, 0, 3)
	if err != nil || len(folds) != want {
		t.Fatalf("got %d folds, want %d (%v)", len(folds), want, err)
	}
	times := map[int]int{}
	for k, fold := range folds {
		of := map[string]dataset.Part{}
		for row, part := range fold.split.Parts {
			if before := data.split.Parts[row]; before != dataset.Train {
				if part == dataset.Valid || part == dataset.Train {
					t.Fatalf("fold %d: row %d of part %v is in part %v", k, row, before, part)
				}
				continue
			}
			month := days[data.table.Codes[0][row]].Format("2006-01")
			if of[month] != 0 && of[month] != part+1 {
				t.Errorf("fold %d: month %s is in several parts", k, month)
			}
			of[month] = part + 1
			if part == dataset.Valid {
				times[row]++
			}
		}
		if n := fold.Count(dataset.Valid); n < 25 {
			t.Errorf("fold %d has %d validation rows", k, n)
		}
	}
	for row, n := range times {
		if n != 1 {
			t.Errorf("row %d is in the validation sets of %d folds", row, n)
		}
	}
	if len(times) != data.Count(dataset.Train) {
		t.Errorf("%d of %d training rows are in a validation set", len(times), data.Count(dataset.Train))
	}
}

// Means of days are in standard deviations of their series, also if values are far from 0.
func TestDayMeans(t *testing.T) {
	t.Parallel()
	for _, base := range []int{0, 1_000_000_000} {
		checkDayMeans(t, base)
	}
}

func checkDayMeans(t *testing.T, base int) {
	t.Helper()
	text := "shop,day,value\n"
	for _, r := range []struct {
		shop, day string
		value     int
	}{
		{"a", "01", 1}, {"a", "02", 3}, {"b", "01", 30}, {"b", "02", 10}, {"b", "03", 30}, {"b", "04", 10}, {"c", "01", 5}, {"c", "05", 7},
	} {
		text += fmt.Sprintf("%s,2021-01-%s,%d\n", r.shop, r.day, base+r.value)
	}
	file := filepath.Join(t.TempDir(), "days.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "value", Modes: []string{"shop", "day"}}, Split: "time:last=1"}
	s.Fill()
	data, err := Read(t.Context(), s, tableio.Files(file), Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := data.DayMeans(data.Days(1), 1, []int{0})
	// Shop a has -1 and 1, of b the fourth day is in the validation set, c has one training row.
	want := map[string]float64{"2021-01-01": (-1 + math.Sqrt(0.5)) / 2, "2021-01-02": (1 - math.Sqrt(2)) / 2, "2021-01-03": math.Sqrt(0.5)}
	for day, value := range got {
		if text := day.Format(time.DateOnly); math.Abs(value-want[text]) > 1e-12 {
			t.Errorf("from %d: %s has the mean %g, want %g", base, text, value, want[text])
		}
	}
	if len(got) != len(want) {
		t.Errorf("got the means of %d days, want %d", len(got), len(want))
	}
}
