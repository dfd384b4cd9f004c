package dataset

import (
	"slices"
	"strings"
)

// Words in the names of columns. A name says more about a column than its values do:
// prices and ids may both be integers that repeat.
var (
	targetWords = []string{"target", "y", "value", "label", "response", "sales", "sold", "qty", "quantity", "units", "bottles",
		"rating", "stars", "score", "amount", "demand", "count", "cnt", "counts", "freq", "frequency", "volume", "revenue", "clicks", "visits", "visitors", "trips",
		"total", "measurement", "consumption", "load", "reading", "orders", "turnover", "umsatz", "menge", "wert", "ventes",
		"goals", "points", "births", "deaths", "cases", "delay", "liked", "clicked", "bought", "purchased", "converted", "churned", "outcome"}
	// Words in the names of flags that say what happened.
	eventFlags = []string{"churn", "attrition", "exited", "survived", "died", "dead", "default", "defaulted", "fraud", "fraudulent", "spam", "success", "successful", "won", "admitted", "approved",
		"accepted", "passed", "failed", "failure", "cancelled", "canceled", "returned", "readmitted", "subscribed", "hired", "voted"}
	roleWords = []string{"target", "y", "label", "response", "outcome"} // of targetWords, those that do not say what the target is
	idWords   = []string{"id", "key", "code", "no", "nr", "nbr", "number", "zip", "zipcode", "postcode", "postal", "plz", "sku", "upc", "store", "shop", "outlet", "item", "product", "article",
		"family", "category", "dept", "department", "brand", "vendor", "supplier", "user", "customer", "client", "movie", "book", "artist", "song",
		"year", "quarter", "month", "week", "weekday", "day", "hour", "hr", "minute", "dow", "region", "city", "state", "country", "county", "zone", "district",
		"sensor", "station", "site", "device", "meter", "machine", "channel", "route", "flight", "line", "stop", "location", "period", "gene", "patient", "subject", "group", "team", "player"}
	covariateWords = []string{"price", "cost", "discount", "pct", "percent", "percentage", "share", "rate", "ratio", "temp", "atemp", "temperature", "hum", "humidity",
		"wind", "windspeed", "pressure", "rain", "precipitation", "snow", "lat", "lon", "lng", "long", "latitude", "longitude", "altitude", "elevation",
		"size", "area", "age", "distance", "width", "height", "length", "duration", "cpi", "unemployment", "index", "population", "income", "promo", "promotion", "onpromotion",
		"holiday", "flag", "is", "has", "avg", "mean", "median", "min", "max", "std", "lag", "markdown", "stock", "inventory", "transactions", "oil", "dcoilwtico"}
	quantityWords = []string{"education", "educ", "schooling", "experience", "exper", "tenure", "seniority", "years", "grade", "level", "rank", "dose", "kids", "children", "siblings",
		"persons", "passengers", "rooms", "bedrooms", "bathrooms", "floors", "cylinders", "score", "points"}
	priceWords  = []string{"price", "cost", "costs", "fare", "fee", "rent", "salary", "wage"}
	eventWords  = []string{"invoice", "order", "transaction", "receipt", "ticket", "bill", "basket", "session", "event", "trip", "ride"}
	timeWords   = []string{"time", "timestamp", "ts", "ds", "date", "datetime", "created", "at", "unix", "epoch", "when"}
	periodWords = []string{"d", "t", "ds", "day", "week", "month", "period", "time", "date", "hour", "step", "quarter", "year", "tick", "wk", "block", "round", "matchday", "gameweek", "spieltag", "lap"}
	partWords   = []string{"part", "split", "fold"}
	partTexts   = []string{"train", "training", "valid", "validation", "val", "dev", "test", "testing", "eval", "holdout", "unused", "none"}
	weightWords = []string{"weight", "weights", "exposure"}
	// Columns beside which a weight is that of animals or plants, or of things, and words before it that say so.
	livingWords = []string{"species", "genus", "breed", "diet", "feed", "litter", "variety", "cultivar", "wing", "tail", "bill", "hindfoot", "chick", "rat", "mouse", "pig", "cow", "calf", "lamb", "fish", "animal", "plant", "gestation"}
	thingWords  = []string{"height", "length", "width", "girth", "bmi", "waist", "density", "mpg", "horsepower", "cylinders", "displacement", "gained", "premature", "premie"}
	massWords   = []string{"body", "birth", "live", "carcass", "net", "gross", "kg", "g", "grams", "lb", "lbs", "vehicle", "curb", "item", "product", "package", "parcel", "fruit", "egg", "seed", "grain", "plant", "root", "shoot", "dry", "wet", "fresh"}
	meanWords   = []string{"rating", "stars", "score", "price", "rate", "ratio", "pct", "percent", "share", "temp", "temperature", "hum", "humidity", "value", "measurement", "reading",
		"speed", "delay", "pressure", "level", "avg", "mean", "concentration", "index"}
)

// namedTarget reports whether a word of a name is that of a target: y alone, but not that of pos_y,
// and total alone, but not that of total_area.
func namedTarget(name string) bool {
	several := len(NameWords(name)) > 1
	words := NameWords(withoutTotal(name))
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(targetWords, word) && !(several && word == "y") })
}

// withoutTotal returns the name without the word total before others.
func withoutTotal(name string) string {
	if words := NameWords(name); len(words) > 1 && words[0] == "total" {
		return strings.Join(words[1:], " ")
	}
	return name
}

// nameHasWord reports whether a word of a name (item_id, itemId, item id) is among
// words.
func nameHasWord(name string, words []string) bool {
	for _, word := range NameWords(name) {
		if slices.Contains(words, word) {
			return true
		}
	}
	return false
}

// nameWithout returns the words of a name that are not among others, joined by spaces.
func nameWithout(name string, words []string) string {
	return strings.Join(slices.DeleteFunc(NameWords(name), func(word string) bool { return slices.Contains(words, word) }), " ")
}

// namedAdditive reports whether a name has a word of a target that says what it is, such as sales, which add up.
func namedAdditive(name string) bool {
	return slices.ContainsFunc(NameWords(name), func(word string) bool {
		return slices.Contains(targetWords, word) && !slices.Contains(roleWords, word)
	})
}

// NameWords splits a name into words: list_date, listDate and "list date" give the same
// words.
func NameWords(name string) []string {
	var spaced strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(r)
	}
	return strings.FieldsFunc(strings.ToLower(spaced.String()), func(r rune) bool {
		return strings.ContainsRune(" _-.", r)
	})
}

// namedID reports whether a name is that of an id: store_nbr, but not store_size or
// num_items.
func namedID(name string) bool { return nameHasWord(name, idWords) && !namedCovariate(name) }

// namedCovariate reports whether a name is that of a quantity which describes a cell:
// its last word (item_price) or any word, unless it also has the word of an id as its
// last (price_code).
func namedCovariate(name string) bool {
	words := NameWords(name)
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
	return !slices.Contains(idWords, last) && nameHasWord(name, covariateWords)
}
