package experiment

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Folders are read also if other programs wrote them. Errors name the damaged file.
func TestRead(t *testing.T) {
	t.Parallel()
	folder := Folder(t.TempDir())
	if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), "no experiment results here") {
		t.Errorf("empty folder: got error %v", err)
	}
	if err := os.Mkdir(filepath.Join(string(folder), "cells"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), "no cells yet") {
		t.Errorf("folder without cells: got error %v", err)
	}
	for _, c := range testResults().Cells {
		if err := writeJSON(folder.cellFile(c.Configuration, c.Split), c); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Read(folder)
	if err != nil || len(r.Cells) != len(testResults().Cells) {
		t.Fatalf("got %d cells, %v, want %d", len(r.Cells), err, len(testResults().Cells))
	}
	s, err := Summarize(r, []string{"r2"}, "lightgbm")
	if err != nil || len(s.Rows) != 3 || s.Rows[0].Configuration != "deep_net" || len(s.Pairs) != 2 {
		t.Errorf("got summary %+v, %v, want 3 rows and 2 pairs", s, err)
	}
	other := filepath.Join(string(folder), "cells", "other.json")
	for text, want := range map[string]string{
		`{"configuration":"ours","split":1}`:                       "two files",
		`{"configuration":"ours"}`:                                 "has no configuration, or no split",
		`{"test":{"r2":NaN}}`:                                      other,
		`{"configuration":"o` + strconv.Quote("") + `"split":"1"}`: other,
	} {
		if err := os.WriteFile(other, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q in it", text, err, want)
		}
	}
}

// The recorded results of the peers stay readable.
func TestReadRecorded(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(filepath.Join("..", "bench", "peers", "recorded", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("found no recorded results: %v", err)
	}
	for _, folder := range folders {
		r, err := Read(Folder(folder))
		if err != nil {
			t.Errorf("%s: %v", folder, err)
			continue
		}
		s, err := Summarize(r, nil, "")
		if err != nil || len(s.Rows) == 0 || len(s.Failed) == len(r.Cells) {
			t.Errorf("%s: got summary %+v, %v, want rows", folder, s, err)
		}
	}
}
