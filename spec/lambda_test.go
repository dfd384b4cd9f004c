package spec

import (
	"strings"
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
	for text, want := range map[string]string{"0.1,item=0.02": "", "a=1, b*c = 2e-1": "a=1,b*c=0.2"} {
		var got, again Lambda
		if want == "" {
			want = text
		}
		if err := got.UnmarshalText([]byte(text)); err != nil || got.String() != want {
			t.Errorf("%q: got %v, %v; want %s", text, got, err, want)
		}
		data, err := got.MarshalJSON()
		if err == nil {
			err = again.UnmarshalJSON(data)
		}
		if err != nil || again != got {
			t.Errorf("%q: JSON %s gives %v, %v", text, data, again, err)
		}
	}
	for _, text := range []string{"0,item=1", "item=0", "item=-1", "item=NaN", "item=Inf", "=1", "item=1,2", "item=1,item=2", "auto,item=1", "item="} {
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

// TestLambdaOfCores checks the weights of cores against the terms.
func TestLambdaOfCores(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1,a=2": "", "a=1,b*c=2,a*b=1": "", "1,d=2": "fit.lambda: no core is called \"d\"; the cores are a, b*c, a*b", "a=1,b*c=2": "fit.lambda: core a*b has no weight; add a*b=X",
	} {
		s := Spec{Data: Data{Files: []string{"t.csv"}, Target: "y", Modes: []string{"a", "b", "c"}}, Terms: []string{"a,b*c:2", "a*b"}}
		if err := s.Fit.Lambda.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		s.Fill()
		if err := s.Validate(); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", text, err, want)
		}
		s.Uncertainty.Inference, s.Fit.Solver = "mean-field", "cavi"
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "a posterior has no penalty") {
			t.Errorf("%s: got error %v with a posterior", text, err)
		}
	}
	s := Spec{Data: Data{Files: []string{"t.csv"}, Target: "y", Modes: []string{"a", "b"}}}
	if err := s.Fit.Lambda.UnmarshalText([]byte("1,a=2")); err != nil {
		t.Fatal(err)
	}
	s.Fill()
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "fit.lambda: cores have weights, but the terms are chosen on the data") {
		t.Errorf("automatic terms: got error %v", err)
	}
}
