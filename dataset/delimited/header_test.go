package delimited

import (
	"strings"
	"testing"
)

func TestIsHeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first, second string
		want          bool
	}{
		{"store,item,units", "a,b,3", true},
		{"a,b,3", "a,c,4", false},
		{"country,1960,1961,1962,1963", "Peru,3.5,4.1,4.2,5", true},
		{"country,code,1990,2000,2010,2020", "Peru,PE,3,7,,5", true},
		{"shop,202311,202312,202401,202402", "a,3,4,2,5", true},
		{"0,1,2,3,4", "0.3,1.5,2.25,0,1", true},
		{",0,1,2,3", "0,0.3,1.5,2.25,0", true},
		{"0,1,2,3", "1,2,3,4", false},     // also the next row counts on
		{"7,8,9", "12,3,4", false},        // few
		{"a,1,2,3,5", "b,3,4,2,5", false}, // not one step
		{"a,4,3,2,1", "b,3,4,2,5", false}, // falls
		{"a,1.5,2.5,3.5,4.5", "b,1,1,1,1", false},
		{"a,1,1,1,1", "b,3,4,2,5", false},
		{"a,1,2,3,4", "b,3,4", false},
		{"a,1,2,3,4", "", false},
	} {
		if got := isHeader(strings.Split(c.first, ","), strings.Split(c.second, ",")); got != c.want {
			t.Errorf("%s before %s: got %v, want %v", c.first, c.second, got, c.want)
		}
	}
}
