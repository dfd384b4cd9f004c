package fieldtext

import (
	"slices"
	"strings"
)

// flags are the words of a flag: for each one that stands for 0 those that stand for 1 beside it.
var flags = map[string][]string{
	"no": {"yes", "si", "sí", "sì"}, "n": {"y"}, "false": {"true"}, "f": {"t"}, "off": {"on"}, "nein": {"ja"}, "nee": {"ja"}, "nej": {"ja"}, "nei": {"ja"},
	"non": {"oui"}, "não": {"sim"}, "nao": {"sim"}, "nie": {"tak"},
}

var flagValues = func() map[string]float32 {
	values := map[string]float32{}
	for zero, ones := range flags {
		values[zero] = 0
		for _, one := range ones {
			values[one] = 1
		}
	}
	return values
}()

// Flag returns 0 or 1 for a word such as no or yes, in any case.
func Flag(word string) (value float32, ok bool) {
	value, ok = flagValues[strings.ToLower(word)]
	return value, ok
}

// IsFlag reports whether two words are the values of one flag, in any case and order.
func IsFlag(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return slices.Contains(flags[a], b) || slices.Contains(flags[b], a)
}
