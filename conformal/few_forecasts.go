package conformal

import (
	"maps"
	"math"
	"slices"
)

// Errors of one series from one origin share what the origin did not know, so that n of them say less
// about the size of errors than n independent ones. A priori, sharedBefore of their variance is
// shared, and that counts as much as the errors of blocksBefore series and origins.
const (
	sharedBefore = 0.8
	blocksBefore = 8

	// sizeBefore is the number of independent errors that the size which the model expects counts for.
	sizeBefore = 6
)

// NewByOrigins is [NewByHorizon] of the forecasts of a few series from several origins, with [Symmetric] scores and one group.
// Scores with the same number of a block are of one series from one origin, so that they are alike: intervals are
// wider by what this leaves unknown of the size of errors, and if too few scores are independent, they say only how large
// errors are ([NewBySize]). Scores are finite, and horizons are 1 or more.
func NewByOrigins(threads int, scores, location []float64, horizon []int32, block []int) (*Correction, error) {
	// Errors that are alike say how large errors are, but not how they are distributed: with signs of both kinds
	// they would have two peaks.
	known := Independent(scores, block)
	if known < float64(RowsNeeded(factorLevel)) {
		return NewBySize(sizeOf(scores, known), known+1, len(scores), slices.Max(horizon))
	}
	scores = Symmetric(scores)
	wider := studentFactor(known) * widened(scores)
	centreHorizons(scores, horizon)
	for i := range scores {
		scores[i] *= wider
	}
	return NewByHorizon(threads, scores, location, horizon, 1)
}

// Independent returns how many independent scores those of blocks are worth: n / (1 + (m-1) rho) for
// n scores in blocks of m, with the share rho of their variance that is one of the means of blocks. Scores with the same number
// of a block are of one series from one origin.
func Independent(scores []float64, block []int) float64 {
	mustMatch(len(scores), len(block))
	blocks := map[int][]float64{}
	for i, b := range block {
		blocks[b] = append(blocks[b], scores[i])
	}
	var n, count, squares, means, inverse float64
	for _, b := range slices.Sorted(maps.Keys(blocks)) { // for sums that are the same each time
		block := blocks[b]
		sum := 0.0
		for _, z := range block {
			sum += z
			squares += z * z
		}
		m := float64(len(block))
		n, count, means, inverse = n+m, count+1, means+(sum/m)*(sum/m), inverse+1/m
	}
	if n == 0 {
		return 0
	}
	shared := sharedBefore
	if chance := inverse / count; chance < 1 && squares > 0 {
		// The mean square of the means of blocks is (rho + (1-rho)/m) times that of the scores.
		found := (means/count*n/squares - chance) / (1 - chance)
		shared = (count*min(max(found, 0), 1) + blocksBefore*sharedBefore) / (count + blocksBefore)
	}
	return n / (1 + (n/count-1)*shared)
}

// studentFactor returns by how much 90 % intervals must be wider because the size of errors is known
// from few independent ones: the quantile of Student's t with one degree of freedom more than their number,
// divided by the normal one, by the first terms of its expansion.
func studentFactor(independent float64) float64 {
	nu := independent + 1
	return 1 + 0.9265/nu + 0.863/(nu*nu)
}

// sizeOf returns the size of scores, 1 if errors are as large as the model expects: the mean absolute
// score divided by that of normal ones, whose logarithm is shrunk to 0.
func sizeOf(scores []float64, independent float64) float64 {
	sum := 0.0
	for _, z := range scores {
		sum += math.Abs(z)
	}
	const least = 1e-3
	size := max(math.Sqrt(math.Pi/2)*sum/float64(len(scores)), least)
	return math.Exp(independent / (independent + sizeBefore) * math.Log(size))
}

// centreHorizons subtracts from the scores of several horizons the mean of those of the same one, if it has several. Intervals
// become narrower by sqrt(1 - 1/n) for n rows per horizon; the constants of few forecasts were chosen with it.
func centreHorizons(scores []float64, horizon []int32) {
	sum, rows := map[int32]float64{}, map[int32]float64{}
	for i, h := range horizon {
		sum[h] += scores[i]
		rows[h]++
	}
	for i, h := range horizon {
		if rows[h] > 1 && len(rows) > 1 {
			scores[i] -= sum[h] / rows[h]
		}
	}
}

// widened returns the factor by which scores are larger than the origins say: 1 if intervals become
// wider. If they would become narrower, by few surprises that happened not to come, this is believed
// by half.
func widened(scores []float64) float64 {
	const level, usual = 0.9, 1.645 // of the size of a normal score
	if len(scores) == 0 {
		return 1
	}
	sizes := make([]float64, len(scores))
	for i, z := range scores {
		sizes[i] = math.Abs(z)
	}
	slices.Sort(sizes)
	size := sizes[int(level*float64(len(sizes)))]
	if !(size > 0 && size < usual) {
		return 1
	}
	return math.Sqrt(usual / size)
}
