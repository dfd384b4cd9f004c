package flat_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/flat"
)

type inner struct {
	n       int
	weights [3]float64
	flag    bool
}

type outer struct {
	Name    string
	words   []string
	columns [][]float32
	parts   []inner
	one     *inner
	none    *inner
	absent  []float64
	empty   []float64
}

func example() outer {
	return outer{Name: "a", words: []string{"", "two"}, columns: [][]float32{{1, float32(math.Inf(1))}, nil, {}}, parts: []inner{{n: -1, flag: true}, {weights: [3]float64{1, 2, math.Copysign(0, -1)}}},
		one: &inner{n: 7}, absent: nil, empty: []float64{}}
}

func TestEncodeAndDecode(t *testing.T) {
	t.Parallel()
	want := example()
	var got outer
	got.none = &inner{} // is replaced
	if err := flat.Decode(flat.Encode(&want), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDamagedData(t *testing.T) {
	t.Parallel()
	value := example()
	data := flat.Encode(&value)
	for n := range data {
		var got outer
		if err := flat.Decode(data[:n], &got); err == nil {
			t.Errorf("the first %d of %d bytes: no error", n, len(data))
		}
	}
	var got outer
	if err := flat.Decode(append(data, 0), &got); err == nil {
		t.Error("one byte too many: no error")
	}
	for i := range data {
		changed := append([]byte(nil), data...)
		changed[i] = 0xff
		_ = flat.Decode(changed, &got) // may fail, but must not panic or take all memory
	}
}
