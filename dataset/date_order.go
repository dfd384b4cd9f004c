package dataset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
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
	plain := Mode{Name: m.Name, Columns: m.Columns}
	if m.Name == m.defaultName() {
		plain.Name = plain.defaultName()
	}
	f, _, ok := plain.readIDs([]string{text})
	switch {
	case !ok || !slices.ContainsFunc(f.Parts, func(p TimePart) bool { return p.Named && p.Unit == "month" }): // its name
		return calendar.Remedy
	case m.Func == "date":
		return fmt.Sprintf("%s without a function reads it; or %s", plain, calendar.Remedy)
	}
	return fmt.Sprintf("%s without a function reads it, and %s.%s is a part of it for terms; or %s", plain, plain.Name, m.Func, calendar.Remedy)
}

// DateRemedy names the mode that reads all ids of a column as dates in an order of day, month and
// year, behind what else can be done; "" if there is none, or if they need no order.
func (m Mode) DateRemedy(ids []string) string {
	if m.Func != "" || len(m.Columns) != 1 {
		return ""
	}
	for _, order := range append([]string{""}, DateOrders()...) {
		read := Mode{Name: m.Name, Columns: m.Columns, Func: "date", Dates: order}
		switch unread := slices.ContainsFunc(ids, func(id string) bool { _, ok := read.Moment(id); return !ok }); {
		case !unread && order == "":
			return ""
		case !unread:
			return fmt.Sprintf("; if they are dates in the order %s, write %s", order, read)
		}
	}
	return ""
}
