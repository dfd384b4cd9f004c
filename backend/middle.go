package backend

// MiddleSystems is implemented by a backend that can form the normal equations of the middle core of a train of
// three, the owner of a plan, entity by entity.
type MiddleSystems interface {
	// MiddleSystems calls visit for each entity of the owner but the last one, with or without cells, concurrently
	// from several goroutines. worker identifies the goroutine and is less than Threads. A nil weight means 1
	// everywhere. The result says for which entities visit was called in this process. Without such a form for the
	// plan and the cores ok is false and visit is not called.
	MiddleSystems(p *Plan, cores []Slices, target, weight []float32, visit func(worker, entity int, s MiddleSystem)) (r Runs, ok bool)
}

// MiddleSystem is what a pass with second moments computes of a slice X of a middle core: with the rows a and c of the outer
// cores at the cells of the entity, which have expectations, the matrix H of sum w E (a'X c)^2 / 2.
type MiddleSystem interface {
	Gradient(dst, x []float32) // sum w y E a c' - H x
	Diagonal(dst []float32)    // of H
	Multiply(dst, x []float32) // dst = H x
}

// RunsOf returns the entities of each rank: rank r has those from bounds[r] to bounds[r+1]. Without ranks this
// process has all n.
func RunsOf(ranks Ranks, bounds []int, n int) Runs {
	if ranks == nil {
		return Runs{End: n}
	}
	return Runs{First: bounds[ranks.Rank()], End: bounds[ranks.Rank()+1], ranks: ranks, bounds: bounds}
}
