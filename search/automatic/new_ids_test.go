package automatic

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Comparisons use side information in trains and effects of single modes only.
func TestWithVariant(t *testing.T) {
	t.Parallel()
	s := spec.Spec{Data: spec.Data{Modes: salesModes}, Terms: []string{"store,item:3", "store*item", "item", "time", "series(store*item; time)"}, Side: spec.Side{Variant: "additive"}}
	got := withVariant(s, []string{"item"}, "additive")
	want := []string{"store,item:3@additive", "store*item", "item@additive", "time", "series(store*item; time)"}
	if !slices.Equal(got.Terms, want) || got.Side.Variant != "plain" {
		t.Errorf("got %q, %s; want %q, plain", got.Terms, got.Side.Variant, want)
	}
	if plain := withVariant(s, []string{"item"}, "plain"); !slices.Equal(plain.Terms, s.Terms) || plain.Side.Variant != "plain" {
		t.Errorf("got %q, %s; want %q, plain", plain.Terms, plain.Side.Variant, s.Terms)
	}
}

// A train without the calendar is offered if the validation rows are of new ids.
func TestTrainsOfNewIDs(t *testing.T) {
	t.Parallel()
	for split, want := range map[string][][]int{"entity:item=20%": {{0, 1, 2}, {0, 1}}, "random:60/20/20": {{0, 1, 2}}} {
		s := syntheticSpec(t)
		s.Split = split
		data, err := train.Read(t.Context(), s, tableio.Files(s.Data.Files...), train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := &chooser{spec: s, data: data, effort: efforts["normal"], modes: s.ModeNames(), sizes: data.Sizes()}
		if got := c.trainModes(); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: got trains over %v, want %v", split, got, want)
		}
	}
}
