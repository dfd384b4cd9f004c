package sideinfo

import (
	"reflect"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

func TestParseSpec(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Spec{
		"store=stores.csv": {Mode: "store", File: "stores.csv"},
		"store=stores.csv:city:cat,county:cat,lat,lon": {Mode: "store", File: "stores.csv",
			Columns: []ColumnSpec{{"city", Cat}, {"county", Cat}, {"lat", ""}, {"lon", ""}}},
		"store=data/s.csv[key=store_id]:opened:date": {Mode: "store", File: "data/s.csv", Key: []string{"store_id"}, Columns: []ColumnSpec{{"opened", Date}}},
		"time=w.csv[key=year+month]":                 {Mode: "time", File: "w.csv", Key: []string{"year", "month"}},
		"time=@year:num,@month:cycle12":              {Mode: "time", Columns: []ColumnSpec{{"year", Num}, {"month", "cycle12"}}},
		"time = @year , @month : cycle12 ":           {Mode: "time", Columns: []ColumnSpec{{"year", ""}, {"month", "cycle12"}}},
		"movie=tags.csv~tag~relevance":               {Mode: "movie", File: "tags.csv", Name: "tag", Value: "relevance"},
		"movie=tags.csv[key=movieId]~tag":            {Mode: "movie", File: "tags.csv", Key: []string{"movieId"}, Name: "tag"},
		"movie=t.csv~tag~score:noir,sea:log":         {Mode: "movie", File: "t.csv", Name: "tag", Value: "score", Columns: []ColumnSpec{{"noir", ""}, {"sea", Log}}},
		`s="C:\a b.csv":"price, net":log,"a""b"`:     {Mode: "s", File: `C:\a b.csv`, Columns: []ColumnSpec{{"price, net", Log}, {`a"b`, ""}}},
	} {
		got, err := ParseSpec(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", text, got, err, want)
			continue
		}
		again, err := ParseSpec(got.String())
		if err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%s, written as %s: got %+v, %v; want %+v", text, got, again, err, want)
		}
	}
}

func TestParseSpecErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           `the mode is missing; write mode=file:column:type,column or mode=@column:type`,
		"store":                      `'=' is missing`,
		"store=":                     `the file is missing`,
		"=stores.csv":                `the mode is missing`,
		"store=s.csv:":               `a column is missing`,
		"store=s.csv:city:":          `column "city": unknown type ""`,
		"store=s.csv:city:catt":      `column "city": unknown type "catt" (did you mean "cat"?); use num, log, date, year, cat, labels, words, group or cycleN`,
		"store=s.csv:month:cycle":    `"cycle" needs a period above 0, as in cycle12`,
		"store=s.csv:month:cycle-1":  `"cycle-1" needs a period above 0`,
		"store=s.csv:month:cyclenan": `"cyclenan" needs a period above 0`,
		"store=s.csv:a,b,a":          `column "a" is listed twice`,
		"store=s.csv[id]":            `'[' must be followed by key=COLUMN]`,
		"store=s.csv[key=id":         `the '[' before key is not closed`,
		"store=s.csv[key=id]x":       `unexpected "x"`,
		"store=s.csv:@city":          `"@city" is a column computed from the ids; give these and side tables in separate entries`,
		"time=@year,month":           `"month" lacks the '@'`,
		`store="s.csv`:               `the quote around the file is not closed`,
		`store="s.csv"x`:             `"x" follows the quote around the file`,
		"m=t.csv~tag:x":              `a long table without values is one column of labels`,
	} {
		if _, err := ParseSpec(text); err == nil || !strings.Contains(err.Error(), want) || fielderr.Path(err) != "side.tables" {
			t.Errorf("%s: got error %v (field %q), want %s", text, err, fielderr.Path(err), want)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, text := range []string{"store=stores.csv:city:cat,lat", "time=@year:num,@month:cycle12", `m="a""b"[key=x+y]~n~v:c:log`, "a=b[key=c]~d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := ParseSpec(text)
		if err != nil {
			return
		}
		again, err := ParseSpec(spec.String())
		if err != nil || !reflect.DeepEqual(spec, again) {
			t.Errorf("%q, written as %q: got %+v, %v; want %+v", text, spec.String(), again, err, spec)
		}
	})
}
