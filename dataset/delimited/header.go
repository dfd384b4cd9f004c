package delimited

import "strconv"

// leastNumbered is the number of columns whose names may be numbers. Fewer may be a first row of data by chance.
const leastNumbered = 4

// isHeader reports whether the first record has the names of the columns. A record with a number has none, unless its
// numbers count on, as the years of a table with one column per year do, and those of the second record do not.
func isHeader(first, second []string) bool {
	numbers := 0
	for _, field := range first {
		if looksNumeric(field) {
			numbers++
		}
	}
	return numbers == 0 || numbers >= leastNumbered && countsOn(first) && len(second) == len(first) && !countsOn(second)
}

// countsOn reports whether the numbers of a record are whole and grow by the same step, as 0, 1, 2 or
// 1990, 2000, 2010 do, or are months in order, as 202311, 202312, 202401.
func countsOn(record []string) bool {
	var step, before int
	found := 0
	for _, field := range record {
		if !looksNumeric(field) {
			continue
		}
		n, err := strconv.Atoi(field)
		if err != nil || n < 0 {
			return false
		}
		if year, month := n/100, n%100; 1900 <= year && year < 2200 && 1 <= month && month <= 12 {
			n = 12*year + month // 190001 to 219912
		}
		if found++; found == 2 {
			step = n - before
		}
		if found > 1 && (step <= 0 || n-before != step) {
			return false
		}
		before = n
	}
	return found > 1
}
