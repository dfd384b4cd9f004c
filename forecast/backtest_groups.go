package forecast

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// A grouping divides cells into groups whose totals are measured.
type grouping struct {
	name   string
	modes  []int
	levels [][]string // by mode of the grouping and code
}

// key returns the group of row i.
func (g *grouping) key(codes [][]int32, i int) string {
	texts := make([]string, len(g.modes))
	for k, m := range g.modes {
		texts[k] = g.levels[k][codes[m][i]]
	}
	return strings.Join(texts, separator)
}

// findGroupings finds the groups of BacktestOptions.By.
func (b *backtest) findGroupings(ctx context.Context) ([]grouping, error) {
	var groupings []grouping
	if own, _ := b.data.OwnEnds(); own && len(b.opt.By) > 0 {
		return nil, fielderr.Errorf("by", "the series have ends of their own, so that the periods after an origin differ; set data.ends to table to measure totals by period")
	}
	for _, name := range b.opt.By {
		var names []string
		for part := range strings.SplitSeq(name, ",") {
			names = append(names, strings.TrimSpace(part))
		}
		g := grouping{name: strings.Join(names, ",")}
		if slices.ContainsFunc(groupings, func(o grouping) bool { return o.name == g.name }) {
			return nil, fielderr.Errorf("by", "totals by %s are asked for twice; name each grouping once", g.name)
		}
		if g.name != "total" {
			for _, part := range names {
				mode, levels, err := b.levelsOf(ctx, part)
				if err != nil {
					return nil, err
				}
				g.modes, g.levels = append(g.modes, mode), append(g.levels, levels)
			}
		}
		groupings = append(groupings, g)
	}
	return groupings, nil
}

// levelsOf returns the mode and, by code, the level of a name such as store or item.vendor.
func (b *backtest) levelsOf(ctx context.Context, name string) (mode int, levels []string, err error) {
	var names []string
	var at []int
	for m, mode := range b.data.Modes() {
		if !mode.Covariate() { // a covariate has no groups
			names, at = append(names, mode.Name), append(at, m)
		}
	}
	found, column := spec.CutGroup(name, names)
	if found < 0 {
		return 0, nil, fielderr.Errorf("by", "the table has no mode %q%s; it has %s", name, suggest.Hint(name, names), strings.Join(names, ", "))
	}
	if mode = at[found]; mode == b.time {
		return 0, nil, fielderr.Errorf("by", "totals are by period already; name other modes than %s", name)
	}
	if column == "" {
		return mode, b.data.IDs(mode), nil
	}
	for _, text := range b.spec.Side.Tables {
		side, err := sideinfo.ParseSpec(text)
		if err != nil {
			return 0, nil, err
		}
		if side.Mode != names[found] || side.File == "" {
			continue
		}
		levels, err := readLevels(ctx, side, b.opt.Train.Tables, b.data.Modes()[mode], b.data.IDs(mode), column, tableio.Format{Stdin: b.opt.Train.Stdin})
		return mode, levels, err
	}
	return 0, nil, fielderr.Errorf("by", "there is no side table of %s that has the column %s; name one in side.tables", names[found], column)
}

// A division assigns the rows after an origin to the totals of a grouping, one per group and period.
type division struct {
	of     []int32 // by row: number of the total
	totals []actualTotal
}

// An actualTotal is the sum of the values of a group in a period after an origin.
type actualTotal struct {
	ahead  int
	actual float64
	change metrics.Change // of the totals of the group from one period to the next, up to the origin
}

// divide assigns the rows after an origin to totals, whose draws have to fit into memory. It takes time in proportion to
// the known rows.
func (b *backtest) divide(origin int64, known, later fitdata.Rows) ([]division, error) {
	var all []division
	totals := 0
	for _, g := range b.groupings {
		type spot struct {
			key  string
			step int32
		}
		at := map[spot]int32{}
		d := division{of: make([]int32, len(later.Y))}
		var keys []string
		for i, step := range later.Step {
			s := spot{g.key(later.Codes, i), step}
			k, seen := at[s]
			if !seen {
				k = int32(len(d.totals))
				at[s] = k
				keys = append(keys, s.key)
				d.totals = append(d.totals, actualTotal{ahead: int(int64(step) - origin)})
			}
			d.of[i] = k
			d.totals[k].actual += dataset.TargetAt(later.Y, later.Low, i)
		}
		changes := totalChanges(&g, known)
		for k, key := range keys {
			d.totals[k].change = changes[key]
		}
		all = append(all, d)
		if totals += len(d.totals); int64(8*totalDraws)*int64(totals) > maxTotalBytes {
			return nil, fielderr.Errorf("by", "the draws of %d totals do not fit into %d GiB; use coarser or fewer groups", totals, maxTotalBytes>>30)
		}
	}
	return all, nil
}

// totalChanges returns the change of the totals of each group from one period with rows to the next.
func totalChanges(g *grouping, known fitdata.Rows) map[string]metrics.Change {
	type period struct {
		step int32
		sum  float64
	}
	sums := map[string]map[int32]float64{}
	for i, step := range known.Step {
		key := g.key(known.Codes, i)
		if sums[key] == nil {
			sums[key] = map[int32]float64{}
		}
		sums[key][step] += dataset.TargetAt(known.Y, known.Low, i)
	}
	changes := map[string]metrics.Change{}
	for key, steps := range sums {
		var periods []period
		for step, sum := range steps {
			periods = append(periods, period{step, sum})
		}
		slices.SortFunc(periods, func(x, y period) int { return cmp.Compare(x.step, y.step) })
		var c metrics.Change
		for k := 1; k < len(periods); k++ {
			d := periods[k].sum - periods[k-1].sum
			c.Absolute += math.Abs(d) / float64(len(periods)-1)
			c.Squared += d * d / float64(len(periods)-1)
		}
		changes[key] = c
	}
	return changes
}
