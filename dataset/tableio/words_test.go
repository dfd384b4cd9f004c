package tableio

import "testing"

// Words of flags are those of a target of 0 and 1.
func TestWordTargets(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"no", "yes"}, {"off", "on"}, {"nein", "ja"}, {"non", "oui"}, {"no", "sí"}, {"não", "sim"}} {
		zero, known := wordTargets[pair[0]]
		one, also := wordTargets[pair[1]]
		if !known || !also || zero != 0 || one != 1 {
			t.Errorf("%s and %s are %g and %g", pair[0], pair[1], zero, one)
		}
	}
}
