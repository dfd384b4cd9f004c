package columnname

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"list_date", "listDate", "list date", "List.Date", "list-date", "List (date)", "list/date €"} {
		if got := Words(name); !slices.Equal(got, []string{"list", "date"}) {
			t.Errorf("%q: got %q", name, got)
		}
	}
	if got := Without("yr_sold", []string{"yr"}); got != "sold" {
		t.Errorf("got %q", got)
	}
}

func TestKindsOfNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ id, covariate bool }{
		"store_nbr": {id: true}, "itemId": {id: true}, "price_code": {id: true}, "store_size": {covariate: true}, "num_items": {covariate: true},
		"item_price": {covariate: true}, "isHoliday": {covariate: true}, "sales": {}, "": {},
	} {
		if id, covariate := IsID(name), IsCovariate(name); id != want.id || covariate != want.covariate {
			t.Errorf("%q: got id %v, covariate %v, want %+v", name, id, covariate, want)
		}
	}
}
