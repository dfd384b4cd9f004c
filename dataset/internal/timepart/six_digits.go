package timepart

import "github.com/kernel-fried-tensor/kft/dataset/internal/periodtext"

// The number of texts from which numbers such as 201612 are months, or weeks, whatever the
// name of their column: that all of them end in 01 to 12, or in 01 to 53, is not by chance.
const (
	fewMonths = 6
	fewWeeks  = 26
)

// AreWeeks reports whether the texts of a column are years with a week, as 202352.
func AreWeeks(column string, texts []string) bool {
	parts, ok := sixDigits(column, texts)
	return ok && parts[1].Unit == Week
}

// sixDigits reads the texts of a column, numbers such as 201612, as months or, if some end in 13
// to 53 or the column is named so, as weeks.
func sixDigits(column string, texts []string) ([]partValues, bool) {
	named := UnitOf(column)
	if parts, ok := cutYears(texts, Month); ok && named != Week {
		return parts, named == Month || len(texts) >= fewMonths
	}
	parts, ok := cutYears(texts, Week)
	return parts, ok && (named == Week || len(texts) >= fewWeeks)
}

// cutYears cuts numbers of six digits into the year and a month or a week.
func cutYears(texts []string, unit Unit) ([]partValues, bool) {
	parts := []partValues{{Part: Part{Unit: Year, Named: true}}, {Part: Part{Unit: unit, At: 1, Named: true}}}
	for _, text := range texts {
		tokens, ok := periodtext.CutYear(text, unit.Most())
		if !ok {
			return nil, false
		}
		for i := range parts {
			parts[i].values = append(parts[i].values, tokens[i].Number)
		}
	}
	return parts, true
}
