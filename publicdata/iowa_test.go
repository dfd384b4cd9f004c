package publicdata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const exportHeader = "Invoice/Item Number,Date,Store Number,Store Name,Address,City,Zip Code,Store Location,County Number,County,Category,Category Name," +
	"Vendor Number,Vendor Name,Item Number,Item Description,Pack,Bottle Volume (ml),State Bottle Cost,State Bottle Retail,Bottles Sold,Sale (Dollars)," +
	"Volume Sold (Liters),Volume Sold (Gallons)\n"

// messy contains the errors found in such exports. Line numbers count from the
// header, and the first record has three lines.
const messy = exportHeader +
	"S1,01/15/2015,10,\"Corner, The\",1 MAIN ST,AMES,50010,\"1 MAIN ST\nAMES 50010\n(42.02, -93.65)\",85,STORY,1031,VODKA,260,\"D \"\"Big\"\" Co\",904,Some Vodka,12,750,$6.50,$9.75,12,$117.00,9,2.38\n" +
	"S2,2015-01-20T00:00:00.000,10.0,Corner,1 MAIN ST,Ames,50010,,85,Story,,,,,0904,Some Vodka,12,750,6.75,10.13,\"1,200\",,,\n" +
	"S3,01/15/2015,9,,,BOONE,,POINT (-93.88 42.06),,BOONE,,GIN,,,x904631,Gin,6,1750,\"$1,012.00\",,6,,,\n" +
	"S4,02/01/2016,9,,,BOONE,,,,,,GIN,,,x904631,Gin,6,1750,,,-6,,,\n" + // returned
	"S5,02/01/2014,9,,,OLD,,,,,,GIN,,,904,,,,,,7,,,\n" + // outside the years
	"S6,someday,9,,,,,,,,,,,,904,,,,,,7,,,\n" +
	"S7,,9,,,,,,,,,,,,904,,,,,,7,,,\n" +
	"S8,03/01/2015,,,,,,,,,,,,,904,,,,,,7,,,\n" +
	"S9,03/01/2015,9,,,,,,,,,,,,,,,,,,7,,,\n" +
	"S10,03/01/2015,9,,,,,,,,,,,,904,,,,,,many,,,\n" +
	"S11,03/01/2015,9\n" + // truncated
	"S12,03/01/2015,9,\"Quote\" here,,,,,,,,,,,904,,,,,,7,,,\n" +
	"S13,03/01/2015,77,,,,,,,,,,,,904,,,,,,5,,,\n" + // store without side information
	"S14,03/01/2015,9,,,,,,,,,,,,555,,,,,,5,,,\n" + // item without side information
	"S15,12/31/2016,10,Corner II,2 MAIN ST,,,,,,,,,,904,,,,,,3,,,\n"

func iowa(t *testing.T, o Iowa) (*Report, string, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	o.FirstYear, o.LastYear = 2015, 2016
	report, err := o.Write(context.Background(), Folder{Path: dir})
	return report, dir, err
}

const (
	wantSales = "year,month,store,item,bottles\n2015,1,10,904,1212\n2015,1,9,x904631,6\n2016,12,10,904,3\n"

	// The latest non-empty values.
	wantStores = "store,name,status,address,city,county,zip,lat,lon\n9,,,,BOONE,BOONE,,42.06,-93.88\n10,Corner II,,2 MAIN ST,Ames,Story,50010,42.02,-93.65\n"
	wantItems  = "item,category_name,item_description,vendor,vendor_name,bottle_volume_ml,pack,inner_pack,age,proof,list_date,state_bottle_cost,state_case_cost,state_bottle_retail\n" +
		"904,VODKA,Some Vodka,260,\"D \"\"Big\"\" Co\",750,12,,,,,6.75,,10.13\nx904631,GIN,Gin,,,1750,6,,,,,1012.00,,\n"
)

