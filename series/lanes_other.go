//go:build !amd64

package series

func filterLanes(rows []laneRow, start []float64) { filterRows(rows, start) }

func smoothLanes(rows []laneRow, from int) { smoothRows(rows, from) }
