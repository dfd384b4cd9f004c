package tableio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// A delimiter of several characters is read like one character, wherever the blocks of
// the text end, and detected.
func TestLongDelimiter(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "%d::%d::%d::9783%05d\n", i%71, i, i%5, i)
	}
	schema := dataset.Schema{Target: "c3", Modes: []dataset.Mode{{Name: "c1", Columns: []string{"c1"}}, {Name: "c2", Columns: []string{"c2"}}}}
	want, err := Read(t.Context(), Reader("t", strings.NewReader(strings.ReplaceAll(text.String(), "::", ","))), schema, Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, delimiter := range []string{"::", "||", "~|~"} {
		format := Format{}
		if delimiter == "~|~" { // is not detected
			if err := format.SetDelimiter(delimiter); err != nil {
				t.Fatal(err)
			}
		}
		in := iotest.OneByteReader(strings.NewReader(strings.ReplaceAll(text.String(), "::", delimiter)))
		got, err := Read(t.Context(), Reader("t", in), schema, format, 2)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Y, want.Y) || !slices.Equal(got.Codes[0], want.Codes[0]) || !slices.Equal(got.Dicts[1].IDs(), want.Dicts[1].IDs()) {
			t.Errorf("with %s the table differs from that with commas", delimiter)
		}
	}
}

// Quotes protect a long delimiter, errors have their line, and the output of a table
// with such a delimiter has commas.
func TestLongDelimiterDetails(t *testing.T) {
	t.Parallel()
	text := "a::b::y\n\"x::1\"::\"say \"\"::\"\"\"::3\nz:::q::4\n"
	f, err := ReadFrame(t.Context(), Reader("t", strings.NewReader(text)), Format{LongDelimiter: "::"})
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]string{{"x::1", "z"}, {`say "::"`, ":q"}, {"3", "4"}}; fmt.Sprint(f.Columns) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", f.Columns, want)
	}
	_, err = ReadFrame(t.Context(), Reader("t", strings.NewReader("a::b\n1::2\n3\n")), Format{LongDelimiter: "::"})
	var input *dataset.InputError
	if !errors.As(err, &input) || input.Line != 3 || strings.Contains(err.Error(), `\x1f`) {
		t.Errorf("got %v, want an error in line 3 that does not name the stand-in", err)
	}
	var out bytes.Buffer
	schema := dataset.Schema{Modes: []dataset.Mode{{Name: "a", Columns: []string{"a"}}}}
	err = AppendColumns(context.Background(), Reader("t", strings.NewReader(text)), schema, []*dataset.Dict{dataset.NewDict(nil)}, Format{}, 1, &out, Output{},
		[]AddedColumn{{Name: "p"}}, func(b *Batch, v *AddedValues) error { return nil })
	if want := "a,b,y,p\nx::1,\"say \"\"::\"\"\",3,0\nz,:q,4,0\n"; err != nil || out.String() != want {
		t.Errorf("got %q, %v, want %q", out.String(), err, want)
	}
	for _, bad := range []string{"ab", ":a:", "\"\"", ": :", ":::::::::"} {
		if err := new(Format).SetDelimiter(bad); err == nil {
			t.Errorf("%q is accepted as a delimiter", bad)
		}
	}
}

