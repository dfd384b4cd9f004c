package synthetic

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// Set is a large data set with a known truth. The field of a cell is
//
//	f = level + a(owner) + b(item) + c(time) + sum over k of u_k(owner) v_k(item) w_k(time),
//
// where a, b, u and v are functions of the side information, some of whose columns
// have no effect, plus an individual part of each id; w is smooth in time. The
// observed value follows Distribution given f. Which cells have rows depends on the
// sizes and on f, not on the noise.
//
// Rows are generated per owner from separate random streams. Memory grows with the
// ids only, and the rows do not depend on the order of the owners.
type Set struct {
	Shape
	Distribution *Distribution

	seed         uint64
	owner, item  *entities
	timeEffect   []float64
	timeFactor   [][rank]float64
	counts       []int
	accumulated  []float64 // cumulative sizes of items
	loading      [][]float64
	genreLoading [][]float64
}

const latentTags = 8

// NewSet draws the ids of a set. It returns an error if the number of rows does not
// fit the number of ids.
func NewSet(shape Shape, seed uint64) (*Set, error) {
	s := &Set{Shape: shape, Distribution: newDistribution(shape.noiseSD, shape.stars), seed: seed}
	latent := 0
	if shape.tags > 0 {
		latent = latentTags
	}
	s.owner = newEntities(seed, "owner", shape.Owners, shape.ownerPower, shape.owner, 0)
	s.item = newEntities(seed, "item", shape.Items, shape.itemPower, shape.item, latent)
	s.drawTimes()
	s.drawTags()
	total := 0.0
	for _, v := range s.item.size {
		total += v
		s.accumulated = append(s.accumulated, total)
	}
	least, most := max(1, (shape.Items+shape.Owners-1)/shape.Owners), shape.Items*shape.Times*3/4
	if shape.stars {
		most = shape.Items / 2
	}
	if shape.Rows < least*shape.Owners || shape.Rows > most*shape.Owners {
		return nil, fmt.Errorf("%d rows do not fit %d x %d ids; choose another number of rows", shape.Rows, shape.Owners, shape.Items)
	}
	s.counts = share(shape.Rows, s.owner.size, least, most)
	return s, nil
}

// drawTimes creates a trend and a season of twelve months, or a daily cycle.
func (s *Set) drawTimes() {
	period := 12.0
	if s.stars {
		period = float64(s.Times)
	}
	for t := range s.Times {
		angle := 2 * math.Pi * float64(t) / period
		trend := math.Sqrt(3) * ((2*float64(t)+1)/float64(s.Times) - 1)
		s.timeEffect = append(s.timeEffect, math.Cos(angle+1))
		// Most of the interaction of owners and items is constant in time.
		s.timeFactor = append(s.timeFactor, [rank]float64{1, 1, 0.6 * math.Sqrt2 * math.Cos(angle), 0.6*math.Sin(angle) + 0.4*trend})
	}
}

// share divides rows exactly, in proportion to sizes and within bounds.
func share(rows int, size []float64, least, most int) []int {
	counts := make([]int, len(size))
	fill := func(factor float64) (total int) {
		for i, v := range size {
			counts[i] = min(max(int(factor*v), least), most)
			total += counts[i]
		}
		return total
	}
	low, high := 0.0, 1.0
	for fill(high) < rows {
		high *= 2
	}
	for range 60 {
		if middle := (low + high) / 2; fill(middle) <= rows {
			low = middle
		} else {
			high = middle
		}
	}
	for i, left := 0, rows-fill(low); left > 0; i = (i + 1) % len(counts) {
		if counts[i] < most {
			counts[i]++
			left--
		}
	}
	return counts
}

// Field returns f of a cell.
func (s *Set) Field(owner, item, time int) float64 {
	f := s.level + s.ownerSD*s.owner.effect[owner] + s.itemSD*s.item.effect[item] + s.timeSD*s.timeEffect[time]
	u, v, w := &s.owner.factor[owner], &s.item.factor[item], &s.timeFactor[time]
	for k := range rank {
		f += s.trainSD / 2 * u[k] * v[k] * w[k] // 2 is the square root of the rank
	}
	return f
}

// Block holds the rows of one owner, by item and time. It can be reused.
type Block struct {
	Item, Time []int32
	Y, Field   []float64
	Noise      []float64 // standard normal: y is Value(field, noise)

	seen  []bool
	items []int32
	keys  []cellKey
}

