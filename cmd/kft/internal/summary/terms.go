package summary

import (
	"fmt"
	"math"
	"strings"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
)

// writeTerms writes the share of each term and what was pruned.
func writeTerms(b *strings.Builder, terms []model.TermContribution) {
	if len(terms) < 2 && (len(terms) == 0 || len(terms[0].Offered) == 0) {
		return // a model of one term has nothing to share out
	}
	var texts []string
	for _, t := range terms {
		share := math.Round(1000*t.Share)/10 + 0 // + 0 for -0
		switch {
		case t.Removed:
			texts = append(texts, t.Term+" removed")
		case len(t.Offered) > 0:
			texts = append(texts, fmt.Sprintf("%s %.1f %% (rank %s -> %s)", t.Term, share, ranksText(t.Offered), ranksText(t.Ranks)))
		default:
			texts = append(texts, fmt.Sprintf("%s %.1f %%", t.Term, share))
		}
	}
	fmt.Fprintf(b, "Terms, by share of the variance explained: %s\n", spec.ReadableTerms(strings.Join(texts, ", ")))
}

// ranksText returns ranks in the notation of a term.
func ranksText(ranks []int) string {
	same := true
	texts := make([]string, len(ranks))
	for i, r := range ranks {
		texts[i] = fmt.Sprint(r)
		same = same && r == ranks[0]
	}
	if same {
		return texts[0]
	}
	return strings.Join(texts, ",")
}
