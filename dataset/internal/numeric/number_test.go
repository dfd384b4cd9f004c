package numeric

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 0))
	texts := []string{"0", "-0", "1e3", "1E+3", "-2.5", "+3", ".5", "5.", "0.1", "16777217", "16777217.0000001", "33554434.9999",
		"1e-45", "1.4e-45", "7e-46", "1.17549435e-38", "3.4028234e38", "3.4028235e38", "340282346638528859811704183484516925440",
		"123456789012345678901234567890", "0.000000000000000000000000000000123", "0000000000000000000000000000001", "1e0000001", "8388608.5", "8388609.5"}
	for range 200_000 {
		switch r.IntN(3) {
		case 0:
			texts = append(texts, strconv.FormatFloat(r.NormFloat64()*math.Pow(10, float64(r.IntN(20)-10)), 'f', r.IntN(12), 64))
		case 1:
			texts = append(texts, strconv.FormatFloat(float64(math.Float32frombits(r.Uint32()&^(1<<30))), 'g', 1+r.IntN(17), 64))
		case 2: // near the middle between two float32 numbers
			f := r.Float32()
			middle := (float64(f) + float64(math.Nextafter32(f, 2))) / 2
			texts = append(texts, strconv.FormatFloat(middle, 'f', 1+r.IntN(30), 64))
		}
	}
	for _, text := range texts {
		want, err := strconv.ParseFloat(text, 32)
		if err != nil {
			t.Fatal(err)
		}
		got, kind := Parse([]byte(text))
		if kind != Finite || math.Float32bits(got) != math.Float32bits(float32(want)) {
			t.Fatalf("Parse(%q) = %g (kind %d), want %g", text, got, kind, want)
		}
	}
	for text, want := range map[string]Kind{
		"": Missing, "NA": Missing, "na": Missing, "N/A": Missing, "n/a": Missing, "NaN": NaN, "nan": NaN, "-NAN": NaN, "null": Missing, "NULL": Missing,
		"inf": Infinite, "-Inf": Infinite, "+infinity": Infinite, "1e39": Infinite, "-1e400": Infinite, "1e99999999999": Infinite,
		"?": Missing, ".": Missing, "..": Missing, "None": Missing, "nil": Missing, "<NA>": Missing, "#N/A": Missing, "n.a.": Missing,
		"x": Text, "-": Text, "+": Text, "--": Text, "#DIV/0!": Text, "...": Text, "e5": Text, "1e": Text, "1e+": Text, "1.2.3": Text, "1,5": Text,
		"0x10": Text, "1_000": Text, "12 3": Text, "--1": Text, "nano": Text, "infinit": Text,
	} {
		if _, got := Parse([]byte(text)); got != want {
			t.Errorf("Parse(%q) has kind %d, want %d", text, got, want)
		}
	}
}