// Targets, weights and exposures are read in the format of the table, from text and
// from columns of strings.
func TestNumberFormat(t *testing.T) {
	t.Parallel()
	schema := dataset.Schema{Target: "y", Weight: "w", Exposure: "e", Modes: []dataset.Mode{{Name: "a", Columns: []string{"a"}}}}
	numbers, err := dataset.ParseNumberFormat("comma", "point")
	if err != nil {
		t.Fatal(err)
	}
	columns, err := dataset.NewColumns(dataset.StringColumn("a", []string{"p", "q", "r"}), dataset.StringColumn("y", []string{"1.234,5 €", "1.234", "-,5"}),
		dataset.FloatColumn("w", []float64{1.5, 2, 3}), dataset.StringColumn("e", []string{"1,5", "2", "1.000"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []Source{Columns(columns), Reader("t", strings.NewReader("a;y;w;e\np;1.234,5 €;1,5;1,5\nq;1.234;2;2\nr;-,5;3;1.000\n"))} {
		table, err := Read(t.Context(), source, schema, Format{Numbers: numbers}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(table.Y, []float32{1234.5, 1234, -.5}) || !slices.Equal(table.W, []float32{1.5, 2, 3}) || !slices.Equal(table.Exposure, []float32{1.5, 2, 1000}) {
			t.Errorf("%v: got %v, %v, %v", source, table.Y, table.W, table.Exposure)
		}
	}
	_, err = Read(t.Context(), Reader("t", strings.NewReader("a;y;w;e\np;1.234,5 €;1;1\n")), schema, Format{}, 1)
	if err == nil || !strings.Contains(err.Error(), "set data.decimal and data.thousands") {
		t.Errorf("got %v, want an error that names the fields", err)
	}
}

// The guess of a table that is sorted by time sees more than the first month, and one
// of several files more than the first file.
func TestGuessSpread(t *testing.T) {
	t.Parallel()
	write := func(from, to int) string {
		var text strings.Builder
		text.WriteString("period,city,shop,sold\n")
		for p := from; p < to; p++ {
			for i := range 3000 {
				fmt.Fprintf(&text, "2015-%02d,c%d,s%d,%d\n", 1+p, i/1000, i, (i*7+p)%13)
			}
		}
		return text.String()
	}
	columns := func(g *Guess) string { return g.Target + " " + strings.Join(g.Modes, " ") }
	want := "sold shop time=period"
	whole := datasettest.WriteFile(t, "whole.csv", write(0, 12))
	g, err := GuessWith(Files(whole), Format{}, guess.Given{})
	if err != nil || columns(g) != want {
		t.Errorf("got %v, %v, want %s", columns(g), err, want)
	}
	g, err = GuessColumns(Files(datasettest.WriteFile(t, "jan.csv", write(0, 1)), datasettest.WriteFile(t, "feb.csv", write(1, 2))), Format{})
	if err != nil || columns(g) != want {
		t.Errorf("got %v, %v, want %s", columns(g), err, want)
	}
	s := stride{size: 1000}
	rows, last := 0, 0
	for at := range 1000 {
		if s.take(1, rows, 100) {
			rows, last = rows+1, at
		}
	}
	if rows < 95 || rows > 105 || last < 950 {
		t.Errorf("took %d of 1000 blocks, the last at %d; want 100, spread over all", rows, last)
	}
}

// What is given is not guessed.
func TestGuessWith(t *testing.T) {
	t.Parallel()
	text := "store,item,price,units\n"
	for i := range 80 {
		text += fmt.Sprintf("%d,i%d,%d.5,%d\n", i%8, i/8, i%7, i*i%11)
	}
	g, err := GuessWith(Reader("t", strings.NewReader(text)), Format{}, guess.Given{Target: "price", Modes: []string{"item"}})
	if err != nil || g.Target != "price" || !slices.Equal(g.Modes, []string{"item"}) || g.Duplicates != "keep" || len(g.Covariates) > 0 || g.Repeated != 70 {
		t.Errorf("got %+v, %v, want price by item with 70 repeated rows", g.Guess, err)
	}
	_, err = GuessWith(Reader("t", strings.NewReader(text)), Format{}, guess.Given{Target: "unit"})
	var input *dataset.InputError
	if !errors.As(err, &input) || input.Field != "data.target" {
		t.Errorf("got %v, want an error about data.target", err)
	}
	_, err = GuessColumns(Reader("t", strings.NewReader("a,b\n1.5,x\n2.5,y\n3.5,z\n")), Format{})
	var incomplete *guess.Error
	if !errors.As(err, &incomplete) || incomplete.Field != "data.modes" || !errors.As(err, &input) {
		t.Errorf("got %v, want a *guess.Error about data.modes", err)
	}
}

// No table makes the guess panic.
func FuzzGuess(f *testing.F) {
	f.Add("a,b,y\n1,x,2\n2,,3\n")
	f.Add("a::b\n2016-W05::NaN\n2016Q1::1.234,5\n")
	f.Add("t,2015-01,2015-02,2015-03,2015-04,2015-05\n0,1,2,3,4,5\n")
	f.Add("year,month,day,hour\n2015,1,1,0\n2015,1,1,1\n")
	f.Add("\xa0,\n2,") // a name of a space that is not broken
	f.Fuzz(func(t *testing.T, text string) {
		g, err := GuessColumns(Reader("t", strings.NewReader(text)), Format{})
		if err == nil && (g.Target == "" || len(g.Modes)+len(g.Covariates) == 0) {
			t.Errorf("no error, but target %q, modes %q, covariates %q", g.Target, g.Modes, g.Covariates)
		}
		if g != nil {
			for _, m := range g.Modes {
				if _, err := dataset.ParseMode(m); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
