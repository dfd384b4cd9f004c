package timepart

import (
	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// NumberDates returns how the numbers of a column are dates: days as spreadsheets count them, or
// decimal years. ok is false if they are none.
func NumberDates(column string, texts []string) (order calendar.Order, ok bool) {
	switch {
	case serialDates(column, texts):
		return calendar.Serial, true
	case decimalYears(column, texts):
		return calendar.Decimal, true
	}
	return "", false
}

// serialWords are names of columns whose numbers may be serial numbers of dates.
var serialWords = []string{"date", "dates", "datum", "fecha", "day", "tag", "time", "timestamp", "datetime", "week", "woche", "month", "monat", "period"}

// serialDates reports whether the values of a column are serial numbers of dates, by their name and
// their distances.
func serialDates(column string, texts []string) bool {
	return columnname.HasWord(column, serialWords) && calendar.AreSerials(texts)
}

// decimalYears reports whether the values of a column are years with a fraction that counts months, by its name
// and their distances.
func decimalYears(column string, texts []string) bool {
	return (columnname.HasWord(column, serialWords) || columnname.HasTimeWord(column) || columnname.HasPeriodWord(column) || UnitOf(column) != None) && calendar.AreDecimalYears(texts)
}
