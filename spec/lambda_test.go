package spec

import (
	"testing"
)

func TestLambda(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Lambda{"auto": {}, "0": LambdaOf(0), "2.5": LambdaOf(2.5), "1e-9": LambdaOf(1e-9), "-0": LambdaOf(0)} {
		var got Lambda
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "much", "-1", "NaN", "Inf", "-Inf"} {
		var got Lambda
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
	if _, given := (Lambda{}).Value(); given {
		t.Error("the zero value: got given, want auto")
	}
	if v, given := LambdaOf(0).Value(); v != 0 || !given {
		t.Errorf("LambdaOf(0): got %v, given %v; want 0, given", v, given)
	}
	if text, _ := (Lambda{}).MarshalText(); string(text) != "auto" {
		t.Errorf("text of the zero value: got %q, want auto", text)
	}
}
