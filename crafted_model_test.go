package kft_test

import (
	"bytes"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// TestCraftedModels loads models with a right checksum and one wrong value, each of which
// was once a crash, an endless loop or an empty prediction.
func TestCraftedModels(t *testing.T) {
	t.Parallel()
	models := attackModels(t)
	text := func(key, pattern, by string) func(*modelfile.File) {
		return func(f *modelfile.File) {
			f.Meta[key] = regexp.MustCompile(pattern).ReplaceAllString(f.Meta[key], by)
		}
	}
	for _, c := range []struct {
		name, model string
		change      func(*modelfile.File)
		want        string
	}{
		{"no modes of a core", "plain", text("field", `"modes":\["store"\]`, `"modes":[]`), "has no mode"},
		{"points of another covariate", "points", text("spec", `joint\(price\+size\)`, "joint(price+promo)"), `no covariate of numbers is called "promo"`},
		{"no encoder", "calendar", text("side/month", `"encoder":\{.*\},"operator"`, `"encoder":null,"operator"`), "the encoder is missing"},
		{"size of the negative binomial", "negative binomial", text("uncertainty", `"size":[^}]*`, `"size":-1.5`), "the size of its negative binomial distribution is -1.5"},
		{"share of further zeros", "zero-inflated", text("uncertainty", `"zero":[^,]*`, `"zero":1`), "its share of further zeros is 1"},
		{"slope of a hurdle", "hurdle", text("uncertainty", `"slope":[^}]*`, `"slope":-1`), "the odds of its hurdle have the slope -1"},
		{"size of a hurdle", "hurdle", text("uncertainty", `"size":[^,]*`, `"size":0`), "the size of its hurdle distribution is 0"},
		{"scale of a target", "two targets", text("training", `"spread":[^,}]*`, `"spread":0`), `the scale of its target "units"`},
		{"name of a target", "two targets", text("training", `"name":"units"`, `"name":"sales"`), `the target "sales"`},
		{"no targets", "two targets", text("training", `"targets":`, `"others":`), "its record has 0 targets"},
		{"noise of other modes", "additive, primal, mean-field", text("uncertainty", `"modes":\[`, `"modes":[{"strength":1,"unseen":1,"of":[]},`), "its noise has factors of 3 modes"},
		{"weights that are not numbers", "plain", func(f *modelfile.File) {
			values, _ := modelfile.Values[float32](f, "term/0/core/0/mean")
			values[0] = float32(math.NaN())
		}, "is not a finite number"},
		{"repeated id", "plain", func(f *modelfile.File) {
			for i, tensor := range f.Tensors {
				if tensor.Name == "ids/store/bytes" {
					values, _ := modelfile.Values[byte](f, tensor.Name)
					f.Tensors[i] = modelfile.NewTensor(tensor.Name, slices.Concat(values[2:4], values[2:]))
				}
			}
		}, "twice"},
		{"negative variance", "poisson", func(f *modelfile.File) {
			values, _ := modelfile.Values[float32](f, "term/0/core/1/variance")
			values[3] = -1
		}, "negative variance"},
		{"value of a side row", "wlr, dual", func(f *modelfile.File) {
			values, _ := modelfile.Values[int32](f, "side/item/table/0/of")
			values[1] = 99
		}, "has the value 99"},
		{"column of side rows", "wlr, dual", text("side/item", `"table":\["[a-z]+"`, `"table":["other"`), "are missing"},
		{"observed means of one mode", "plain", func(f *modelfile.File) {
			f.Tensors = slices.DeleteFunc(f.Tensors, func(t modelfile.Tensor) bool { return t.Name == "observed/item" })
		}, "the observed means of some modes only"},
		{"row that was taken in", "updated", func(f *modelfile.File) {
			values, _ := modelfile.Values[int32](f, "update/codes")
			values[1] = 99
		}, "an id that does not exist"},
		{"statistics", "updated", func(f *modelfile.File) {
			values, _ := modelfile.Values[float32](f, "update/relation/0")
			values[0] = 2
		}, "is 2"},
		{"noise of statistics", "updated", text("update", `"noise":[^,]*`, `"noise":-1`), "the noise -1"},
		{"prior along time", "along time", func(f *modelfile.File) {
			values, _ := modelfile.Values[float32](f, "term/1/core/1/along/prior")
			values[3] = 2 // the coefficient of ar
		}, "the coefficient 2 is not between 0 and 1"},
		{"season along time", "along time", text("field", `"period":[^,]*`, `"period":0`), "a season of period 0"},
		{"many seasons along time", "along time", text("field", `"seasons":\[\{[^}]*\}\]`, `"seasons":[]`), "do not fit its slices"},
		{"steps along time", "along time", func(f *modelfile.File) {
			values, _ := modelfile.Values[int32](f, "term/1/core/1/along/step")
			values[0] = 99
		}, "do not fit together"},
		{"precision along time", "along time", func(f *modelfile.File) {
			values, _ := modelfile.Values[float32](f, "term/1/core/1/along/precision")
			values[0] = -1
		}, "do not fit together"},
		{"sites along time", "along time", func(f *modelfile.File) {
			f.Tensors = slices.DeleteFunc(f.Tensors, func(t modelfile.Tensor) bool { return t.Name == "term/1/core/1/along/value" })
		}, "along/value"},
		{"variant along time", "along time", text("field", `"modes":\["month"\],"variant":"plain"`, `"modes":["month"],"variant":"wlr"`), "cannot be along time"},
		{"mode along time", "along time", text("field", `"modes":\["month"\]`, `"modes":["store","month"]`), "cannot be along time"},
		{"unknown part", "plain", func(f *modelfile.File) {
			values, _ := modelfile.Values[byte](f, "split")
			values[0] = 9
		}, "unknown part 9"},
	} {
		f, err := modelfile.Decode(models[c.model], c.name)
		if err != nil {
			t.Fatal(err)
		}
		c.change(f)
		data, err := modelfile.Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		_, err = kft.ReadModel(bytes.NewReader(data))
		if !errors.Is(err, kft.ErrFormat) || !strings.Contains(err.Error(), "not a valid model") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one that says that the model is not valid and %q", c.name, err, c.want)
		}
	}
}

// TestPredictionOutOfRange checks that weights with an infinite product are an error of
// the row, in cells, draws and tables.
func TestPredictionOutOfRange(t *testing.T) {
	t.Parallel()
	f, err := modelfile.Decode(attackModels(t)["plain"], "plain")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"term/0/core/0/mean", "term/0/core/1/mean"} {
		values, err := modelfile.Values[float32](f, name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range values {
			values[i] = 1e30
		}
	}
	data, err := modelfile.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	m := loadBytes(t, data)
	cell := shopCell("s1", "i1", "1")
	table := "store,item,month,units\ns1,i1,1,3\n"
	_, predictErr := m.Predict(t.Context(), []kft.Cell{cell})
	_, sampleErr := m.Samples(t.Context(), []kft.Cell{cell}, 2)
	_, tableErr := m.PredictTable(t.Context(), kft.Reader("table", strings.NewReader(table)), new(bytes.Buffer), kft.TableOptions{})
	_, _, evaluateErr := m.Evaluate(t.Context(), kft.Reader("table", strings.NewReader(table)), kft.TableOptions{})
	for name, err := range map[string]error{"Predict": predictErr, "Samples": sampleErr, "PredictTable": tableErr, "Evaluate": evaluateErr} {
		var out *kft.NotFiniteError
		if !errors.As(err, &out) || out.Row != 1 {
			t.Errorf("%s: got error %v, want a *kft.NotFiniteError of row 1", name, err)
		}
	}
}