type cellKey struct {
	key        float64
	item, time int32
	field      float64
}

func byKey(x, y cellKey) int { return cmp.Compare(x.key, y.key) }

// Draw fills b with the rows of an owner.
func (s *Set) Draw(owner int, b *Block) {
	r := randstream.New(s.seed, "synthetic rows", uint64(owner))
	n := s.counts[owner]
	b.Item, b.Time, b.Y, b.Field = b.Item[:0], b.Time[:0], b.Y[:0], b.Field[:0]
	b.Noise = b.Noise[:0]
	b.keys = b.keys[:0]
	if s.stars {
		s.drawItems(r, owner, n, b)
		for _, item := range b.items {
			// Evenings are the busiest hours.
			hour := min(int(float64(s.Times)*(1-math.Abs(r.Float64()-r.Float64()))), s.Times-1)
			b.keys = append(b.keys, cellKey{0, item, int32(hour), s.Field(owner, int(item), hour)})
		}
	} else {
		s.drawCells(r, owner, n, b)
	}
	slices.SortFunc(b.keys, func(x, y cellKey) int {
		if x.item != y.item {
			return int(x.item - y.item)
		}
		return int(x.time - y.time)
	})
	for _, c := range b.keys {
		b.Item, b.Time, b.Field = append(b.Item, c.item), append(b.Time, c.time), append(b.Field, c.field)
		e := r.NormFloat64()
		b.Y, b.Noise = append(b.Y, s.Distribution.Value(c.field, e)), append(b.Noise, e)
	}
}

// drawCells selects n cells of the items that the owner stocks, preferring cells
// with high sales: the n smallest of exponential numbers divided by weights.
func (s *Set) drawCells(r *rand.Rand, owner, n int, b *Block) {
	least := max((n+s.Times-1)/s.Times, (s.Items+s.Owners-1)/s.Owners)
	s.drawItems(r, owner, min(max(int(math.Ceil(float64(n)/s.times)), least), s.Items, n), b)
	for _, item := range b.items {
		first := len(b.keys)
		for t := range s.Times {
			f := s.Field(owner, int(item), t)
			b.keys = append(b.keys, cellKey{r.ExpFloat64() * (1 + math.Exp(2-f)), item, int32(t), f})
		}
		if int(item)%s.Owners == owner { // every item gets at least one row
			b.keys[first+r.IntN(s.Times)].key = -1
		}
	}
	slices.SortFunc(b.keys, byKey)
	b.keys = b.keys[:n]
}

// drawItems selects n items in proportion to their sizes, including those assigned
// to the owner so that every item gets at least one row.
func (s *Set) drawItems(r *rand.Rand, owner, n int, b *Block) {
	b.items = b.items[:0]
	if len(b.seen) != s.Items {
		b.seen = make([]bool, s.Items)
	}
	take := func(item int) {
		if !b.seen[item] {
			b.seen[item] = true
			b.items = append(b.items, int32(item))
		}
	}
	for item := owner; item < s.Items && len(b.items) < n; item += s.Owners {
		take(item)
	}
	if n <= s.Items/8 {
		total := s.accumulated[s.Items-1]
		for len(b.items) < n {
			at, _ := slices.BinarySearch(s.accumulated, total*r.Float64())
			take(min(at, s.Items-1))
		}
	} else {
		var keys []cellKey
		for i, size := range s.item.size {
			keys = append(keys, cellKey{key: r.ExpFloat64() / size, item: int32(i)})
		}
		slices.SortFunc(keys, byKey)
		for i := 0; len(b.items) < n; i++ {
			take(int(keys[i].item))
		}
	}
	for _, item := range b.items {
		b.seen[item] = false
	}
	slices.Sort(b.items)
}

// OwnerTable returns the side information of the owners: the column names and the
// fields of each column.
func (s *Set) OwnerTable() (header []string, columns [][]string) {
	return s.owner.header, s.owner.fields
}

// ItemTable returns the side information of the items.
func (s *Set) ItemTable() (header []string, columns [][]string) { return s.item.header, s.item.fields }

// OwnerID returns the id of an owner.
func (s *Set) OwnerID(owner int) string {
	if s.stars {
		return strconv.Itoa(owner + 1)
	}
	return strconv.Itoa(2101 + owner)
}

// ItemID returns the id of an item.
func (s *Set) ItemID(item int) string {
	if s.stars {
		return strconv.Itoa(item + 1)
	}
	return strconv.Itoa(10001 + item)
}
