package spec

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// MaxRank is the highest rank of a term.
const MaxRank = 10000

// A Term is one tensor train of the sum f = offset + term + term ... It groups modes
// into cores, from left to right, and has one rank between each core and the next. Its
// text form is
//
//	term  = cores [ ":" rank { "," rank } ] [ "@" variant [ ":" rank ":" rank ] ]
//	cores = core { "," core }
//	core  = mode { "*" mode } | "along(" mode [ ";" part { "," part } ] ")"
//	mode  = name | name "." column
//
// Examples: store,item,time:20 is G(store) G(item) G(time) with both ranks 20.
// a,b,c,d:5,8,5 sets each rank. store*item,time:2 has a joint core. store is an
// effect: one core without a rank. store,item,time:20@wlr uses side information by
// weighted latent regression, independently of the other terms. @ls:5:10 is latent
// scaling with rank 5 for its scale and rank 10 for its bias. item.vendor*time has a
// core over groups of items, those with the same vendor in the side table of item; see
// [Group]. item,along(time):3 has a prior along time for the slices of its last core, with
// the parts of a series. series(store*item; time) is a series; see [Series].
type Term struct {
	Cores   [][]string // modes of each core; several modes make a joint core
	Ranks   []int      // len(Cores)-1 ranks; none for an effect
	Variant string     // "" for the variant of the specification

	// ScaleRank and BiasRank are ranks of latent scaling; 0 for the same as Ranks.
	ScaleRank, BiasRank int

	Along  *Series // the prior along time of the first or last core, over the mode Time alone; nil for none
	Series *Series // of a series term, whose only core names its entities; nil for a train
}

// ParseTerm parses the text form of a term. Its modes must be among the given names, or
// groups of them. A nil list leaves the names unchecked.
func ParseTerm(s string, modes []string) (Term, error) {
	if strings.HasPrefix(strings.TrimSpace(s), "series(") {
		return parseSeries(s, modes)
	}
	s, along, err := cutAlong(s, modes)
	if err != nil {
		return Term{}, err
	}
	t := Term{Along: along}
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
				return Term{}, fmt.Errorf("term %q: the name of a mode is missing", s)
			case modes != nil && !isModeOrGroup(name, modes):
				return Term{}, fmt.Errorf("unknown mode %q%s", name, unknownName(name, modes))
			case seen[name]:
				return Term{}, fmt.Errorf("mode %q appears twice; a term can have a mode only once", name)
			}
			seen[name] = true
			core = append(core, name)
		}
		if mode, group := redundant(core, modes); group != "" {
			return Term{}, fmt.Errorf("%s follows from %s in the core %s; leave one of them out", group, mode, strings.Join(core, "*"))
		}
		t.Cores = append(t.Cores, core)
	}
	t.Ranks, err = parseRanks(ranks, hasRanks, text, len(t.Cores)-1)
	if err != nil {
		return Term{}, err
	}
	return t, nil
}

