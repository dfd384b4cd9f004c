// Package timepart finds which parts of a time the numbers in texts are: the year and the month of
// 2016-12, the quarter of Q1/2016, the hour of 9:30 PM.
package timepart

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// Unit is what a number in a text counts. The units are ordered from coarse
// to fine.
type Unit int

// The units of numbers.
const (
	None Unit = iota // 1, 2, 3, ... of anything
	Date             // a date or a moment
	Year
	Quarter
	Month
	Week
	Day
	Weekday
	Hour
	Minute
	Second
)

// units lists, for each unit, the names that its column may have in some languages, the largest
// value (a larger one means a running number), and the units that restart its count.
var units = map[Unit]struct {
	words  []string
	most   float64
	within []Unit
}{
	Year:    {words: []string{"year", "yr", "yyyy", "jahr", "jaar", "année", "annee", "año", "ano", "anno", "год", "年", "fy"}, most: 9999},
	Quarter: {words: []string{"quarter", "qtr", "quartal", "kwartaal", "trimestre", "квартал"}, most: 4, within: []Unit{Year}},
	Month:   {words: []string{"month", "mon", "mth", "mo", "yearmonth", "yyyymm", "monat", "maand", "mois", "mes", "mês", "mese", "месяц", "月"}, most: 12, within: []Unit{Year}},
	Week:    {words: []string{"week", "wk", "yearweek", "yyyyww", "woche", "kw", "semaine", "semana", "settimana", "неделя"}, most: 53, within: []Unit{Year}},
	Day:     {words: []string{"day", "jour", "día", "dia", "giorno", "dag", "день", "日"}, most: 31, within: []Unit{Month}},
	Weekday: {words: []string{"weekday", "dow", "wochentag"}, most: 7, within: []Unit{Week}},
	Hour:    {words: []string{"hour", "hr", "stunde", "heure", "hora", "uur", "час"}, most: 24, within: []Unit{Date, Day, Weekday}},
	Minute:  {words: []string{"minute"}, most: 60, within: []Unit{Hour}},
	Second:  {words: []string{"second"}, most: 60, within: []Unit{Minute}},
}

// UnitOf returns the part of a date that a name says. A year may have a prefix, as in iyear or
// fyear.
func UnitOf(column string) Unit {
	if slices.ContainsFunc(columnname.Words(column), func(word string) bool { return strings.HasSuffix(word, "year") }) {
		return Year
	}
	for unit := Year; unit <= Minute; unit++ {
		if columnname.HasWord(column, units[unit].words) {
			return unit
		}
	}
	return None
}

// String returns the English name of the unit, such as month, and "" for None.
func (u Unit) String() string {
	switch u {
	case None:
		return ""
	case Date:
		return "date"
	}
	return units[u].words[0]
}

// Words returns the words that name the unit in some languages.
func (u Unit) Words() []string { return units[u].words }

// Most returns the largest number of the unit. A larger one does not restart with another unit.
func (u Unit) Most() float64 { return units[u].most }
