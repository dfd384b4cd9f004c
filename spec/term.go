package spec

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// MaxRank is the highest rank a term may ask for.
const MaxRank = 10000

// A Term is one train of the sum f = offset + term + term ...: the modes
// grouped into cores, from left to right, and the rank between each core and
// the next. Its text form is
//
//	term  = cores [ ":" rank { "," rank } ] [ "@" variant [ ":" rank ":" rank ] ]
//	cores = core { "," core }
//	core  = mode { "*" mode }
//
// so that store,item,time:20 is G(store) G(item) G(time) with both ranks 20,
// a,b,c,d:5,8,5 gives each rank, store*item,time:2 has a joint core, and store
// alone is an effect: one core, no rank. store,item,time:20@wlr uses side
// information by weighted latent regression whatever the other terms do;
// @ls:5:10 is latent scaling with ranks 5 for its scale and 10 for its bias.
type Term struct {
	Cores   [][]string // the modes of each core; several make a joint core
	Ranks   []int      // len(Cores)-1 ranks; none for an effect
	Variant string     // "" for that of the specification

	// ScaleRank and BiasRank are those of latent scaling; 0 for Ranks.
	ScaleRank, BiasRank int
}

// ParseTerm reads the text form of a term. Modes must be among the names
// given, unless modes is nil, which leaves the names unchecked.
func ParseTerm(s string, modes []string) (Term, error) {
	var t Term
	front, variant, hasVariant := strings.Cut(s, "@")
	if hasVariant {
		if err := t.parseVariant(variant); err != nil {
			return Term{}, err
		}
	}
	text, ranks, hasRanks := strings.Cut(front, ":")
	seen := map[string]bool{}
	for coreText := range strings.SplitSeq(text, ",") {
		var core []string
		for name := range strings.SplitSeq(coreText, "*") {
			name = strings.TrimSpace(name)
			switch {
			case name == "" && strings.TrimSpace(s) == "":
				return Term{}, errors.New("the term is empty; name its cores, such as store,item:10")
			case name == "":
				return Term{}, fmt.Errorf("term %q has an empty place where a mode should stand", s)
			case modes != nil && !slices.Contains(modes, name):
				return Term{}, fmt.Errorf("mode %q is not among the modes%s", name, hintOrList(name, modes))
			case seen[name]:
				return Term{}, fmt.Errorf("mode %q appears twice; a term may name a mode once", name)
			}
			seen[name] = true
			core = append(core, name)
		}
		t.Cores = append(t.Cores, core)
	}
	var err error
	t.Ranks, err = parseRanks(ranks, hasRanks, text, len(t.Cores)-1)
	if err != nil {
		return Term{}, err
	}
	return t, nil
}

// parseVariant reads what stands behind the @.
func (t *Term) parseVariant(text string) error {
	name, ranks, hasRanks := strings.Cut(text, ":")
	name = strings.TrimSpace(name)
	if !slices.Contains(Variants(), name) {
		return fmt.Errorf("%q is not a variant%s", name, hintOrList(name, Variants()))
	}
	t.Variant = name
	if !hasRanks {
		return nil
	}
	if name != "ls" {
		return fmt.Errorf("ranks behind @%s; only @ls has ranks of its own, as in @ls:5:10 for its scale and its bias", name)
	}
	scale, bias, _ := strings.Cut(ranks, ":")
	var err error
	if t.ScaleRank, err = parseRank(scale); err == nil {
		t.BiasRank, err = parseRank(bias)
	}
	if err != nil {
		return fmt.Errorf("@ls:%s: %w; give two, for the scale and the bias, as in @ls:5:10", ranks, err)
	}
	return nil
}

func parseRank(text string) (int, error) {
	text = strings.TrimSpace(text)
	r, err := strconv.Atoi(text)
	if err != nil || r < 1 || r > MaxRank {
		return 0, fmt.Errorf("rank %q is not a whole number from 1 to %d", text, MaxRank)
	}
	return r, nil
}

// parseRanks reads the ranks after the colon: one for every bond, or one for
// all of them.
func parseRanks(text string, given bool, cores string, bonds int) ([]int, error) {
	if !given {
		if bonds == 0 {
			return nil, nil
		}
		return nil, fmt.Errorf("a term of %d cores needs a rank after a colon, such as %s:20", bonds+1, strings.TrimSpace(cores))
	}
	var ranks []int
	for field := range strings.SplitSeq(text, ",") {
		r, err := parseRank(field)
		if err != nil {
			return nil, err
		}
		ranks = append(ranks, r)
	}
	switch {
	case bonds == 0 && len(ranks) == 1 && ranks[0] == 1:
		return nil, nil
	case bonds == 0:
		return nil, fmt.Errorf("a term of one core is an effect and has no rank; write %s without :%s",
			strings.TrimSpace(cores), strings.TrimSpace(text))
	case len(ranks) == 1:
		return slices.Repeat(ranks, bonds), nil
	case len(ranks) != bonds:
		return nil, fmt.Errorf("%d ranks for %d cores; give one rank for all, or %d, one between each core and the next",
			len(ranks), bonds+1, bonds)
	}
	return ranks, nil
}

