package sideinfo

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// messyItems is a table with the problems of real ones: missing fields, two date
// formats, ids that are not numbers, outliers.
const messyItems = `item,category,vendor,volume,listed,cost,labels
101,VODKA,277,750,10/01/2016,19.98,80 proof|imported
x904631,VODKA,395,800,2016-06-01,13.00,imported
104,"GIN, DRY",,750,,NA,
105,"GIN, DRY",300,1750,2014-02-28,1134.50,80 proof
106,,300,50,02/28/2014,.99,80 proof|new|imported
107,VODKA,277,750,2015-12-31,21.00,
`

func TestMessyTable(t *testing.T) {
	items := dataset.Mode{Name: "item", Columns: []string{"item"}}
	j := mustOpenSide(t, "item=items.csv:category,vendor:cat,volume:num,listed,cost:log,labels", messyItems, items, "x904631", "105", "999", "101", "106", "107")
	e, r, err := Fit(j, EncodeOptions{RareBelow: 2})
	if err != nil {
		t.Fatal(err)
	}
	f, err := e.Encode(j.Rows)
	if err != nil {
		t.Fatal(err)
	}
	if r.Matched != 5 || r.Unmatched != 1 || r.ExtraRows != 1 {
		t.Errorf("got report %+v, want 5 matched, 1 unmatched, 1 extra row", r)
	}
	want := []string{"category=VODKA", "category other", "category missing", "vendor=277", "vendor=300", "vendor other", "vendor missing",
		"volume", "listed", "cost", "labels=80 proof", "labels=imported", "labels other", "labels missing"}
	if !slices.Equal(f.Names, want) {
		t.Errorf("got names %q, want %q", f.Names, want)
	}
	checkFeatures(t, f)
	extra, err := e.Encode(j.Extra.Rows)
	if err != nil || extra.N != 1 || !slices.Equal(extra.Names, f.Names) {
		t.Errorf("rows without an entity: got %v, %v; want one row with the same names", extra, err)
	}
}

// checkFeatures checks that all values are finite and that no column has a mean
// square of 0 or above 1.
func checkFeatures(t *testing.T, f Features) {
	t.Helper()
	if err := f.check(); err != nil {
		t.Error(err)
	}
	for c, name := range f.Names {
		total, squares := 0.0, 0.0
		for i := range f.N {
			v := float64(f.X[i*f.C+c])
			total += v
			squares += v * v
		}
		if squares == 0 && !strings.Contains(name, " #") || squares > 1.001*float64(f.N) {
			t.Errorf("column %s: got mean square %g, want one in (0, 1]", name, squares/float64(f.N))
		}
	}
}

// TestPublicTables encodes tables of public data if they are available.
func TestPublicTables(t *testing.T) {
	for _, tc := range []struct {
		file, sales, target, modes, mode string
		columns                          string // of the spec
		entities, extra                  int
		types                            string
		someName                         string
	}{
		{"iowa-liquor/stores.csv", "iowa-liquor/sales_2015_2016.csv.gz", "bottles", "store,item,time=year+month", "store", "", 1507, 1315,
			"name:words status:cat address:words city:cat county:cat zip:cat lat:num lon:num", "lat"},
		{"iowa-liquor/items.csv", "iowa-liquor/sales_2015_2016.csv.gz", "bottles", "store,item,time=year+month", "item",
			":category_name,vendor:cat,bottle_volume_ml,pack,proof,list_date,state_bottle_cost,state_bottle_retail", 4563, 7291,
			"category_name:cat vendor:cat bottle_volume_ml:num pack:log proof:num list_date:date state_bottle_cost:log state_bottle_retail:log", "list_date"},
		{"movielens-small/movies.csv", "movielens-small/ratings.csv", "rating", "userId,movieId", "movieId", ":genres", 9066, 59, "genres:labels", "genres=Drama"},
	} {
		path, sales := dataFile(tc.file), dataFile(tc.sales)
		if path == "" || sales == "" {
			continue // TestMessyTable covers the same code
		}
		modes, err := dataset.ParseModes(tc.modes)
		if err != nil {
			t.Fatal(err)
		}
		table, err := tableio.Read(context.Background(), tableio.Files(sales), dataset.Schema{Target: tc.target, Modes: modes}, tableio.Format{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(modes, func(m dataset.Mode) bool { return m.Name == tc.mode })
		spec, err := ParseSpec(tc.mode + "=" + quoteName(path) + tc.columns)
		if err != nil {
			t.Fatal(err)
		}
		j, err := Open(context.Background(), spec, tableio.Files(spec.File), modes[at], table.Dicts[at].IDs(), tableio.Format{})
		if err != nil {
			t.Fatal(err)
		}
		e, r, err := Fit(j, EncodeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := e.Encode(j.Rows)
		if err != nil {
			t.Fatal(err)
		}
		checkFeatures(t, f)
		if r.Entities != tc.entities || r.Matched != tc.entities || r.ExtraRows != tc.extra {
			t.Errorf("%s: got report %+v, want %d entities, all matched, and %d extra rows", tc.file, r, tc.entities, tc.extra)
		}
		var types []string
		for _, c := range r.Columns {
			types = append(types, c.Name+":"+string(c.Type))
		}
		if got := strings.Join(types, " "); got != tc.types {
			t.Errorf("%s: got types %s, want %s", tc.file, got, tc.types)
		}
		if !slices.Contains(f.Names, tc.someName) {
			t.Errorf("%s: got names %q, want %q among them", tc.file, f.Names, tc.someName)
		}
		if extra, err := e.Encode(j.Extra.Rows); err != nil || extra.C != f.C {
			t.Errorf("%s, rows without an entity: got %d columns, %v; want %d", tc.file, extra.C, err, f.C)
		}
	}
}
