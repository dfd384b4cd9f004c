package relation

import "math"

// DrawnRepeats returns the number of repeated cells to expect if the rows of each of n series were at
// random periods between its first and its last: series that begin and end at different times have no
// rows at most periods of the table. Of a series with n rows two are at its ends, and of n - 2 draws
// among its p periods (n - 2) - (p - 2) (1 - (1 - 1/p)^(n - 2)) repeat one. Series and periods have codes by row, those of periods in the order of time.
func DrawnRepeats(series []int32, n int, periods []int32) float64 {
	first, last, rows := make([]int32, n), make([]int32, n), make([]float64, n)
	for row, s := range series {
		if rows[s] == 0 {
			first[s], last[s] = periods[row], periods[row]
		}
		first[s], last[s] = min(first[s], periods[row]), max(last[s], periods[row])
		rows[s]++
	}
	drawn := 0.0
	for s, n := range rows {
		p := float64(last[s]-first[s]) + 1
		if p == 1 {
			drawn += n - 1
		} else {
			drawn += n - 2 - (p-2)*(1-math.Pow(1-1/p, n-2))
		}
	}
	return drawn
}

// Returns reports whether values come back in series after others, other than in regular turns. Each
// series has its rows in the order of time, and values have codes by row.
func Returns(series [][]int, codes []int32) bool {
	gaps := map[int]int{} // rows since the last one with the same value
	for _, rows := range series {
		last := map[int32]int{}
		for i, row := range rows {
			if before, seen := last[codes[row]]; seen {
				gaps[i-before]++
			}
			last[codes[row]] = i
		}
	}
	all, returned, most := 0, 0, 0
	for gap, n := range gaps {
		all += n
		if gap > 1 {
			returned, most = returned+n, max(most, n)
		}
	}
	return returned > 0 && 10*most < 9*all
}
