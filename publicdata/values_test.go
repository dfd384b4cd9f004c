package publicdata

import "testing"

func TestIDs(t *testing.T) {
	for field, want := range map[string]string{
		"2633": "2633", "2633.0": "2633", "02633": "2633", "2633.": "2633", "x904631": "x904631", "0": "0", "000": "0", "": "",
		"12.5": "12.5", "12a": "12a", "0x1": "0x1", "S-7": "S-7",
	} {
		if got := string(appendID(nil, []byte(field))); got != want {
			t.Errorf("%q: got %q, want %q", field, got, want)
		}
	}
}

func TestDays(t *testing.T) {
	for field, want := range map[string]day{
		"01/31/2015": 20150131, "1/2/2015": 20150102, "2015-01-31": 20150131, "2015-01-31T00:00:00.000": 20150131, "01/31/2015 12:00:00 AM": 20150131,
		"": 0, "2015": 0, "13/01/2015": 0, "01/32/2015": 0, "2015/01-02": 0, "01/02/15": 0, "20150131": 0, "1/2/2015x": 0, "1/2/2015T": 0, "//": 0, "01/02/20155": 0,
	} {
		if got, ok := parseDay([]byte(field)); got != want || ok != (want != 0) {
			t.Errorf("%q: got %d, %v, want %d", field, got, ok, want)
		}
	}
}

func TestCounts(t *testing.T) {
	for field, want := range map[string]int64{"12": 12, "-6": -6, "+6": 6, "1,234": 1234, "12.0": 12, "12.": 12, "0": 0} {
		if got, ok := parseCount([]byte(field)); got != want || !ok {
			t.Errorf("%q: got %d, %v, want %d", field, got, ok, want)
		}
	}
	for _, field := range []string{"", "-", "12.5", "twelve", ",5", "5,", "1e3", "1234567890123456", "$5"} {
		if got, ok := parseCount([]byte(field)); ok {
			t.Errorf("%q: got %d, want an error", field, got)
		}
	}
}

func TestMoney(t *testing.T) {
	for text, want := range map[string]string{"$6.50": "6.50", "6.5": "6.5", "$1,234.00": "1234.00", "": "", "free": "", "$": ""} {
		if got := money(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestLocations(t *testing.T) {
	for text, want := range map[string][2]string{
		"POINT (-93.65 42.02)":                          {"42.02", "-93.65"},
		"1 MAIN ST (REAR)\nAMES 50010\n(42.02, -93.65)": {"42.02", "-93.65"},
		"1 MAIN ST\nAMES":                               {},
		"(north, south)":                                {},
		")(":                                            {},
		"POINT (-93.65)":                                {},
	} {
		lat, lon, ok := parseLocation(text)
		if lat != want[0] || lon != want[1] || ok != (want[0] != "") {
			t.Errorf("%q: got %q, %q, %v", text, lat, lon, ok)
		}
	}
}
