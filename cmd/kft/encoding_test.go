package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A table in Windows-1252 is read as such, with a warning, and its ids are those of the
// same table in UTF-8.
func TestWindows1252(t *testing.T) {
	inEmptyFolder(t)
	utf := strings.NewReplacer("S01", "Zürich", "S02", "Café “Ö”", "S03", "5 €").Replace(visits("2006-01-02", 20, "größe", "day", "visits"))
	old := strings.NewReplacer("ü", "\xfc", "é", "\xe9", "“", "\x93", "”", "\x94", "Ö", "\xd6", "ö", "\xf6", "ß", "\xdf", "€", "\x80").Replace(utf)
	write(t, "visits.csv", utf)
	write(t, "old.csv", old)
	fit := func(table, output string) string {
		return must(t, "fit", table, "--target", "visits", "--modes", "größe,day", "--rank", "1", "--sweeps", "2", "-o", output).stdout
	}
	fit("visits.csv", "utf.kft")
	if text := fit("old.csv", "old.kft"); !strings.Contains(text, "warning: 61 lines are not UTF-8 and read as Windows-1252") {
		t.Errorf("got %s", text)
	}
	want := must(t, "predict", "utf.kft", "visits.csv")
	for _, model := range []string{"utf.kft", "old.kft"} {
		for _, table := range []string{"visits.csv", "old.csv"} {
			r := must(t, "predict", model, table)
			if r.stdout != want.stdout || !utf8.ValidString(r.stdout) || !strings.Contains(r.stdout, "Zürich,2016-01-01") {
				t.Errorf("%s, %s: got %.300q", model, table, r.stdout)
			}
			if warned := strings.Contains(r.stderr, "not UTF-8"); warned != (table == "old.csv") {
				t.Errorf("%s, %s: said %q", model, table, r.stderr)
			}
		}
	}
}
