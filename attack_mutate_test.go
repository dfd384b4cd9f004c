package kft_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/modelfile"
)

// A mutator changes the content of a model or checkpoint file. The file is encoded
// afterwards, so that its checksum is right.
type mutator struct{ rng *rand.Rand }

// craft returns the bytes of a file with one to three changes, and their description.
func craft(t testing.TB, original []byte, rng *rand.Rand) (data []byte, what string) {
	t.Helper()
	f, err := modelfile.Decode(original, "original")
	if err != nil {
		t.Fatal(err)
	}
	m := mutator{rng}
	for range 1 + rng.IntN(3)*rng.IntN(2) {
		if rng.IntN(2) == 0 {
			what += m.tensor(f) + "; "
		} else {
			what += m.text(f) + "; "
		}
	}
	data, err = modelfile.Encode(f)
	if err != nil { // such as two tensors with one name
		return original, "nothing: " + err.Error()
	}
	return data, what
}

// tensor changes one tensor.
func (m mutator) tensor(f *modelfile.File) string {
	if len(f.Tensors) == 0 {
		return "no tensors"
	}
	at := m.rng.IntN(len(f.Tensors))
	t := f.Tensors[at]
	switch m.rng.IntN(12) {
	case 0:
		f.Tensors = slices.Delete(f.Tensors, at, at+1)
		return t.Name + ": removed"
	case 1: // the content of another
		other := f.Tensors[m.rng.IntN(len(f.Tensors))]
		from := other.Name
		other.Name = t.Name
		f.Tensors[at] = other
		return t.Name + ": content of " + from
	}
	name := t.Name
	var what string
	switch t.DType() {
	case "F32":
		f.Tensors[at], what = mutateValues(m, f, t, []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -1, 0, 1e30, -1e30, 1e-40, math.MaxFloat32})
	case "F64":
		f.Tensors[at], what = mutateValues(m, f, t, []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e300, -1e300, 5e-324, math.MaxFloat64})
	case "I32":
		f.Tensors[at], what = mutateValues(m, f, t, []int32{-1, 0, 1, math.MaxInt32, math.MinInt32, 1000})
	case "I64":
		f.Tensors[at], what = mutateValues(m, f, t, []int64{-1, 0, 1, math.MaxInt64, math.MinInt64, 1 << 31, 1 << 40})
	case "U8":
		f.Tensors[at], what = mutateValues(m, f, t, []byte{0, 1, 2, 3, 4, 255, 'a'})
	}
	return name + ": " + what
}

// mutateValues returns a tensor with other values or another shape.
func mutateValues[T modelfile.Element](m mutator, f *modelfile.File, t modelfile.Tensor, special []T) (modelfile.Tensor, string) {
	old, err := modelfile.Values[T](f, t.Name)
	if err != nil {
		return t, "unreadable"
	}
	values, shape := slices.Clone(old), slices.Clone(t.Shape)
	pick := special[m.rng.IntN(len(special))]
	what := ""
	switch n := len(values); {
	case n == 0:
		values, shape = append(values, pick), []int{1}
		what = fmt.Sprintf("one value, %v", pick)
	case m.rng.IntN(3) == 0:
		switch m.rng.IntN(5) {
		case 0: // truncated
			keep := m.rng.IntN(n)
			values, shape = values[:keep], []int{keep}
			what = fmt.Sprintf("truncated to %d of %d", keep, n)
		case 1:
			values, shape = slices.Concat(values, values), append([]int{2 * shape[0]}, shape[1:]...)
			what = "doubled"
		case 2:
			slices.Reverse(shape)
			what = fmt.Sprintf("shape %v", shape)
		case 3:
			shape = []int{n}
			what = "flattened"
		default: // the last row of the first axis
			row := n / max(shape[0], 1)
			values, shape[0] = values[:n-row], shape[0]-1
			what = "without its last row"
		}
	default:
		i := m.rng.IntN(n)
		switch m.rng.IntN(5) {
		case 0:
			for i := range values {
				values[i] = pick
			}
			what = fmt.Sprintf("all %v", pick)
		case 1:
			m.rng.Shuffle(n, func(i, j int) { values[i], values[j] = values[j], values[i] })
			what = "shuffled"
		case 2:
			values[i] = values[m.rng.IntN(n)]
			what = "a value repeated"
		default:
			values[i] = pick
			what = fmt.Sprintf("value %d of %d is %v", i, n, pick)
		}
	}
	return modelfile.NewTensor(t.Name, values, shape...), what
}

