package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestParseDigits(t *testing.T) {
	for _, v := range []uint32{0, 5, 72, 123, 9999, 12345, 654321, 7654321, 99999999} {
		text := fmt.Sprint(v)
		if got, ok := parseDigits(shortKey([]byte(text))); !ok || got != v {
			t.Errorf("parseDigits(%q) = %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "-1", "1.5", "12a", "a12", "1 2", "1:", "/1", "1\xff", "\xb12"} {
		if got, ok := parseDigits(shortKey([]byte(text))); ok {
			t.Errorf("parseDigits(%q) = %d", text, got)
		}
	}
}

func TestParseNumber(t *testing.T) {
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
		case 2: // next to the middle between two float32 numbers
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
		got, kind := parseNumber([]byte(text))
		if kind != isNumber || math.Float32bits(got) != math.Float32bits(float32(want)) {
			t.Fatalf("parseNumber(%q) = %g (kind %d), want %g", text, got, kind, want)
		}
	}
	for text, want := range map[string]numberKind{
		"": isMissing, "NA": isMissing, "na": isMissing, "N/A": isMissing, "n/a": isMissing, "NaN": isNaN, "nan": isNaN, "-NAN": isNaN, "null": isMissing, "NULL": isMissing,
		"inf": isInfinite, "-Inf": isInfinite, "+infinity": isInfinite, "1e39": isInfinite, "-1e400": isInfinite, "1e99999999999": isInfinite,
		"x": isText, "-": isText, "+": isText, ".": isText, "e5": isText, "1e": isText, "1e+": isText, "1.2.3": isText, "1,5": isText,
		"0x10": isText, "1_000": isText, "12 3": isText, "--1": isText, "nil": isText, "nano": isText, "infinit": isText,
	} {
		if _, got := parseNumber([]byte(text)); got != want {
			t.Errorf("parseNumber(%q) is of kind %d, want %d", text, got, want)
		}
	}
}
