package series

// laneCount is the number of series whose recursions advance together: every step of a
// recursion waits for the one before it, but not for those of other series.
const laneCount = 8

// A laneRow holds one point of each of several series of two states, and what filterPair
// and smoothPair compute for it. Beyond the end of a series nothing changes: the decay is 1,
// and variances and precision are 0. The assembly knows the order of the fields.
type laneRow struct {
	decay, arNoise, levelNoise [laneCount]float64 // of the transition to the point
	value                      [laneCount]float64 // then the innovation
	precision                  [laneCount]float64 // then 1/total, 0 without data
	mean, variance             [laneCount]float64 // before the data of the point; then given all data
	ph0, ph1                   [laneCount]float64
}

// set sets the point of a lane.
func (r *laneRow) set(lane int, t *transition, value, precision float64) {
	r.decay[lane&(laneCount-1)], r.arNoise[lane&(laneCount-1)], r.levelNoise[lane&(laneCount-1)] = t.decay, t.arNoise, t.levelNoise
	r.value[lane&(laneCount-1)], r.precision[lane&(laneCount-1)] = value, precision
}

// filterRows is filterPair for the lanes of rows.
func filterRows(rows []laneRow, start []float64) {
	var a0, a1, c00, c01, c11 [laneCount]float64
	for l := range laneCount {
		c00[l], c11[l] = start[0], start[1]
	}
	for i := range rows {
		r := &rows[i]
		for l := range laneCount {
			a1[l] *= r.decay[l]
			c01[l] *= r.decay[l]
			c11[l] = c11[l]*r.decay[l]*r.decay[l] + r.arNoise[l]
			c00[l] += r.levelNoise[l]
			ph0, ph1 := c00[l]+c01[l], c01[l]+c11[l]
			predicted, spread := a0[l]+a1[l], ph0+ph1
			innovation, inverse := r.value[l]-predicted, 1/(spread+1/r.precision[l])
			r.value[l], r.precision[l], r.mean[l], r.variance[l], r.ph0[l], r.ph1[l] = innovation, inverse, predicted, spread, ph0, ph1
			by, f0, f1 := innovation*inverse, ph0*inverse, ph1*inverse
			a0[l] += ph0 * by
			a1[l] += ph1 * by
			c00[l] -= f0 * ph0
			c01[l] -= f0 * ph1
			c11[l] -= f1 * ph1
		}
	}
}

// smoothRows is smoothPair for the lanes of rows, down to the given row.
func smoothRows(rows []laneRow, from int) {
	var r0, r1, n00, n01, n11 [laneCount]float64
	for i := len(rows) - 1; i >= from; i-- {
		r := &rows[i]
		for l := range laneCount {
			ph0, ph1, inverse := r.ph0[l], r.ph1[l], r.precision[l]
			kr := ph0*r0[l] + ph1*r1[l]
			gain0, gain1 := (n00[l]*ph0+n01[l]*ph1)*inverse, (n01[l]*ph0+n11[l]*ph1)*inverse
			knk := (ph0*gain0 + ph1*gain1) * inverse
			by, square := (r.value[l]-kr)*inverse, knk+inverse
			r0[l] += by
			r1[l] += by
			n00[l] += square - gain0 - gain0
			n01[l] += square - gain1 - gain0
			n11[l] += square - gain1 - gain1
			r.mean[l] = r.mean[l] + ph0*r0[l] + ph1*r1[l]
			r.variance[l] = max(r.variance[l]-ph0*(n00[l]*ph0+n01[l]*ph1)-ph1*(n01[l]*ph0+n11[l]*ph1), 0)
			r1[l] *= r.decay[l]
			n01[l] *= r.decay[l]
			n11[l] = n11[l] * r.decay[l] * r.decay[l]
		}
	}
}

// lanes reads several series at a time. It keeps scratch memory.
type lanes struct {
	rows   []laneRow
	order  []int32 // of the series
	places []int32 // rows of the queries of the present lanes
}

