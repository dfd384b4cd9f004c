package sideinfo

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// An encoder read back from JSON gives the same bits, and so does each row encoded
// alone.
func TestEncoderRoundTrip(t *testing.T) {
	t.Parallel()
	columns := map[string][]string{"a:num": nil, "b:log": nil, "c:cat": nil, "d:labels": nil, "e:date": nil, "f:cycle7": nil}
	order := []string{"a:num", "b:log", "c:cat", "d:labels", "e:date", "f:cycle7"}
	for i := range 200 {
		for key, text := range map[string]string{"a:num": fmt.Sprint(math.Sin(float64(i))), "b:log": fmt.Sprint(1 + i*i), "c:cat": fmt.Sprint("c", i%30*i%30),
			"d:labels": fmt.Sprintf("l%d|m%d", i%7, i%11), "e:date": fmt.Sprintf("2016-%02d-%02d", i%12+1, i%28+1), "f:cycle7": fmt.Sprint(i)} {
			if (i+len(text))%17 == 0 {
				text = ""
			}
			columns[key] = append(columns[key], text)
		}
	}
	e, f, _ := fitColumns(t, EncodeOptions{MostLevels: 8}, columns, order...)
	stored, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var read Encoder
	if err := json.Unmarshal(stored, &read); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1, 2, 77, 199} {
		one := &dataset.Frame{}
		for _, key := range slices.Backward(order) { // the order of columns does not matter
			name, _, _ := strings.Cut(key, ":")
			one.Names = append(one.Names, name)
			one.Columns = append(one.Columns, columns[key][i:i+1])
		}
		g, err := read.Encode(one)
		if err != nil || !slices.Equal(g.X, f.Row(i)) || !slices.Equal(g.Names, f.Names) {
			t.Errorf("row %d: got %v, %v; want %v", i, g.X, err, f.Row(i))
		}
	}
	for _, damage := range []struct{ from, to, want string }{
		{`"version":1`, `"version":2`, "unknown version 2"},
		{`"type":"num"`, `"type":"nmu"`, `unknown type "nmu"`},
		{`"sd":`, `"sd":-1,"was":`, "unknown field"},
		{`"buckets":2`, `"buckets":0`, "0 columns for"},
	} {
		bad := strings.Replace(string(stored), damage.from, damage.to, 1)
		if err := json.Unmarshal([]byte(bad), new(Encoder)); err == nil || !strings.Contains(err.Error(), damage.want) {
			t.Errorf("%s: got error %v, want %s", damage.to, err, damage.want)
		}
	}
}
