// Package columnname says what the name of a column tells about its content, by the words of the
// name.
package columnname

import (
	"slices"
	"strings"
	"unicode"
)

// Words in the names of columns of several kinds.
var (
	idWords = []string{"id", "key", "code", "no", "nr", "nbr", "number", "zip", "zipcode", "postcode", "postal", "plz", "sku", "upc", "store", "shop", "outlet", "item", "product", "article",
		"family", "category", "dept", "department", "brand", "vendor", "supplier", "user", "customer", "client", "movie", "book", "artist", "song",
		"year", "quarter", "month", "week", "weekday", "day", "hour", "hr", "minute", "dow", "region", "city", "state", "country", "county", "zone", "district",
		"sensor", "station", "site", "device", "meter", "machine", "channel", "route", "flight", "line", "stop", "location", "period", "gene", "patient", "subject", "group", "team", "player"}
	covariateWords = []string{"price", "preis", "prix", "precio", "prezzo", "preço", "prijs", "cost", "discount", "pct", "percent", "percentage", "share", "rate", "ratio", "temp", "atemp", "temperature", "hum", "humidity",
		"wind", "windspeed", "pressure", "rain", "precipitation", "snow", "lat", "lon", "lng", "long", "latitude", "longitude", "altitude", "elevation",
		"size", "area", "age", "distance", "width", "height", "length", "duration", "cpi", "unemployment", "index", "population", "income", "promo", "promotion", "onpromotion",
		"holiday", "flag", "is", "has", "avg", "mean", "median", "min", "max", "std", "lag", "markdown", "stock", "inventory", "transactions", "oil", "dcoilwtico"}
	timeWords   = []string{"time", "timestamp", "ts", "ds", "date", "datetime", "created", "at", "unix", "epoch", "when"}
	periodWords = []string{"d", "t", "ds", "day", "week", "month", "period", "time", "date", "hour", "step", "quarter", "year", "tick", "wk", "block", "round", "matchday", "gameweek", "spieltag", "lap"}
)

// Words splits a name into words: list_date, listDate and "list date" give the same
// words, and so do price_eur and "Price (EUR)". Signs such as those of currencies are no words.
func Words(name string) []string {
	var spaced strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(r)
	}
	return strings.FieldsFunc(strings.ToLower(spaced.String()), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r)
	})
}

// HasWord reports whether a word of a name (item_id, itemId, item id) is among words.
func HasWord(name string, words []string) bool {
	for _, word := range Words(name) {
		if slices.Contains(words, word) {
			return true
		}
	}
	return false
}

// Without returns the words of a name that are not among others, joined by spaces.
func Without(name string, words []string) string {
	return strings.Join(slices.DeleteFunc(Words(name), func(word string) bool { return slices.Contains(words, word) }), " ")
}

// HasIDWord reports whether a name has the word of an id, such as store.
func HasIDWord(name string) bool { return HasWord(name, idWords) }

// HasTimeWord reports whether a name has the word of a date or a moment.
func HasTimeWord(name string) bool { return HasWord(name, timeWords) }

// HasPeriodWord reports whether a name has the word of a period or of a count of periods, such as
// step or round.
func HasPeriodWord(name string) bool { return HasWord(name, periodWords) }

// IsID reports whether a name is that of an id: store_nbr, but not store_size or
// num_items.
func IsID(name string) bool { return HasIDWord(name) && !IsCovariate(name) }

// IsCovariate reports whether a name is that of a quantity which describes a cell:
// its last word (item_price) or any word, unless it also has the word of an id as its
// last (price_code).
func IsCovariate(name string) bool {
	words := Words(name)
	if len(words) == 0 {
		return false
	}
	if first := words[0]; len(words) > 1 && slices.Contains([]string{"num", "number", "n", "is", "has", "avg", "mean", "total"}, first) {
		return true
	}
	last := words[len(words)-1]
	if slices.Contains(covariateWords, last) {
		return true
	}
	return !slices.Contains(idWords, last) && HasWord(name, covariateWords)
}