// AtAll is At for many series, in a fraction of the time if they have two states: mean and
// variance of series[k] at the steps from cut[k] to cut[k+1].
func (r *Reader) AtAll(series, cut, steps []int32, mean, variance []float32) {
	if !r.m.pair || len(series) < 3 { // a group of one or two takes longer than one by one
		for k, e := range series {
			from, to := cut[k], cut[k+1]
			r.At(int(e), steps[from:to], mean[from:to], variance[from:to])
		}
		return
	}
	r.sortByLength(series, cut)
	for order := r.lanes.order; len(order) > 0; {
		group := order[:min(laneCount, len(order))]
		order = order[len(group):]
		r.readLanes(group, series, cut, steps, mean, variance)
	}
}

// sortByLength sorts the series by the number of their points, so that those of a group
// hardly differ in it.
func (r *Reader) sortByLength(series, cut []int32) {
	const most = 64
	var count [most + 1]int32 // of shorter series
	length := func(k int, e int32) int32 {
		n := cut[k+1] - cut[k]
		if e >= 0 && int(e) < r.p.Series() {
			n += r.p.Start[e+1] - r.p.Start[e]
		}
		return min(n, most-1)
	}
	for k, e := range series {
		count[length(k, e)+1]++
	}
	for n := range most {
		count[n+1] += count[n]
	}
	if cap(r.lanes.order) < len(series) {
		r.lanes.order = make([]int32, len(series))
	}
	r.lanes.order = r.lanes.order[:len(series)]
	for k, e := range series {
		at := &count[length(k, e)]
		r.lanes.order[*at] = int32(k)
		*at++
	}
}

// readLanes is AtAll for the series group, at most laneCount.
func (r *Reader) readLanes(group, series, cut, steps []int32, mean, variance []float32) {
	x := &r.lanes
	x.places = x.places[:0]
	var lengths [laneCount]int
	n, from := 0, 1<<31
	for l, k := range group {
		first := len(x.places)
		lengths[l] = r.mergeLane(l, int(series[k]), steps[cut[k]:cut[k+1]])
		n = max(n, lengths[l])
		if first < len(x.places) {
			from = min(from, int(x.places[first]))
		}
	}
	none := transition{decay: 1}
	for l, length := range lengths {
		for i := length; i < n; i++ {
			x.rows[i].set(l, &none, 0, 0)
		}
	}
	rows := x.rows[:n]
	filterLanes(rows, r.m.start)
	smoothLanes(rows, from)
	places := x.places
	for l, k := range group {
		c := r.p.scale(int(series[k]))
		for q := cut[k]; q < cut[k+1]; q++ {
			row := &rows[places[0]]
			mean[q], variance[q] = float32(c*row.mean[l]), float32(c*c*row.variance[l])
			places = places[1:]
		}
	}
}

// mergeLane is merge into the rows of a lane. It returns the number of points.
func (r *Reader) mergeLane(lane, e int, steps []int32) int {
	x := &r.lanes
	i, end := 0, 0
	if e >= 0 && e < r.p.Series() {
		i, end = int(r.p.Start[e]), int(r.p.Start[e+1])
	}
	if most := end - i + len(steps); most > len(x.rows) {
		x.rows = append(x.rows, make([]laneRow, most)...)
	}
	sites, values, precisions := r.p.Step[i:end], r.p.Value[i:end], r.p.Precision[i:end]
	n, last := 0, int32(0)
	table := r.m.transitions
	by, weight := r.p.divisor(e)
	add := func(step int32, value, precision float32) {
		gap := step - last
		last = step
		var t *transition
		if int(gap) < len(table) && table[gap].known {
			t = &table[gap]
		} else {
			t = r.m.transition(gap)
			table = r.m.transitions
		}
		x.rows[n].set(lane, t, float64(value)*by, float64(precision)*weight)
		n++
	}
	site := 0
	for _, s := range steps {
		for site < len(sites) && sites[site] <= s {
			add(sites[site], values[site], precisions[site])
			site++
		}
		if n == 0 || last != s {
			add(s, 0, 0)
		}
		x.places = append(x.places, int32(n-1))
	}
	for ; site < len(sites); site++ {
		add(sites[site], values[site], precisions[site])
	}
	return n
}
