package fieldtext

import "testing"

func TestFlag(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"no", "yes"}, {"N", "Y"}, {"off", "on"}, {"nein", "Ja"}, {"non", "oui"}, {"no", "sí"}, {"NÃO", "sim"}} {
		zero, known := Flag(pair[0])
		one, also := Flag(pair[1])
		if !known || !also || zero != 0 || one != 1 || !IsFlag(pair[0], pair[1]) || !IsFlag(pair[1], pair[0]) {
			t.Errorf("%s and %s are %g and %g", pair[0], pair[1], zero, one)
		}
	}
	if IsFlag("nein", "yes") || IsFlag("no", "no") || IsFlag("", "") {
		t.Error("words of different flags are one flag")
	}
	if _, ok := Flag("maybe"); ok {
		t.Error("maybe is a word of a flag")
	}
}
