// Package wholeid says which ids are the same whole number.
package wholeid

// Of returns the id 12 for 12.0, as programs write whole numbers of a column in which a value is
// missing, and other ids as they are. Ids with leading zeros are no whole numbers.
func Of[T ~string | ~[]byte](id T) T {
	point := 0
	for point < len(id) && id[point] != '.' {
		point++
	}
	if point+1 >= len(id) || !Is(id[:point]) {
		return id
	}
	for i := point + 1; i < len(id); i++ {
		if id[i] != '0' {
			return id
		}
	}
	return id[:point]
}

// Is reports whether an id is a whole number without leading zeros and decimal places.
func Is[T ~string | ~[]byte](id T) bool {
	if len(id) > 0 && id[0] == '-' {
		id = id[1:]
	}
	if len(id) == 0 || len(id) > 1 && id[0] == '0' {
		return false
	}
	for i := range len(id) {
		if id[i] < '0' || id[i] > '9' {
			return false
		}
	}
	return true
}
