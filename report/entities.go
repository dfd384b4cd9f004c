package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/digits"
	"github.com/kernel-fried-tensor/kft/internal/figure"
)

// Limits of the list of ids.
const (
	maxEntities = 6000 // of all modes together
	dimensions  = 8    // of the factors
)

// An entityList has the ids of a mode with the most training rows, for the search box.
type entityList struct {
	Mode   string   `json:"mode"`
	Of     int      `json:"of"` // ids of the mode
	Unit   float64  `json:"unit"`
	Target string   `json:"target"`
	IDs    []entity `json:"ids"`
}

// An entity is [id, effect, value at an average cell, rows, mean of the target,
// coordinates in units of Unit...].
type entity struct {
	id            string
	effect, value float64
	rows          int
	mean          float64
	at            []int
}

// MarshalJSON writes the entity as a short array.
func (e entity) MarshalJSON() ([]byte, error) {
	rounded := func(v float64) any {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return json.Number(digits.Short(v, 4))
	}
	return json.Marshal([]any{short(e.id), rounded(e.effect), rounded(e.value), e.rows, rounded(e.mean), e.at})
}

// shortenEntities halves the lists of ids.
func (p *page) shortenEntities() {
	for i := range p.Entities {
		p.Entities[i].IDs = p.Entities[i].IDs[:len(p.Entities[i].IDs)/2]
	}
	p.Entities = slices.DeleteFunc(p.Entities, func(l entityList) bool { return len(l.IDs) == 0 })
}

// effects describes the ids of each mode: their effects, and their factors as a map.
func (b *builder) effects() error {
	blocks := []block{text("The effect of an id is what it changes if all other ids of a cell are average, on the modelling scale; beside it stands the value of such a cell. Ids with similar learned factors behave alike."), {Search: true}}
	share := maxEntities / max(len(b.m.Modes()), 1)
	for mode, info := range b.m.Modes() {
		effects := b.x.Effects(mode)
		if len(effects) == 0 || info.Covariate() { // a covariate has a curve
			continue
		}
		if b.m.IsTime(mode) {
			line := figure.Series{Name: "effect", Colour: 'a'}
			var labels []string
			for k, e := range effects {
				line.X, line.Y, labels = append(line.X, float64(k)), append(line.Y, e.Effect), append(labels, e.ID)
			}
			blocks = append(blocks, block{Figure: figure.Lines{Title: "Effect of " + info.Name, XName: info.Name, YName: "change of the level of an average cell", Labels: labels, Series: []figure.Series{line}, Reference: []float64{0}}.Figure()})
		}
		list := entityList{Mode: info.Name, Of: len(effects), Unit: 1, Target: b.m.Spec().Data.Target}
		slices.SortStableFunc(effects, func(a, c explainEffect) int { return cmp.Compare(c.Rows, a.Rows) })
		effects = effects[:min(len(effects), share)]
		codes := make([]int32, len(effects))
		for i, e := range effects {
			codes[i] = b.m.Code(mode, e.ID)
			mean := math.NaN()
			if e.Mean != nil {
				mean = float64(*e.Mean)
			}
			list.IDs = append(list.IDs, entity{e.ID, e.Effect, float64(e.Value), e.Rows, mean, nil})
		}
		if embedding := b.x.Embed(mode, codes, dimensions); embedding != nil {
			list.place(embedding.Points)
			if f := factorMap(info.Name, effects, embedding.Points, embedding.Share); f != nil {
				blocks = append(blocks, block{Figure: f})
			}
		}
		b.page.Entities = append(b.page.Entities, list)
	}
	b.page.Dims = dimensions
	b.add("ids", "Ids: effects and factors", blocks...)
	return nil
}

// place stores coordinates as whole numbers of at most three digits.
func (l *entityList) place(points [][]float64) {
	most := 0.0
	for _, p := range points {
		for _, v := range p {
			most = max(most, math.Abs(v))
		}
	}
	if !(most > 0) || math.IsInf(most, 0) {
		return
	}
	l.Unit = most / 500
	for i, p := range points {
		for _, v := range p {
			l.IDs[i].at = append(l.IDs[i].at, int(math.Round(v/l.Unit)))
		}
	}
}

// factorMap draws the first two principal components of the factors of the ids with the
// most rows.
func factorMap(mode string, effects []explainEffect, points [][]float64, share float64) *figure.Figure {
	if len(points) < 3 || len(points[0]) < 2 {
		return nil
	}
	high, low := figure.Series{Name: "effect above 0", Colour: 'a', Dots: true}, figure.Series{Name: "effect below 0", Colour: 'b', Dots: true}
	const most = 400
	for i, p := range points[:min(len(points), most)] {
		s := &high
		if effects[i].Effect < 0 {
			s = &low
		}
		s.X, s.Y = append(s.X, p[0]), append(s.Y, p[1])
	}
	return figure.Lines{Title: fmt.Sprintf("Learned factors of %s", mode), XName: "first principal component", YName: fmt.Sprintf("second principal component (%d dimensions keep %s of the variance)", len(points[0]), percent(share)),
		Series: []figure.Series{high, low}, Height: 340}.Figure()
}
