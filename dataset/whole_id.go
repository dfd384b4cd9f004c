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
