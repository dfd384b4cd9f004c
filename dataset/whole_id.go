package dataset

import "github.com/kernel-fried-tensor/kft/internal/wholeid"

// WholeID returns the id 12 for 12.0, as programs write whole numbers of a column in which a value is missing, and other ids as they are.
func WholeID(id []byte) []byte { return wholeid.Of(id) }

// Alike returns the code of the id that is the same whole number as an unknown id: that of 12 for 12.0, and the other way round.
func (d *Dict) Alike(id []byte) (int32, bool) {
	if whole := WholeID(id); len(whole) < len(id) {
		if code, ok := d.Code(whole); ok {
			return code, true
		}
		id = whole
	}
	if !wholeid.Is(id) {
		return 0, false
	}
	return d.Code(append(append(make([]byte, 0, len(id)+2), id...), ".0"...))
}

// Meant returns the code of the id that an unknown id stands for in a table to predict or a request: the same whole number, see Alike, or the same month or week
// of a year, 2016-5 for 2016-05 and the other way round.
func (d *Dict) Meant(id []byte) (int32, bool) {
	if code, ok := d.Alike(id); ok {
		return code, true
	}
	const year = 4
	if len(id) < year+2 || len(id) > year+3 || id[year] != '-' || !wholeid.Is(id[:year]) {
		return 0, false
	}
	within := id[year+1:]
	if len(within) == 2 && within[0] != '0' || within[len(within)-1] < '0' || within[len(within)-1] > '9' {
		return 0, false
	}
	other := append(make([]byte, 0, len(id)+1), id[:year+1]...)
	if len(within) == 1 {
		other = append(other, '0')
	}
	return d.Code(append(other, within[len(within)-1]))
}
