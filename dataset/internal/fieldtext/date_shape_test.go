package fieldtext

import "testing"

func TestDateShape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"1/12/2016": "00/00/0000", "11/2/2016 10:30": "00/00/0000", "2024-01-31T00:00": "0000-00-00", "31-Jan-24": "00-Jan-00"} {
		if got := DateShape(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
