// Package seriesterm is a term of the model that has a Gaussian process along time for each entity.
package seriesterm

import (
	"math/bits"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/radix"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/series"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// A Term is a term of the model with one value per entity and step of time, x_e(t): a Gaussian
// process along time for each combination of ids; see package series. It adds to the
// trains of a field.
type Term struct {
	Label   string        // the term as it is written in a specification
	Modes   []string      // of the entities
	Index   *entity.Index // the entities: series with training data, and the prior
	Time    int           // mode of time
	Steps   []int32       // by code of that mode
	Default int32         // the step of an id of time that has none
	*series.Process
}

// step returns the step of a code of the mode of time. Ids without training rows have
// one too.
func (s *Term) step(code int32) int32 {
	if code = entity.CodeOf(code); code < 0 || int(code) >= len(s.Steps) {
		return s.Default
	}
	return s.Steps[code]
}

// NewSites returns a process with a site for every combination of an entity and a step
// that occurs in the columns codes, all without data, the site of each row, -1 for none,
// and the rows in the order of their sites, those without one last.
func (s *Term) NewSites(threads int, prior series.Prior, codes [][]int32) (p *series.Process, site, order []int32) {
	c := s.NewCells(threads, codes)
	p = &series.Process{Prior: prior, Start: make([]int32, s.Index.Entities())}
	site = make([]int32, len(codes[0]))
	each := func(work func(e int32, rows []int32)) {
		parallel.Ranges(threads, len(c.cut)-1, func(_, from, to int) {
			for g := from; g < to; g++ {
				rows := c.order[c.cut[g]:c.cut[g+1]]
				work(c.Entity[rows[0]], rows)
			}
		})
	}
	none := s.Index.Prior() // its groups are unknown: no series
	each(func(e int32, rows []int32) {
		steps := int32(0)
		for i, row := range rows {
			if i == 0 || c.step[row] != c.step[rows[i-1]] {
				steps++
			}
			site[row] = steps - 1 // within its series
		}
		if e != none {
			p.Start[e+1] = steps
		}
	})
	for e := range p.Start[1:] {
		p.Start[e+1] += p.Start[e]
	}
	p.Scale = prior.NewScales(p.Series())
	n := p.Start[len(p.Start)-1]
	p.Step, p.Value, p.Precision = make([]int32, n), make([]float32, n), make([]float32, n)
	each(func(e int32, rows []int32) {
		for _, row := range rows {
			if e == none {
				site[row] = -1
				continue
			}
			site[row] += p.Start[e]
			p.Step[site[row]] = c.step[row]
		}
	})
	return p, site, c.order
}

// Cells are cells in the order of their series and steps.
type Cells struct {
	Entity, step []int32 // by cell
	order        []int32 // cells
	cut          []int32 // where entities start in order, and its end
}

func (s *Term) NewCells(threads int, codes [][]int32) *Cells {
	n := len(codes[0])
	c := &Cells{Entity: make([]int32, n), step: make([]int32, n)}
	parallel.Blocks(threads, n, func(from, to int) {
		s.Index.LookupFrom(c.Entity[from:to], codes, from)
		for i := from; i < to; i++ {
			c.step[i] = s.step(codes[s.Time][i])
		}
	})
	c.group(threads)
	return c
}

// each calls work for the cells of every series, with their steps in ascending order and
// memory for two numbers per cell.
func (c *Cells) each(threads int, s *Term, work func(r *series.Reader, e int, cells, steps []int32, x, y []float32)) {
	parallel.Ranges(threads, len(c.cut)-1, func(_, from, to int) {
		r := s.NewReader()
		var steps []int32
		var memory []float32
		for g := from; g < to; g++ {
			cells := c.order[c.cut[g]:c.cut[g+1]]
			steps = steps[:0]
			for _, cell := range cells {
				steps = append(steps, c.step[cell])
			}
			e := int(c.Entity[cells[0]])
			if e == int(s.Index.Prior()) {
				e = -1
			}
			n := len(cells)
			if len(memory) < 2*n {
				memory = make([]float32, 4*n)
			}
			work(r, e, cells, steps, memory[:n], memory[n:2*n])
		}
	})
}

// seriesBlock is the number of series that are read together.
const seriesBlock = 1024

// Moments writes mean and variance of the term at cells; variance may be nil.
func (s *Term) Moments(threads int, c *Cells, mean, variance []float32) {
	parallel.Ranges(threads, len(c.cut)-1, func(_, from, to int) {
		r := s.NewReader()
		var entities, cut, steps []int32
		var memory []float32
		for ; from < to; from += seriesBlock {
			end := min(from+seriesBlock, to)
			first := c.cut[from]
			cells := c.order[first:c.cut[end]]
			entities, cut, steps = entities[:0], append(cut[:0], 0), steps[:0]
			for g := from; g < end; g++ {
				entities = append(entities, c.Entity[c.order[c.cut[g]]])
				cut = append(cut, c.cut[g+1]-first)
			}
			for _, cell := range cells {
				steps = append(steps, c.step[cell])
			}
			n := len(cells)
			if len(memory) < 2*n {
				memory = make([]float32, 2*n)
			}
			m, v := memory[:n], memory[n:2*n]
			r.AtAll(entities, cut, steps, m, v)
			for i, cell := range cells {
				mean[cell] = m[i]
				if variance != nil {
					variance[cell] = v[i]
				}
			}
		}
	})
}

// Draws holds the cells of the series terms for draws.
type Draws struct {
	cells []*Cells
	keys  [][]uint64 // by term and cell: the name of the entity
}

// NewDraws prepares cells. Series without data get a number from their ids, so that
// all cells of a series share a draw.
func NewDraws(terms []*Term, codes [][]int32, key func(modes []int, cell int) uint64) *Draws {
	d := &Draws{}
	for _, s := range terms {
		c := s.NewCells(1, codes)
		keys := make([]uint64, len(c.Entity))
		fresh := map[uint64]int32{}
		prior := s.Index.Prior()
		for i, e := range c.Entity {
			if e != prior {
				keys[i] = uint64(e)
				continue
			}
			id := s.Index.Identify(codes, i, key)
			keys[i] = ^id
			if _, ok := fresh[id]; !ok {
				fresh[id] = prior + 1 + int32(len(fresh))
			}
			c.Entity[i] = fresh[id]
		}
		if len(fresh) > 0 {
			c.group(1)
		}
		d.cells, d.keys = append(d.cells, c), append(d.keys, keys)
	}
	return d
}

// group sorts the cells by entity and step.
func (c *Cells) group(threads int) {
	if len(c.step) == 0 {
		c.cut = []int32{0}
		return
	}
	low, high := slices.Min(c.step), slices.Max(c.step)
	keys, shift := make([]uint64, len(c.step)), bits.Len64(uint64(high)-uint64(low))
	parallel.Blocks(threads, len(keys), func(from, to int) {
		for i := from; i < to; i++ {
			keys[i] = uint64(c.Entity[i])<<shift | uint64(int64(c.step[i])-int64(low))
		}
	})
	c.order, keys = radix.Order(threads, keys)
	c.cut = c.cut[:0]
	for i, k := range keys {
		if i == 0 || keys[i-1]>>shift != k>>shift {
			c.cut = append(c.cut, int32(i))
		}
	}
	c.cut = append(c.cut, int32(len(keys)))
}

// Add adds a draw of the series terms to dst. The random numbers of a series depend on
// the seed, the draw, the term and the series alone.
func (d *Draws) Add(threads int, terms []*Term, seed, number uint64, dst []float32) {
	for k, s := range terms {
		d.cells[k].each(threads, s, func(r *series.Reader, e int, cells, steps []int32, x, _ []float32) {
			rng := randstream.New(seed, "series", number, uint64(k), d.keys[k][cells[0]])
			r.Draw(rng, e, steps, x)
			for i, cell := range cells {
				dst[cell] += x[i]
			}
		})
	}
}

// StartFrom copies the prior, and scales and sites of common series and steps.
func (s *Term) StartFrom(threads int, other *Term) {
	s.Prior.SetValues(other.Prior.Values())
	parallel.Blocks(threads, s.Process.Series(), func(from, to int) {
		for e := from; e < to; e++ {
			if o := s.Index.In(other.Index, e); o >= 0 {
				copySites(s.Process, other.Process, e, o)
			}
		}
	})
}

// copySites copies scale and sites of series o of another process to series e.
func copySites(p, other *series.Process, e, o int) {
	if len(p.Scale) > 0 && len(other.Scale) > 0 {
		p.Scale[e] = other.Scale[o]
	}
	at, end := other.Start[o], other.Start[o+1]
	for i := p.Start[e]; i < p.Start[e+1]; i++ {
		for at < end && other.Step[at] < p.Step[i] {
			at++
		}
		if at < end && other.Step[at] == p.Step[i] {
			p.Value[i], p.Precision[i] = other.Value[at], other.Precision[at]
		}
	}
}
