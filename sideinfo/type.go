package sideinfo

import (
	"math"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// Type determines how a column of a side table is encoded:
//
//	num      a number, z-scored
//	log      the logarithm of a number, z-scored; log(1+x) if there are zeros
//	date     a date or a time, in days, z-scored
//	year     the year in parentheses at the end of a text, as in a title (1995), z-scored
//	cycleN   a number of period N: its cosine and sine (cycle12 for months)
//	cat      a category: one column per level, 0 or 1; rare levels share one
//	labels   several categories in one field, separated by |
//	words    the words of a text, as labels
//	group    a category that terms use as a mode (item.vendor); it is not encoded
type Type string

// The types. In addition there are the cycles, written cycleN.
const (
	Num    Type = "num"
	Log    Type = "log"
	Date   Type = "date"
	Year   Type = "year"
	Cat    Type = "cat"
	Labels Type = "labels"
	Words  Type = "words"
	Group  Type = "group"

	cycle = "cycle"
)

func typeNames() []string {
	return []string{string(Num), string(Log), string(Date), string(Year), string(Cat), string(Labels), string(Words), string(Group), "cycle12"}
}

// ParseType parses the name of a type.
func ParseType(text string) (Type, error) {
	switch t := Type(text); t {
	case Num, Log, Date, Year, Cat, Labels, Words, Group:
		return t, nil
	}
	if digits, ok := strings.CutPrefix(text, cycle); ok {
		period, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(period > 0) || math.IsInf(period, 0) || strings.ContainsAny(digits, "xX_+ ") {
			return "", fielderr.Errorf("side.tables", "type %q needs a period above 0, as in cycle12", text)
		}
		return Type(text), nil
	}
	return "", fielderr.Errorf("side.tables", "unknown type %q%s; use num, log, date, year, cat, labels, words, group or cycleN", text, suggest.Hint(text, typeNames()))
}

// period returns N of cycleN, and 0 for other types.
func (t Type) period() float64 {
	digits, ok := strings.CutPrefix(string(t), cycle)
	if !ok {
		return 0
	}
	period, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0
	}
	return period
}

// levelled reports whether the values are names of levels.
func (t Type) levelled() bool { return t == Cat || t == Group || t.several() }

// several reports whether a value has several levels.
func (t Type) several() bool { return t == Labels || t == Words }
