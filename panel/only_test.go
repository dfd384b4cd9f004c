package panel

import "testing"

// The series with one id of a key have the rows of that id and no such key.
func TestOnly(t *testing.T) {
	modes, ids, codes, target := sales(t)
	p := New(nil, 1, modes, ids, -1, Rows{Codes: codes, Target: target})
	at := p.Keys[0]
	total := 0
	for code := range int32(len(ids(at))) {
		one := p.Only(at, code)
		if one == nil {
			continue
		}
		if len(one.Keys) != len(p.Keys)-1 || len(one.Codes) != len(one.Keys) || one.End != p.End {
			t.Errorf("code %d: got keys %v, end %d", code, one.Keys, one.End)
		}
		total += one.Len()
	}
	if total != p.Len() {
		t.Errorf("got %d series in parts, %d in all", total, p.Len())
	}
	if p.Only(p.Time, 0) != p || p.Only(at, 1000) != nil {
		t.Error("a mode that is no key, or an unknown code, changes the series")
	}
}
