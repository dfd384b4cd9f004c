package train

import "math"

// Errors of one series from one origin share what the origin did not know, so that n of them say less
// about the size of errors than n independent ones. A priori, sharedBefore of their variance is
// shared, and that counts as much as the errors of blocksBefore series and origins.
const (
	sharedBefore = 0.8
	blocksBefore = 8

	// sizeBefore is the number of independent errors that the size which the model expects counts for.
	sizeBefore = 6
)

// independent returns how many independent scores those of blocks are worth: n / (1 + (m-1) rho) for
// n scores in blocks of m, with the share rho of their variance that is one of the means of blocks.
func independent(blocks [][]float64) float64 {
	var n, count, squares, means, inverse float64
	for _, block := range blocks {
		if len(block) == 0 {
			continue
		}
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