// text changes one metadata text.
func (m mutator) text(f *modelfile.File) string {
	keys := slices.Sorted(maps.Keys(f.Meta))
	key := keys[m.rng.IntN(len(keys))]
	switch m.rng.IntN(14) {
	case 0:
		delete(f.Meta, key)
		return key + ": removed"
	case 1:
		texts := []string{"", "null", "{}", "[]", "0", "[null]", "\x00", `"x"`, "split", "entity", "mean", "factor", "shift"}
		f.Meta[key] = texts[m.rng.IntN(len(texts))]
		return fmt.Sprintf("%s: text %q", key, f.Meta[key])
	}
	changed, what := m.json(f.Meta[key])
	f.Meta[key] = changed
	return key + what
}

// json changes one value inside a JSON text. Strings that hold JSON are entered.
func (m mutator) json(text string) (string, string) {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text + "x", ": an x appended"
	}
	v, what := m.value(v)
	changed, err := json.Marshal(v)
	if err != nil {
		return text, ": not encoded"
	}
	return string(changed), what
}

// value changes a JSON value or, more often, one inside it.
func (m mutator) value(v any) (any, string) {
	stay := m.rng.IntN(8) == 0
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || stay {
			return m.other(v)
		}
		keys := slices.Sorted(maps.Keys(v))
		key := keys[m.rng.IntN(len(keys))]
		if m.rng.IntN(8) == 0 {
			delete(v, key)
			return v, "." + key + " removed"
		}
		changed, what := m.value(v[key])
		v[key] = changed
		return v, "." + key + what
	case []any:
		if len(v) == 0 || stay {
			return m.other(v)
		}
		i := m.rng.IntN(len(v))
		switch m.rng.IntN(8) {
		case 0:
			return append(v, v[i]), " repeats an element"
		case 1:
			return slices.Delete(v, i, i+1), " without an element"
		case 2:
			m.rng.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
			return v, " shuffled"
		}
		changed, what := m.value(v[i])
		v[i] = changed
		return v, fmt.Sprintf("[%d]%s", i, what)
	case string:
		if len(v) > 1 && v[0] == '{' && !stay {
			return m.json(v)
		}
	}
	return m.other(v)
}

// other returns another value, often of the same type.
func (m mutator) other(v any) (any, string) {
	numbers := []any{0., -1., 1., 2., 3., 0.5, -0.5, 1e9, -1e9, 1e300, -1e300, 5e-324, 1099511627776., 9.3e18}
	texts := []any{"", "x", "store", "item", "month", "time", "mean-field", "multivariate", "entity-covariance", "map", "poisson", "negative-binomial", "gaussian",
		"entity:store", "entity:item,month", "power", "power:store*item", "split", "group:mean", "group:store", "none", "wlr", "side", "additive", "plain", "paper", "identity", "log1p", "sqrt", "log-rate", "linear", "pivots", "eigen", "whole", "fourier"}
	all := []any{nil, true, []any{}, map[string]any{}, numbers[m.rng.IntN(len(numbers))], texts[m.rng.IntN(len(texts))]}
	next := all[m.rng.IntN(len(all))]
	if m.rng.IntN(3) > 0 {
		switch v.(type) {
		case float64:
			next = numbers[m.rng.IntN(len(numbers))]
		case string:
			next = texts[m.rng.IntN(len(texts))]
		}
	}
	return next, fmt.Sprintf(" is %v", next)
}