func TestIowaFromMessyInvoices(t *testing.T) {
	for _, c := range []struct {
		name string
		pack func(w *bytes.Buffer)
	}{
		{"sales.csv", func(w *bytes.Buffer) { w.WriteString(messy) }},
		{"sales.csv.gz", func(w *bytes.Buffer) { z := gzip.NewWriter(w); z.Write([]byte(messy)); z.Close() }},
		{"sales.csv.zst", func(w *bytes.Buffer) {
			z, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			z.Write([]byte(messy))
			z.Close()
		}},
		{"windows.csv", func(w *bytes.Buffer) { w.WriteString(strings.ReplaceAll(messy, "\n", "\r\n")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text bytes.Buffer
			c.pack(&text)
			file := write(t, t.TempDir(), c.name, text.String())
			report, dir, err := iowa(t, Iowa{Sales: []string{file}, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{"sales_2015_2016.csv.gz": wantSales, "stores.csv": wantStores, "items.csv": wantItems} {
				if got := read(t, filepath.Join(dir, name)); got != want {
					t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
				}
			}
			var dropped []string
			for _, r := range append(report.Dropped, report.Excluded...) {
				dropped = append(dropped, fmt.Sprintf("%d %s (%s)", r.Rows, r.Text, strings.TrimPrefix(r.First, file)))
			}
			want := []string{
				"2 malformed quotes or wrong number of fields (, line 14: the line has 3 fields, the table has 24 columns)",
				"2 date missing or invalid (, line 9: \"someday\")",
				"1 outside the requested years (, line 8: \"02/01/2014\")",
				"1 store number missing (, line 11)",
				"1 item number missing (, line 12)",
				"1 bottles missing or not an integer (, line 13: \"many\")",
				"1 no side information for the store ()",
				"1 no side information for the item ()",
				"1 sold minus returned bottles are 0 or less ()",
			}
			for _, line := range want {
				if !strings.Contains(strings.Join(dropped, "\n"), line) {
					t.Errorf("missing reason %q", line)
				}
			}
			if len(dropped) != len(want) {
				t.Errorf("got dropped\n%s", strings.Join(dropped, "\n"))
			}
			if report.Read != 15 || report.Written[0].Rows != 3 || report.Written[0].Description != "2 stores, 2 items" {
				t.Errorf("got report %+v", report)
			}
		})
	}
}

// The lists take precedence and the invoices fill the gaps. The column names of
// the API are accepted, and several files are combined.
func TestIowaWithLists(t *testing.T) {
	dir := t.TempDir()
	first := write(t, dir, "a.csv", "date,store,county,itemno,sale_bottles,im_desc\n2015-01-02,10,STORY,904,2,Old name\n2015-01-03,9,BOONE,904,4,\n")
	second := write(t, dir, "b.csv", "sale_bottles,itemno,store,date\n3,0904,10.0,01/30/2015\n1,905,10,01/30/2015\n")
	stores := write(t, dir, "stores.csv", "Store,Name,Store Status,Address,City,State,Zip Code,Store Address\n10,Corner,A,1 MAIN ST,AMES,IA,50010,POINT (-93.65 42.02)\n"+
		"10,Corner II,A,,,,,\n11,Never sold,I,2 MAIN ST,AMES,IA,50010,\n")
	products := write(t, dir, "products.csv", "Item Number,Category Name,Item Description,Vendor,Vendor Name,Bottle Volume (ml),Pack,Inner Pack,Age,Proof,List Date,UPC,State Bottle Cost,State Case Cost,State Bottle Retail\n"+
		"904,VODKA,,260,Big,750,12,1,0,80,01/02/2015,1,$6.50,$78.00,$9.75\n")
	report, out, err := iowa(t, Iowa{Sales: []string{first, second}, Stores: stores, Products: products})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"sales_2015_2016.csv.gz": "year,month,store,item,bottles\n2015,1,10,904,5\n",
		"stores.csv": "store,name,status,address,city,county,zip,lat,lon\n" +
			"10,Corner II,A,1 MAIN ST,AMES,STORY,50010,42.02,-93.65\n11,Never sold,I,2 MAIN ST,AMES,,50010,,\n",
		"items.csv": strings.SplitAfter(wantItems, "\n")[0] + "904,VODKA,Old name,260,Big,750,12,1,0,80,01/02/2015,6.50,78.00,9.75\n",
	} {
		if got := read(t, filepath.Join(out, name)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
	if want := []Reason{{"no side information for the item", 1, ""}, {"no side information for the store", 1, ""}}; !reflect.DeepEqual(report.Excluded, want) {
		t.Errorf("got excluded %+v, want %+v", report.Excluded, want)
	}
}

// The tables do not depend on the number of threads, even if a store changes its
// name in the middle of a file of several blocks.
func TestIowaDoesNotDependOnThreads(t *testing.T) {
	var text strings.Builder
	text.WriteString("Date,Store Number,Store Name,City,Category Name,Item Number,Bottles Sold\n")
	for i := range 60_000 {
		fmt.Fprintf(&text, "%02d/%02d/%d,%d,Name %d,\"Ames, %d\",Gin %d,%d,%d\n", i%12+1, i%28+1, 2015+i%2, i%7, i, i%3, i, i%31, i%9-1)
	}
	file := write(t, t.TempDir(), "sales.csv", text.String())
	var before []string
	for _, threads := range []int{1, 3} {
		_, dir, err := iowa(t, Iowa{Sales: []string{file}, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		var now []string
		for _, name := range files(t, dir) {
			now = append(now, read(t, filepath.Join(dir, name)))
		}
		if before != nil && !reflect.DeepEqual(before, now) {
			t.Errorf("%d threads: the tables differ", threads)
		}
		before = now
	}
}

func TestIowaErrors(t *testing.T) {
	dir := t.TempDir()
	wrong := write(t, dir, "wrong.csv", "day,Store Number,Item Number,Bottles\n1,2,3,4\n")
	none := write(t, dir, "none.csv", "Date,Store Number,Item Number,Bottles Sold\n01/02/2012,2,3,4\n")
	for _, c := range []struct {
		o    Iowa
		want []string
	}{
		{Iowa{Sales: []string{wrong}}, []string{"wrong.csv", "no column Date, and no column Bottles Sold or sale_bottles; the file has day, Store Number, Item Number, Bottles"}},
		{Iowa{Sales: []string{none}, Stores: wrong}, []string{"none of the 1 rows gives a cell for the years 2015 to 2016", "outside the requested years"}},
		{Iowa{Sales: []string{none}, Products: none}, []string{"outside the requested years"}},
		{Iowa{Sales: []string{filepath.Join(dir, "absent.csv")}}, []string{"absent.csv: no such file"}},
	} {
		_, out, err := iowa(t, c.o)
		if err == nil {
			t.Fatalf("%+v: got no error", c.o)
		}
		for _, text := range c.want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("got error %v, want one with %q", err, text)
			}
		}
		if left := files(t, out); len(left) > 0 {
			t.Errorf("got files %q, want none", left)
		}
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	out := filepath.Join(dir, "out")
	_, err := Iowa{Sales: []string{none}, FirstYear: 2012, LastYear: 2012}.Write(stopped, Folder{Path: out})
	if !errors.Is(err, context.Canceled) || len(files(t, out)) > 0 {
		t.Errorf("interrupted: got error %v and files %q", err, files(t, out))
	}
}

// FuzzIowa checks that any invoices give tables or an error, and that the output
// can be read.
func FuzzIowa(f *testing.F) {
	f.Add(messy)
	f.Add("date,store,itemno,sale_bottles\n2015-01-02,10,904,2\n")
	f.Add("date,store,itemno,sale_bottles,city,category_name\n2015-01-02,\"1\n0\",9\"04,2,A,B\n1/1/2016,,x,1,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		file := filepath.Join(dir, "sales.csv")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		o := Iowa{Sales: []string{file}, FirstYear: 2015, LastYear: 2016, Threads: 2}
		report, err := o.Write(context.Background(), Folder{Path: dir})
		if err != nil {
			return
		}
		kept := report.Written[0].Rows
		for _, r := range append(report.Dropped, report.Excluded...) {
			if r.Rows < 1 || r.Text == "" {
				t.Errorf("got reason %+v", r)
			}
		}
		if kept < 1 || kept > report.Read {
			t.Errorf("got %d cells from %d rows", kept, report.Read)
		}
		for _, name := range []string{"stores.csv", "items.csv"} {
			if lines := strings.Count(read(t, filepath.Join(dir, name)), "\n"); lines < 2 {
				t.Errorf("%s: got %d lines", name, lines)
			}
		}
	})
}