// hintOrList names the likely name, or, without one, all there are when few.
func hintOrList(name string, candidates []string) string {
	if hint := suggest.Hint(name, candidates); hint != "" {
		return hint
	}
	if len(candidates) == 0 || len(candidates) > 12 {
		return ""
	}
	return " (" + strings.Join(candidates, ", ") + ")"
}

// DefaultTerm is the one term of a model whose user named none: a core a mode,
// in the order of the modes, all of one rank.
func DefaultTerm(modes []string, rank int) Term {
	if len(modes) == 0 || rank < 1 || rank > MaxRank {
		panic(fmt.Sprintf("model: default term over %d modes at rank %d", len(modes), rank))
	}
	t := Term{Ranks: slices.Repeat([]int{rank}, len(modes)-1)}
	for _, m := range modes {
		t.Cores = append(t.Cores, []string{m})
	}
	return t
}

// String is the shortest text that ParseTerm reads as t.
func (t Term) String() string {
	var b strings.Builder
	b.WriteString(t.coresString(0, len(t.Cores)))
	for i, r := range t.Ranks {
		if i == 0 {
			fmt.Fprintf(&b, ":%d", r)
			if !slices.ContainsFunc(t.Ranks, func(other int) bool { return other != r }) {
				break
			}
			continue
		}
		fmt.Fprintf(&b, ",%d", r)
	}
	if t.Variant != "" {
		b.WriteString("@" + t.Variant)
	}
	if t.ScaleRank > 0 {
		fmt.Fprintf(&b, ":%d:%d", t.ScaleRank, t.BiasRank)
	}
	return b.String()
}

// coresString is the text of the cores from lo up to hi.
func (t Term) coresString(lo, hi int) string {
	names := make([]string, 0, hi-lo)
	for _, core := range t.Cores[lo:hi] {
		names = append(names, strings.Join(core, "*"))
	}
	return strings.Join(names, ",")
}

// Effect reports whether the term is a single core.
func (t Term) Effect() bool { return len(t.Cores) == 1 }

// Modes are the names in the order in which the term has them.
func (t Term) Modes() []string { return slices.Concat(t.Cores...) }

// CapRanks lowers every rank above what the sizes of the cores allow: the
// matrix that separates the first k cores from the rest has no more rank than
// the product of the sizes to its left or to its right. Sizes are one a core
// (for a joint core, the combinations it stores). The notices say what was
// lowered, for the user; t itself is unchanged.
func (t Term) CapRanks(sizes []int) (Term, []string) {
	if len(sizes) != len(t.Cores) {
		panic(fmt.Sprintf("model: %d sizes for the %d cores of %s", len(sizes), len(t.Cores), t))
	}
	capped := t
	capped.Ranks = slices.Clone(t.Ranks)
	var notices []string
	for k, rank := range t.Ranks {
		left, right := boundedProduct(sizes[:k+1]), boundedProduct(sizes[k+1:])
		limit, side := left, t.coresString(0, k+1)
		if right < left {
			limit, side = right, t.coresString(k+1, len(t.Cores))
		}
		if rank <= limit {
			continue
		}
		capped.Ranks[k] = limit
		notices = append(notices, fmt.Sprintf("term %s: rank %d between %s and %s is lowered to %d, all that %s can carry",
			t, rank, t.coresString(k, k+1), t.coresString(k+1, k+2), limit, side))
	}
	return capped, notices
}

// boundedProduct multiplies sizes but stops growing above MaxRank, so that it
// cannot overflow: beyond that it limits no rank.
func boundedProduct(sizes []int) int {
	product := 1
	for _, n := range sizes {
		if n < 1 {
			panic(fmt.Sprintf("model: core of size %d", n))
		}
		product = min(product*min(n, MaxRank+1), MaxRank+1)
	}
	return product
}

// Positions returns the positions of the modes of a core among all modes.
func Positions(core, modes []string) []int {
	at := make([]int, len(core))
	for i, m := range core {
		at[i] = slices.Index(modes, m)
	}
	return at
}
