package timepart

import (
	"fmt"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
)

// DateNote says how the dates of a column were read where that is not certain: numbers, and dates
// that do not tell day and month apart. It is "" for others.
func DateNote(column string, order calendar.Order, texts []string) string {
	switch order {
	case calendar.Serial:
		return serialNote(column, texts[0])
	case calendar.Decimal:
		return decimalNote(column, texts)
	}
	return orderNote(column, order, texts)
}

// decimalNote says how decimal years were read.
func decimalNote(column string, texts []string) string {
	read, example := time.Time{}, ""
	for _, text := range texts {
		if t, ok := calendar.Decimal.Parse([]byte(text)); ok && (example == "" || read.Month() == time.January) {
			read, example = t, text
		}
	}
	return fmt.Sprintf("the numbers of column %s are read as months of decimal years: %s is %s", column, example, read.Format("January 2006"))
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

// orderNote says how ambiguous dates of a column were read and how to read them
// otherwise, or "".
func orderNote(column string, order calendar.Order, texts []string) string {
	example, other, ambiguous := order.Ambiguous(texts)
	if !ambiguous {
		return ""
	}
	this, _ := order.Parse([]byte(example))
	that, _ := other.Parse([]byte(example))
	return fmt.Sprintf("the order of day and month in column %s is ambiguous: %s is read as %s; %s(%s) in place of the column reads %s", column, example,
		this.Format(time.DateOnly), other, fieldtext.QuoteColumn(column), that.Format(time.DateOnly))
}
