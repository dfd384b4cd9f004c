package guess

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// Words in the names of columns. A name says more about a column than its values do:
// prices and ids may both be integers that repeat.
var (
	targetWords = []string{"target", "y", "value", "label", "response", "sales", "sold", "qty", "quantity", "units", "bottles",
		"rating", "stars", "score", "amount", "demand", "count", "cnt", "counts", "freq", "frequency", "volume", "revenue", "clicks", "visits", "visitors", "trips",
		"total", "measurement", "consumption", "load", "reading", "orders", "turnover", "umsatz", "absatz", "verkauf", "verkäufe", "menge", "wert", "ventes", "ventas", "vendas", "vendite",
		"yield", "defects", "accidents", "incidents", "crimes", "goals", "points", "births", "deaths", "cases", "delay", "liked", "clicked", "bought", "purchased", "converted", "churned", "outcome"}
	// Words in the names of flags that say what happened.
	eventFlags = []string{"churn", "attrition", "exited", "survived", "died", "dead", "default", "defaulted", "fraud", "fraudulent", "spam", "success", "successful", "won", "admitted", "approved",
		"accepted", "passed", "failed", "failure", "cancelled", "canceled", "returned", "readmitted", "subscribed", "hired", "voted", "noshow", "show", "attended"}
	roleWords = []string{"target", "y", "label", "response", "outcome"} // of targetWords, those that do not say what the target is
	// Names of columns that only their numbers tell apart.
	featureWords  = []string{"feature", "feat", "var", "col", "column", "attr", "attribute", "pc", "pca", "dim", "emb"}
	priceWords    = []string{"price", "preis", "prix", "precio", "prezzo", "preço", "prijs", "cost", "costs", "fare", "fee", "rent", "salary", "wage"}
	tariffWords   = []string{"rate", "tariff", "premium"} // prices, if they are the whole name of the last column
	currencyWords = []string{"usd", "us", "dollar", "dollars", "eur", "euro", "euros", "gbp", "pound", "pounds", "chf", "jpy", "yen", "cny", "rmb", "inr", "rs", "cad", "aud", "brl", "krw", "sek", "nok", "dkk", "pln", "zar", "mxn", "cents", "k"}
	eventWords    = []string{"invoice", "order", "transaction", "receipt", "ticket", "bill", "basket", "session", "event", "trip", "ride"}
	gradeWords    = []string{"grade", "level", "class", "stage", "tier", "band", "floor"} // integers that may be ids or results
	partWords     = []string{"part", "split", "fold"}
	partTexts     = []string{"train", "training", "valid", "validation", "val", "dev", "test", "testing", "eval", "holdout", "unused", "none"}
	weightWords   = []string{"weight", "weights", "exposure"}
	// Columns beside which a weight is that of animals or plants, or of things, and words before it that say so.
	livingWords = []string{"species", "genus", "breed", "diet", "feed", "litter", "variety", "cultivar", "wing", "tail", "bill", "hindfoot", "chick", "rat", "mouse", "pig", "cow", "calf", "lamb", "fish", "animal", "plant", "gestation"}
	thingWords  = []string{"height", "length", "width", "girth", "bmi", "waist", "density", "mpg", "horsepower", "cylinders", "displacement", "gained", "premature", "premie", "freight", "shipment", "shipping", "parcel", "cargo", "carrier", "courier", "destination"}
	massWords   = []string{"body", "birth", "live", "carcass", "net", "gross", "kg", "g", "grams", "lb", "lbs", "vehicle", "curb", "item", "product", "package", "parcel", "fruit", "egg", "seed", "grain", "plant", "root", "shoot", "dry", "wet", "fresh"}
	meanWords   = []string{"rating", "stars", "score", "price", "rate", "ratio", "pct", "percent", "share", "temp", "temperature", "hum", "humidity", "value", "measurement", "reading",
		"speed", "delay", "pressure", "level", "avg", "mean", "concentration", "index"}
)

// namedTarget reports whether a word of a name is that of a target: y alone, but not that of pos_y,
// and total alone, but not that of total_area.
func namedTarget(name string) bool {
	several := len(columnname.Words(name)) > 1
	words := columnname.Words(withoutTotal(name))
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(targetWords, word) && !(several && word == "y") })
}

// numberedName reports whether a name only tells a column from others of its kind, as x, x2, V13 and feature_4 do, which seldom
// is that of a target: y is.
func numberedName(name string) bool {
	word := strings.TrimRight(strings.ToLower(name), "0123456789")
	word = strings.TrimRight(word, "_.- ")
	return len(word) == 1 && word != "y" || slices.Contains(featureWords, word)
}

// withoutTotal returns the name without the word total before others.
func withoutTotal(name string) string {
	if words := columnname.Words(name); len(words) > 1 && words[0] == "total" {
		return strings.Join(words[1:], " ")
	}
	return name
}

// namedAdditive reports whether a name has a word of a target that says what it is, such as sales, which add up.
func namedAdditive(name string) bool {
	return slices.ContainsFunc(columnname.Words(name), func(word string) bool {
		return slices.Contains(targetWords, word) && !slices.Contains(roleWords, word)
	})
}
