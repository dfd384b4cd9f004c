package dataset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// DateOrders returns the orders of day, month and year in dates, which are also functions
// in a mode: dmy(day) is the date of 31/01/22, and month(dmy(day)) its month.
func DateOrders() []string {
	return []string{string(calendar.DayFirst), string(calendar.MonthFirst), string(calendar.YearFirst)}
}

// readsDates reports whether a name is that of a reading of dates: one of [DateOrders], serial, of
// the numbers of days that spreadsheets count, or decimal, of years with a fraction.
func readsDates(name string) bool {
	return slices.Contains(DateOrders(), name) || slices.Contains([]calendar.Order{calendar.Serial, calendar.Decimal}, calendar.Order(name))
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
	return (columnname.HasWord(column, serialWords) || columnname.HasTimeWord(column) || columnname.HasPeriodWord(column) || roleOfName(column) != anyNumber) && calendar.AreDecimalYears(texts)
}

// numberDates returns how the numbers of a column are dates: days as spreadsheets count them, or
// decimal years. ok is false if they are none.
func numberDates(column string, texts []string) (order calendar.Order, ok bool) {
	switch {
	case serialDates(column, texts):
		return calendar.Serial, true
	case decimalYears(column, texts):
		return calendar.Decimal, true
	}
	return "", false
}

// numberNote says how numbers that are dates were read.
func numberNote(column string, order calendar.Order, texts []string) string {
	if order == calendar.Decimal {
		read, example := time.Time{}, ""
		for _, text := range texts {
			if t, ok := order.Parse([]byte(text)); ok && (example == "" || read.Month() == time.January) {
				read, example = t, text
			}
		}
		return fmt.Sprintf("the numbers of column %s are read as months of decimal years: %s is %s", column, example, read.Format("January 2006"))
	}
	return serialNote(column, texts[0])
}

// serialNote says how serial numbers of dates were read.
func serialNote(column, example string) string {
	t, _ := calendar.Serial.Parse([]byte(example))
	layout := time.DateOnly
	if t.Hour() != 0 || t.Minute() != 0 || t.Second() != 0 {
		layout = time.DateTime
	}
	return fmt.Sprintf("the numbers of column %s are read as dates of a spreadsheet: %s is %s", column, example, t.Format(layout))
}

// setFunction sets the function of a mode and, if there is one, the order of dates within
// its argument, of which it leaves the column.
func (m *Mode) setFunction(name string, argument *string) error {
	if readsDates(name) {
		m.Func, m.Dates = "date", name
		return nil
	}
	m.Func = name
	if err := checkFunction(name); err != nil {
		return err
	}
	inner := strings.TrimSpace(*argument)
	open := fieldtext.IndexUnquoted(inner, '(')
	if open < 0 || m.Covariate() || m.Target() || !strings.HasSuffix(inner, ")") || !readsDates(strings.TrimSpace(inner[:open])) {
		return nil
	}
	m.Dates, *argument = strings.TrimSpace(inner[:open]), inner[open+1:len(inner)-1]
	return nil
}

// Moment reads a value of the column that the mode's function takes.
func (m Mode) Moment(text string) (time.Time, bool) {
	return calendar.Order(m.Dates).Parse([]byte(text))
}

// MomentRemedy says what to do about a text that [Mode.Moment] does not read.
func (m Mode) MomentRemedy(text string) string {
	for _, order := range DateOrders() {
		if _, ok := calendar.Order(order).Parse([]byte(text)); ok {
			m.Dates = order
			return fmt.Sprintf("if its parts are in the order %s, write %s", order, m.Expression())
		}
	}
	return calendar.Remedy
}

// dateOrderNote says how ambiguous dates of a column were read and how to read them
// otherwise, or "".
func dateOrderNote(column string, order calendar.Order, texts []string) string {
	example, other, ambiguous := order.Ambiguous(texts)
	if !ambiguous {
		return ""
	}
	this, _ := order.Parse([]byte(example))
	that, _ := other.Parse([]byte(example))
	return fmt.Sprintf("no date of column %s tells day and month apart: %s is read as %s; %s(%s) in place of the column reads %s", column, example,
		this.Format(time.DateOnly), other, fieldtext.QuoteColumn(column), that.Format(time.DateOnly))
}