// parseVariant parses the text after the @.
func (t *Term) parseVariant(text string) error {
	name, ranks, hasRanks := strings.Cut(text, ":")
	name = strings.TrimSpace(name)
	if !slices.Contains(Variants(), name) {
		return fmt.Errorf("unknown variant %q%s", name, hintOrList(name, Variants()))
	}
	t.Variant = name
	if !hasRanks {
		return nil
	}
	if name != "ls" {
		return fmt.Errorf("@%s has no ranks of its own; only @ls has, as in @ls:5:10 for its scale and its bias", name)
	}
	scale, bias, _ := strings.Cut(ranks, ":")
	var err error
	if t.ScaleRank, err = parseRank(scale); err == nil {
		t.BiasRank, err = parseRank(bias)
	}
	if err != nil {
		return fmt.Errorf("@ls:%s: %w; write two ranks, for the scale and the bias, as in @ls:5:10", ranks, err)
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

// parseRanks parses the ranks after the colon: one per bond between two cores, or one
// for all bonds.
func parseRanks(text string, given bool, cores string, bonds int) ([]int, error) {
	if !given {
		if bonds == 0 {
			return nil, nil
		}
		return nil, fmt.Errorf("a term with %d cores needs a rank after a colon, such as %s:20", bonds+1, strings.TrimSpace(cores))
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
		return nil, fmt.Errorf("a term with one core is an effect and has no rank; write %s without :%s",
			strings.TrimSpace(cores), strings.TrimSpace(text))
	case len(ranks) == 1:
		return slices.Repeat(ranks, bonds), nil
	case len(ranks) != bonds:
		return nil, fmt.Errorf("%d ranks for %d cores; write one rank for all, or %d, one between each core and the next",
			len(ranks), bonds+1, bonds)
	}
	return ranks, nil
}

// hintOrList suggests the most similar candidate. If none is similar, it lists all
// candidates, unless there are many.
func hintOrList(name string, candidates []string) string {
	if hint := suggest.Hint(name, candidates); hint != "" {
		return hint
	}
	if len(candidates) == 0 || len(candidates) > 12 {
		return ""
	}
	return " (known: " + strings.Join(candidates, ", ") + ")"
}

// DefaultTerm returns the term of a specification without terms: one core per mode, in
// the order of the modes, all with the same rank.
func DefaultTerm(modes []string, rank int) Term {
	if len(modes) == 0 || rank < 1 || rank > MaxRank {
		panic(fmt.Sprintf("spec: default term over %d modes at rank %d", len(modes), rank))
	}
	t := Term{Ranks: slices.Repeat([]int{rank}, len(modes)-1)}
	for _, m := range modes {
		t.Cores = append(t.Cores, []string{m})
	}
	return t
}

// String returns the shortest text that ParseTerm parses as t.
func (t Term) String() string {
	if t.Series != nil {
		return "series(" + t.coresString(0, 1) + t.Series.text() + ")"
	}
	var b strings.Builder
	for p, core := range t.Cores {
		if p > 0 {
			b.WriteString(",")
		}
		if t.IsAlong(core) {
			b.WriteString(alongPrefix + strings.TrimPrefix(t.Along.text(), "; ") + ")")
		} else {
			b.WriteString(strings.Join(core, "*"))
		}
	}
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

// coresString returns the text of the cores lo to hi-1.
func (t Term) coresString(lo, hi int) string {
	names := make([]string, 0, hi-lo)
	for _, core := range t.Cores[lo:hi] {
		names = append(names, strings.Join(core, "*"))
	}
	return strings.Join(names, ",")
}

// CapRanks returns the term with every rank reduced to what the sizes of the cores
// allow: the matrix that separates the first k cores from the others cannot have a
// higher rank than the product of the sizes to its left or to its right. There is one
// size per core: the number of its entities, for a joint core that of the stored
// combinations. The notices list the reduced ranks.
func (t Term) CapRanks(sizes []int) (Term, []string) {
	if len(sizes) != len(t.Cores) {
		panic(fmt.Sprintf("spec: %d sizes for the %d cores of %s", len(sizes), len(t.Cores), t))
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
		notices = append(notices, fmt.Sprintf("term %s: the rank %d between %s and %s is reduced to %d, the maximum that %s allows",
			t, rank, t.coresString(k, k+1), t.coresString(k+1, k+2), limit, side))
	}
	return capped, notices
}

// boundedProduct returns the product of the sizes, but at most MaxRank+1, so that it
// cannot overflow. A larger product limits no rank.
func boundedProduct(sizes []int) int {
	product := 1
	for _, n := range sizes {
		if n < 1 {
			panic(fmt.Sprintf("spec: core of size %d", n))
		}
		product = min(product*min(n, MaxRank+1), MaxRank+1)
	}
	return product
}

// Positions returns the position of each mode of a core in the list of all modes, -1
// for a mode that is not in it.
func Positions(core, modes []string) []int {
	at := make([]int, len(core))
	for i, m := range core {
		at[i] = slices.Index(modes, m)
	}
	return at
}
