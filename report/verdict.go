package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/metrics"
)

// A verdict answers what a reader asks first.
type verdict struct {
	Headline string
	Answers  []answer
}

// An answer to one question. The state is yes, no or unknown.
type answer struct{ State, Question, Text string }

func (b *builder) verdict() verdict {
	part, score := b.record.Judged()
	answers := []answer{b.againstFormulas(), b.intervalsHold(part, score)}
	if b.measured != nil {
		answers = append(answers, b.whereNot())
	}
	if n := len(b.record.Warnings); n > 0 {
		answers = append(answers, answer{"no", "Did the fit go without warnings?", fmt.Sprintf("It gave %d; see Training.", n)})
	}
	words := map[string][2]string{"yes": {"Better than the best formula", "its intervals hold"}, "no": {"Not better than the best formula", "its intervals do not hold"}, "unknown": {"Not compared with formulas", "its intervals were not measured"}}
	join := ", and "
	if answers[0].State != answers[1].State {
		join = ", but "
	}
	return verdict{Headline: words[answers[0].State][0] + join + words[answers[1].State][1] + ".", Answers: answers}
}

func (b *builder) againstFormulas() answer {
	const question = "Is it better than simple formulas?"
	part, score := b.record.AgainstFormulas()
	best, ok := b.record.BestFormula()
	theirs := best.Of(part)
	if !ok || theirs.N == 0 || math.IsNaN(score.R2) {
		return answer{"unknown", question, "No formula was measured."}
	}
	state := "yes"
	if b.record.BehindFormula() != "" {
		state = "no"
	}
	rows := fmt.Sprintf("the %s of %s rows", partName(part), count(score.N))
	if _, all := b.record.Judged(); b.record.Compared != nil {
		rows = fmt.Sprintf("%s of the %s rows of the %s", count(score.N), count(all.N), partName(part))
	}
	text := fmt.Sprintf("On %s the model has R2 %.3f and MAE %s; the best formula, %s, has R2 %.3f and MAE %s.",
		rows, score.R2, number(score.MAE), best.Name, theirs.R2, number(theirs.MAE))
	if part == dataset.Train {
		text += " There is no set of rows that the model has not seen."
	}
	return answer{state, question, text}
}

func (b *builder) intervalsHold(part dataset.Part, score metrics.Score) answer {
	const question = "Do its intervals hold?"
	c := score.Calibration
	if c == nil {
		return answer{"unknown", question, "The coverage of its intervals was not measured."}
	}
	covered, held := float64(c.Coverage90), percent(float64(c.Coverage90))
	if b.discrete() {
		covered = evaluate.CentralShare(c.PIT, 0.9)
		held += fmt.Sprintf(" (%s if values on the edge of an interval count in part, as the target has few values)", percent(covered))
	}
	state := "yes"
	if len(evaluate.CoverageWarnings(b.m, score, "")) > 0 || math.Abs(covered-0.9) > max(0.03, 4*math.Sqrt(0.09/float64(max(score.N, 1)))) {
		state = "no"
	}
	return answer{state, question, fmt.Sprintf("Its 90 %% intervals hold %s of the values of the %s; their mean width is %s. The total calibration error Xi is %s (0 is ideal).",
		held, partName(part), number(float64(c.Width90)), number(float64(c.Xi)))}
}

// discrete reports whether the model predicts counts, yes or no, or one of few levels.
func (b *builder) discrete() bool { return b.m.Scale().Transform.Linked() }

// whereNot names the groups with the worst coverage.
func (b *builder) whereNot() answer {
	const question = "Do they hold everywhere?"
	worst := b.worstGroups(3)
	seen := ""
	if b.m.Saw(b.measured.part) {
		seen = " " + seenRows
	}
	if len(worst) == 0 {
		large := slices.ContainsFunc(b.allGroups(), func(g group) bool { return g.N >= metrics.MinEntityRows && g.N < len(b.measured.y) })
		switch {
		case !large:
			return answer{"unknown", question, fmt.Sprintf("No group of the %s has %d rows, which it takes to tell.", partName(b.measured.part), metrics.MinEntityRows)}
		case seen != "":
			return answer{"unknown", question, fmt.Sprintf("No group of %d rows or more has a coverage of 90 %% intervals that differs by more than 5 points beyond chance.", metrics.MinEntityRows) + seen}
		}
		return answer{"yes", question, fmt.Sprintf("No group of %d rows or more has a coverage of 90 %% intervals that differs by more than 5 points beyond chance.", metrics.MinEntityRows)}
	}
	var names []string
	for _, g := range worst {
		names = append(names, fmt.Sprintf("%s (%s of %s rows)", g.Name, percent(g.coverage()), count(g.N)))
	}
	return answer{"no", question, "Farthest from 90 % in " + strings.Join(names, ", ") + "; see Calibration." + seen}
}

