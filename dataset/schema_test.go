package dataset

import "testing"

// A table to predict that lacks columns is told all of them, and what the model has them for.
func TestMissingColumnsOfAModel(t *testing.T) {
	t.Parallel()
	names := []string{"store", "item", "units"}
	modes := []Mode{{Name: "store", Columns: []string{"store"}}, {Name: "time", Columns: []string{"year", "month"}},
		Mode{Name: "price", Columns: []string{"unit price"}}.AsCovariate()}
	missing := func(name string) *InputError { return MissingColumn("new.csv", name, names) }
	tests := []struct {
		modes    []Mode
		optional bool
		want     string
	}{
		{modes, true, `new.csv, column "year": the table has no such column; the model was fitted with year (mode time), month (mode time), unit price (a covariate): add them to the table, whose columns are store, item, units`},
		{modes[2:], true, `new.csv, column "unit price": the table has no such column; the model was fitted with unit price (a covariate): add it to the table, whose columns are store, item, units, or fit a model without it: data.covariates names others, or none`},
		{modes, false, `new.csv, column "year": the table has no such column; choose one of store, item, units`},
	}
	measured := Schema{Modes: modes[2:], AllKnown: true} // of a table with the target
	if _, err := measured.Locate("new.csv", names, missing); err == nil || err.Error() != tests[1].want {
		t.Errorf("got %v, want %s", err, tests[1].want)
	}
	const want = `new.csv, column "sold": the table has no such column; it is the target of the model, whose values are needed here: add it to the table, whose columns are store, item, units`
	measured = Schema{Target: "sold", Modes: modes[:1], AllKnown: true}
	if _, err := measured.Locate("new.csv", names, missing); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, c := range tests {
		_, err := Schema{Modes: c.modes, Optional: c.optional}.Locate("new.csv", names, missing)
		if err == nil || err.Error() != c.want {
			t.Errorf("optional %t: got %v, want %s", c.optional, err, c.want)
		}
	}
}
