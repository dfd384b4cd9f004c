package digits

import "testing"

func TestShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v           float64
		digits      int
		want, signs string
	}{
		{243987.4, 4, "243987", "+243987"},
		{-34771.6, 4, "-34772", "-34772"},
		{1234.56, 4, "1235", "+1235"},
		{1234.56, 5, "1234.6", "+1234.6"},
		{999.96, 4, "1000", "+1000"},
		{0.12345, 4, "0.1235", "+0.1235"},
		{0.00001234, 4, "1.234e-05", "+1.234e-05"},
		{3e9, 4, "3e+09", "+3e+09"},
		{0, 4, "0", "0"},
	} {
		if got := Short(c.v, c.digits); got != c.want {
			t.Errorf("%g with %d digits: got %s, want %s", c.v, c.digits, got, c.want)
		}
		if got := Signed(c.v, c.digits); got != c.signs {
			t.Errorf("%g with %d digits and a sign: got %s, want %s", c.v, c.digits, got, c.signs)
		}
	}
}
