package wholeid

import "testing"

func TestOf(t *testing.T) {
	for id, want := range map[string]string{
		"12.0": "12", "-3.00": "-3", "0.0": "0", "12": "12", "12.": "12.", "12.5": "12.5", "007.0": "007.0", "x.0": "x.0", ".0": ".0", "": "", "-.0": "-.0", "1.0.0": "1.0.0",
	} {
		if got := Of(id); got != want {
			t.Errorf("Of(%q) = %q, want %q", id, got, want)
		}
		if got := string(Of([]byte(id))); got != want {
			t.Errorf("Of of the bytes of %q = %q, want %q", id, got, want)
		}
	}
}
