package forecast

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// separator separates the levels of a group's key.
const separator = "\x00"

// maxTotalBytes bounds the memory of the draws of totals.
const maxTotalBytes = 4 << 30

// parseBy finds the levels of Options.By; none for the total of all cells.
func (f *forecaster) parseBy() ([]*levels, error) {
	var by []*levels
	if f.o.By == "" || f.o.By == "total" {
		return nil, nil
	}
	for name := range strings.SplitSeq(f.o.By, ",") {
		l, err := findLevels(f.m, f.o, strings.TrimSpace(name), "by")
		if err != nil {
			return nil, err
		}
		if l.mode == f.time {
			return nil, fielderr.Errorf("by", "totals are by period already; name other modes than %s", name)
		}
		by = append(by, l)
	}
	return by, nil
}

// total is the sum over the cells of one group and period.
type total struct {
	key   string
	step  int64
	mean  float64
	draws []float64
}

// totals add up batches in the order of their rows, so that sums do not depend on the
// number of threads.
type totals struct {
	next    int             // first row of the next batch
	waiting map[int][]total // by first row: sums of batches whose turn has not come
	length  map[int]int     // by first row: number of rows
	all     map[string]*total
}

// add adds the sums of a batch of n rows.
func (t *totals) add(first, n int, own []total) {
	t.waiting[first], t.length[first] = own, n
	for n := t.length[t.next]; n > 0; n = t.length[t.next] {
		for _, o := range t.waiting[t.next] {
			place := fmt.Sprint(o.step) + separator + o.key
			sum := t.all[place]
			if sum == nil {
				t.all[place] = &o
				continue
			}
			sum.mean += o.mean
			for k, v := range o.draws {
				sum.draws[k] += v
			}
		}
		delete(t.waiting, t.next)
		delete(t.length, t.next)
		t.next += n
	}
}

// sorted returns the totals by group and period.
func (t *totals) sorted() []total {
	out := make([]total, 0, len(t.all))
	for _, sum := range t.all {
		out = append(out, *sum)
	}
	slices.SortFunc(out, func(a, b total) int {
		return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.step, b.step))
	})
	return out
}

// writeTotals writes one row per group and period. The draws of a cell depend on its
// position among the cells, not on the groups, so totals of different groupings agree.
func (f *forecaster) writeTotals(ctx context.Context, w io.Writer) error {
	n := cmp.Or(f.o.Draws, totalDraws)
	f.sum.Draws = n
	drawn, err := f.m.NewDraws(n, f.o.Threads)
	if err != nil {
		return err
	}
	predict := f.m.BatchPredictor(false)
	sums := &totals{waiting: map[int][]total{}, length: map[int]int{}, all: map[string]*total{}}
	err = tableio.VisitBatches(ctx, f.source, f.schema(), f.dicts(), f.o.Format, f.o.Threads, func(b *tableio.Batch) error {
		m, z, err := predict(b)
		if err != nil {
			return err
		}
		f.see(m, b)
		own, err := f.addUp(m, z, b, drawn, n)
		if err != nil {
			return err
		}
		f.mutex.Lock()
		defer f.mutex.Unlock()
		sums.add(b.First, b.Len(), own)
		if int64(len(sums.all))*int64(8*n) > maxTotalBytes {
			return fielderr.Errorf("by", "the draws of more than %d totals do not fit into %d GiB; use fewer draws or coarser groups", len(sums.all), maxTotalBytes>>30)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.writeGroups(ctx, w, sums.sorted())
}

// addUp returns the sums of a batch.
func (f *forecaster) addUp(m *model.Model, z tt.Moments, b *tableio.Batch, drawn *model.Draws, n int) ([]total, error) {
	wide := make([][]float64, n)
	for k := range wide {
		wide[k] = make([]float64, b.Len())
	}
	if err := drawn.Fill(wide, m, z, b); err != nil {
		return nil, err
	}
	var out []total
	at := map[string]int{}
	cells, line := m.Distributions(z, m.RowsOf(b)), f.m.Series().Line
	for i := range z.Mean {
		mean := cells.Mean(i)
		if err := model.CheckMean(mean, b.First, i); err != nil {
			return nil, err
		}
		texts := make([]string, len(f.by))
		for k, l := range f.by {
			texts[k] = l.at(b.Codes[l.mode][i], b.ID(l.mode, i))
		}
		id := b.ID(f.time, i)
		key := strings.Join(texts, separator)
		t, found := at[id+separator+key]
		if !found {
			t = len(out)
			at[id+separator+key] = t
			step, _ := line.Step(id)
			out = append(out, total{key: key, step: step, draws: make([]float64, n)})
		}
		out[t].mean += mean
		for k := range wide {
			out[t].draws[k] += wide[k][i]
		}
	}
	return out, nil
}

// writeGroups writes the totals.
func (f *forecaster) writeGroups(ctx context.Context, w io.Writer, totals []total) error {
	made := &columnMaker{rows: len(totals), columns: map[string][]string{}}
	var groups []string
	for _, l := range f.by {
		groups = append(groups, l.name)
	}
	series := f.m.Series()
	for i, t := range totals {
		if len(groups) > 0 {
			made.set(groups, strings.Split(t.key, separator), i, 1, 1)
		}
		texts, err := series.Line.Columns(t.step)
		if err != nil {
			return err
		}
		made.set(f.m.Modes()[f.time].Columns, texts, i, 1, 1)
	}
	source, err := made.source()
	if err != nil {
		return err
	}
	names := f.o.columns(made.names)
	added := make([]tableio.AddedColumn, len(names))
	for i, name := range names {
		added[i] = tableio.AddedColumn{Name: name, Wide: f.m.Wide() || i >= len(names)-f.o.Draws}
	}
	levels := append([]float64{0.5}, f.o.quantileLevels()...)
	// The table has no modes of the model, so its first column takes the place of one.
	first := dataset.Mode{Name: "group", Columns: made.names[:1]}
	f.sum.Rows = len(totals)
	return tableio.AppendColumns(ctx, source, dataset.Schema{Modes: []dataset.Mode{first}}, []*dataset.Dict{dataset.NewDict([]string{""})}, tableio.Format{}, 1, w, f.o.Output, added,
		func(b *tableio.Batch, values *tableio.AddedValues) error {
			for i := range b.Len() {
				t := totals[b.First+i]
				model.SetNumber(values, 0, i, t.mean)
				for k := range f.o.Draws {
					model.SetNumber(values, len(names)-f.o.Draws+k, i, t.draws[k])
				}
				sorted := slices.Clone(t.draws)
				slices.Sort(sorted)
				for k, p := range levels {
					model.SetNumber(values, 1+k, i, quantileOf(sorted, p))
				}
			}
			return model.CheckColumns(values, len(names), b.Len(), b.First)
		})
}

// quantileOf returns the quantile of sorted draws: Z(p) = z_(h), h = p (n+1), linear between
// ranks and constant beyond the first and the last.
func quantileOf(sorted []float64, p float64) float64 {
	h := p*float64(len(sorted)+1) - 1
	switch at := int(h); {
	case h <= 0:
		return sorted[0]
	case at >= len(sorted)-1:
		return sorted[len(sorted)-1]
	default:
		return sorted[at] + (h-float64(at))*(sorted[at+1]-sorted[at])
	}
}