// seenRows says how groups of a model that was trained again are measured.
const seenRows = "Groups are measured with the final model, which was trained on these rows too, so they look better than new rows will."

// measuredBefore says the same of a model that has the predictions from before it was trained on the test set.
const measuredBefore = "Groups and residuals are those of the test set before it was used for training."

// worstGroups returns groups whose coverage differs from 90 % by more than 5 points and
// more than chance explains, those with the largest difference first.
func (b *builder) worstGroups(most int) []group {
	var out []group
	for _, g := range b.allGroups() {
		// The bound allows for the many groups that are compared.
		if g.N >= metrics.MinEntityRows && math.Abs(g.gap()) > 5 && math.Abs(g.coverage()-0.9) > 0.05 {
			out = append(out, g)
		}
	}
	slices.SortStableFunc(out, func(a, c group) int {
		return int(math.Copysign(1, math.Abs(c.coverage()-0.9)-math.Abs(a.coverage()-0.9)))
	})
	// An id and a level of a column may be the same rows.
	out = slices.CompactFunc(out, func(a, c group) bool { return a.N == c.N && a.in == c.in && a.y == c.y && a.width == c.width })
	return out[:min(most, len(out))]
}

// allGroups returns the groups of rows by ids, by levels of side columns, by size of the
// prediction and by how much is known.
func (b *builder) allGroups() []group {
	s := b.measured
	out := append(s.byKnown(), s.byDecile(b.record.DecileEdges)...)
	for mode, info := range b.m.Modes() {
		ids := b.m.Dicts()[mode]
		out = append(out, s.by(ids.Len(), func(i int) int { return int(s.codes[mode][i]) }, func(k int) string { return info.Name + " " + short(ids.ID(int32(k))) })...)
		side := b.m.SideOf(mode)
		if side == nil {
			continue
		}
		for _, c := range side.Table.All() {
			if len(c.Levels) > 500 {
				continue
			}
			out = append(out, s.by(len(c.Levels), func(i int) int { return level(c.Of, s.codes[mode][i]) }, func(k int) string { return info.Name + "." + c.Name + " " + short(c.Levels[k]) })...)
		}
	}
	return out
}

func level(of []int32, code int32) int {
	if code < 0 || int(code) >= len(of) {
		return -1
	}
	return int(of[code])
}

// short cuts an id that would not fit into the page.
func short(id string) string {
	if r := []rune(id); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return id
}

// byKnown divides the rows by how much is known of their ids.
func (s *measures) byKnown() []group {
	names := []string{"cold: an id without training rows", "few: the rarest id has 1 to 9 training rows", "warm: every id has 10 training rows or more, new combination", "warm: every id has 10 training rows or more"}
	return s.by(len(names), func(i int) int {
		switch {
		case s.rare[i] == 0:
			return 0
		case s.rare[i] < 10:
			return 1
		case s.fresh[i]:
			return 2
		}
		return 3
	}, func(k int) string { return names[k] })
}

// byDecile divides the rows by the size of their prediction.
func (s *measures) byDecile(edges []float64) []group {
	return s.by(len(edges)+1, func(i int) int {
		k, _ := slices.BinarySearch(edges, float64(s.mean[i]))
		return k
	}, func(k int) string {
		switch {
		case len(edges) == 0:
			return "all predictions"
		case k == 0:
			return "predictions below " + number(edges[0])
		case k == len(edges):
			return "predictions above " + number(edges[k-1])
		}
		return fmt.Sprintf("predictions %s to %s", number(edges[k-1]), number(edges[k]))
	})
}
