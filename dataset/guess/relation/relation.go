// Package relation finds how columns of a table depend on each other: which columns determine, follow,
// add up to or explain others, and which rows those of a random table would repeat.
//
// Columns are lists of codes by row, from 0, or numbers by code, see [Column].
package relation

// Column is a column of numbers: the value of a row is Values[Codes[row]].
type Column struct {
	Values []float64 // by code, NaN for those that are missing or no numbers
	Codes  []int32   // by row
	Counts []int     // rows of each value
	Texts  int       // values that are no numbers and not missing
}
