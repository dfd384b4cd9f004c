package synthetic

import (
	"cmp"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// Genres returns the genres of movies.
func Genres() []string {
	return []string{"Action", "Adventure", "Animation", "Children", "Comedy", "Crime", "Documentary", "Drama", "Fantasy", "Film-Noir",
		"Horror", "IMAX", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"}
}

// Tags returns the number of tags, 0 for a set without tags.
func (s *Set) Tags() int { return s.tags }

// drawTags draws the loadings of tags and genres on the latent variables. A quarter
// of the tags do not depend on them.
func (s *Set) drawTags() {
	r := randstream.New(s.seed, "synthetic tags")
	for k := range s.tags {
		sd := 0.6
		if k%4 == 3 {
			sd = 0
		}
		s.loading = append(s.loading, draw(r, latentTags, sd))
	}
	if s.tags > 0 {
		for range Genres() {
			s.genreLoading = append(s.genreLoading, draw(r, latentTags, 1))
		}
	}
}

// Tagged returns the items with relevances: the largest ones, as in MovieLens.
func (s *Set) Tagged() []int {
	order := make([]int, s.Items)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.item.size[b], s.item.size[a]) })
	order = order[:int(math.Round(s.tagged*float64(s.Items)))]
	slices.Sort(order)
	return order
}

// Relevances appends the relevance of each tag for an item, between 0 and 1.
func (s *Set) Relevances(item int, dst []float32) []float32 {
	r := randstream.New(s.seed, "synthetic relevances", uint64(item))
	z := s.item.latent[item]
	for _, loading := range s.loading {
		x := -1.5 + 0.5*r.NormFloat64()
		if loading[0] == 0 {
			x += 1.7 * r.NormFloat64()
		}
		dst = append(dst, float32(1/(1+math.Exp(-x-dot(loading, z)))))
	}
	return dst
}

// ItemGenres returns the two genres that fit an item best.
func (s *Set) ItemGenres(item int) []string {
	names := Genres()
	order := make([]int, len(names))
	fit := make([]float64, len(names))
	for g := range names {
		order[g], fit[g] = g, dot(s.genreLoading[g], s.item.latent[item])
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(fit[b], fit[a]) })
	best := order[:2]
	slices.Sort(best)
	return []string{names[best[0]], names[best[1]]}
}

func dot(a, b []float64) (total float64) {
	for k, v := range a {
		total += v * b[k]
	}
	return total
}
