package guess_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// guessTable is a made-up table of a common layout and what is to be guessed.
type guessTable struct {
	name   string
	text   func(w *strings.Builder, r *rand.Rand)
	target string
	modes  []string

	duplicates string
	covariates []string
	describing []string // covariates of cells that do not lie in the future
	numbers    dataset.NumberFormat
	delimiter  string            // of several characters
	leftOut    map[string]string // column: a part of the reason
	determined map[string]string // column: mode
	notes      []string          // parts of notes
	problem    string            // part of the error
}

func day(i int) time.Time { return time.Date(2015, 1, 5, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i) } // a Monday

func guessTables() []guessTable {
	cities := []string{"Ames", "Boone", "Clive"}
	return []guessTable{
		{name: "shops, items, weeks", target: "units", modes: []string{"shop", "item", "time=week"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,item,week,units\n")
				for i := range 6 * 7 * 10 {
					fmt.Fprintf(w, "s%d,%d,2016-W%02d,%d\n", i%6, 100+i/6%7, 1+i/42, r.IntN(50))
				}
			}},
		{name: "mondays", target: "units", modes: []string{"shop", "item", "time=week"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,item,week,units\n")
				for i := range 6 * 7 * 10 {
					fmt.Fprintf(w, "s%d,%d,%s,%d\n", i%6, 100+i/6%7, day(7*(i/42)).Format("2006-01-02"), r.IntN(50))
				}
			}},
		{name: "quarters", target: "revenue", modes: []string{"region", "time=quarter"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("region,quarter,revenue\n")
				for i := range 8 * 12 {
					fmt.Fprintf(w, "r%d,%dQ%d,%.2f\n", i%8, 2014+i/32, 1+i/8%4, 1000*r.Float64())
				}
			}},
		{name: "attempts of students", target: "passed", modes: []string{"student", "attempt"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("student,passed,attempt\n")
				for i := range 20 * 15 {
					fmt.Fprintf(w, "u%d,%s,%d\n", i/15, []string{"yes", "no"}[r.IntN(2)], 1+i%15)
				}
			}},
		{name: "cycles of machines", target: "failed", modes: []string{"machine", "cycle", "operator"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("machine,cycle,failed,operator\n")
				for i := range 20 * 15 {
					fmt.Fprintf(w, "%d,%d,%d,%c\n", 7*(i/15), 10*(1+i%15), r.IntN(2), 'a'+r.IntN(3))
				}
			}},
		{name: "a flag beside counts", target: "units", modes: []string{"store", "day"}, duplicates: "sum", notes: []string{"add up"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,day,promo,units\n")
				for i := range 6 * 60 {
					fmt.Fprintf(w, "s%d,%d,%d,%d\n", i%6, 1+i/6%30, r.IntN(2), r.IntN(9))
				}
			}},
		{name: "a flag in German", target: "Umsatz", modes: []string{"Filiale", "Tag"}, describing: []string{"Aktion"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Filiale,Tag,Aktion,Umsatz\n")
				for i := range 6 * 60 {
					fmt.Fprintf(w, "s%d,%d,%s,%d\n", i%6, 1+i/6, []string{"nein", "ja"}[r.IntN(2)], r.IntN(900))
				}
			}},
		{name: "hourly sensors", target: "value", modes: []string{"id", "time=timestamp"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("id,timestamp,value\n")
				for i := range 5 * 100 {
					fmt.Fprintf(w, "%d,%s,%.2f\n", i%5, day(0).Add(time.Duration(i/5)*time.Hour).Format("2006-01-02 15:04:05"), 20*r.Float64())
				}
			}},
		{name: "sensors that report at odd seconds", target: "value", modes: []string{"id", "time=datehour(timestamp)"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("id,timestamp,value\n")
				for i := range 5 * 100 {
					fmt.Fprintf(w, "%d,%d,%.2f\n", i%5, day(0).Add(time.Duration(i/5)*time.Hour).Unix()+int64(r.IntN(3000)), 20*r.Float64())
				}
			}},
		{name: "one series by the hour", target: "load", modes: []string{"time=timestamp"}, notes: []string{"single series"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("timestamp,load\n")
				for i := range 480 {
					fmt.Fprintf(w, "%s,%.2f\n", day(0).Add(time.Duration(i)*time.Hour).Format("2006-01-02T15:04"), 20*r.Float64())
				}
			}},
		{name: "one sensor whose clock was set back, with two readings", describing: []string{"level"}, target: "current", modes: []string{"time=at"}, duplicates: "mean", notes: []string{"single series"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("current,at,level\n")
				for i := range 900 {
					fmt.Fprintf(w, "%.2f,%s,%d\n", 20*r.Float64(), day(0).Add(time.Duration(i-i/500)*5*time.Minute).Format("2006-01-02 15:04:05"), 40+r.IntN(300))
				}
			}},
		{name: "one series by year and month, and its customers", describing: []string{"customers"}, target: "sales", modes: []string{"time=year+month"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("year,month,customers,sales\n")
				for i := range 96 {
					fmt.Fprintf(w, "%d,%d,%d,%.2f\n", 2010+i/12, i%12+1, r.IntN(30), 20*r.Float64())
				}
			}},
		{name: "planets and their periods", target: "eccentricity", duplicates: "keep", covariates: []string{"mass", "period"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("mass,period,eccentricity\n")
				for range 100 {
					fmt.Fprintf(w, "%.3f,%.2f,%.2f\n", 10*r.Float64(), 3000*r.Float64()*r.Float64(), r.Float64())
				}
			}},
		{name: "one series at fractions of hours", target: "value", modes: []string{"time=period"}, describing: []string{"load"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("period,load,value\n")
				for i := range 100 {
					fmt.Fprintf(w, "%.2f,%.3f,%.3f\n", float64(i)/4, r.Float64(), r.Float64())
				}
			}},
		{name: "yes or no by user and step", target: "success", modes: []string{"user", "step"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("user,step,success\n")
				for i := range 600 {
					fmt.Fprintf(w, "u%d,%d,%d\n", i%30, i/30+1, r.IntN(2))
				}
			}},
		{name: "one series by the day", target: "visitors", modes: []string{"time=day"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("day,visitors\n")
				for i := range 200 {
					fmt.Fprintf(w, "%s,%d\n", day(i).Format("2006-01-02"), r.IntN(400))
				}
			}},
		{name: "one series by the month", target: "y", modes: []string{"time=ds"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("ds,y\n")
				for i := range 96 {
					fmt.Fprintf(w, "%s,%d\n", day(0).AddDate(0, i, -4).Format("2006-01-02"), r.IntN(400))
				}
			}},
		{name: "one series with covariates", describing: []string{"weather", "temp", "casual"}, target: "cnt", modes: []string{"time=dteday"}, leftOut: map[string]string{"temp": "quantity", "weather": "changes within series"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("dteday,season,weather,temp,casual,cnt\n")
				for i := range 400 {
					fmt.Fprintf(w, "%s,%d,%s,0.%03d,%d,%d\n", day(i).Format("2006-01-02"), 1+i/91%4, []string{"mist", "clear", "rain"}[r.IntN(3)], r.IntN(999), r.IntN(60), r.IntN(400))
				}
			}},
		{name: "promotions and weather of shops", describing: []string{"promo"}, target: "sold", modes: []string{"filiale", "time=date"},
			leftOut: map[string]string{"promo": "changes within series", "weather": "all rows of a period"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("date,filiale,promo,weather,sold\n")
				for i := range 90 * 4 {
					fmt.Fprintf(w, "%s,f%d,%s,%s,%d\n", day(i/4).Format("2006-01-02"), i%4, []string{"none", "none", "discount", "bundle"}[r.IntN(4)], []string{"sun", "rain", "fog", "snow", "wind"}[i/4*(i/4)%5], r.IntN(90))
				}
				fmt.Fprintf(w, "%s,f0,none,sun,7\n", day(90).Format("2006-01-02"))
			}},
		{name: "weather of less than a year", describing: []string{"weather"}, target: "sold", modes: []string{"time=date"}, leftOut: map[string]string{"weather": "changes within series", "month": "part of date"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("date,month,weather,sold\n")
				for i := range 200 {
					fmt.Fprintf(w, "%s,%s,%s,%d\n", day(i).Format("2006-01-02"), day(i).Month(), []string{"sun", "rain", "fog", "snow"}[r.IntN(4)], r.IntN(90))
				}
			}},
		{name: "levels 0, a and b, and months with names", describing: []string{"holiday"}, target: "sold", modes: []string{"shop", "time=year+month"}, leftOut: map[string]string{"holiday": "changes within series"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("year,month,shop,holiday,sold\n")
				for i := range 60 * 6 {
					fmt.Fprintf(w, "%d,%s,shop %d,%c,%d\n", 2015+i/72, time.Month(1 + i/6%12).String()[:3], i%6, "00000000000000000000ab"[r.IntN(22)], r.IntN(90))
				}
			}},
		{name: "repeated measurements", target: "strength", modes: []string{"alloy", "furnace"}, duplicates: "keep", notes: []string{"there are 4 rows for each combination of ids"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("alloy,furnace,strength\n")
				for i := range 600 {
					fmt.Fprintf(w, "a%d,f%d,%.2f\n", i%12, i/12%12, 90*r.Float64())
				}
			}},
		{name: "a row that occurs twice", target: "sold", modes: []string{"shop", "time=date"}, duplicates: "last", notes: []string{"1 row has the cell of an earlier row (line 402, after line 3); data.duplicates is last"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("date,shop,sold\n")
				for i := range 400 {
					fmt.Fprintf(w, "%s,s%d,%d\n", day(i/4).Format("2006-01-02"), i%4, i)
				}
				fmt.Fprintf(w, "%s,s1,1\n", day(0).Format("2006-01-02"))
			}},
		{name: "promotions that tell rows apart", target: "sold", modes: []string{"filiale", "promo", "time=date"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("date,filiale,promo,sold\n")
				for i := range 90 * 4 {
					fmt.Fprintf(w, "%s,f%d,%s,%d\n", day(i/4).Format("2006-01-02"), i%4, []string{"none", "none", "discount", "bundle"}[r.IntN(4)], r.IntN(90))
					if i%9 == 0 {
						fmt.Fprintf(w, "%s,f%d,voucher,%d\n", day(i/4).Format("2006-01-02"), i%4, r.IntN(90))
					}
				}
			}},
		{name: "probes that are read alternately", target: "load", modes: []string{"probe", "yearweek(date)", "weekday(date)"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("date,probe,load\n")
				for i := range 200 {
					fmt.Fprintf(w, "%s,%s,%.2f\n", day(i).Format("2006-01-02"), []string{"north", "east", "south"}[i%3], 90*r.Float64())
				}
			}},
		{name: "home and away", target: "goals", modes: []string{"home", "away", "time=date"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("date,home,away,goals\n")
				for i := range 60 {
					for k, away := range r.Perm(4) {
						fmt.Fprintf(w, "%s,t%d,t%d,%d\n", day(7*i).Format("2006-01-02"), k, away, r.IntN(6))
					}
				}
			}},
		{name: "survey", target: "income", modes: []string{"q5", "q7", "q8"}, duplicates: "keep", covariates: []string{"q1", "q2", "q3", "q4", "q6"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("q1,q2,q3,q4,q5,q6,q7,q8,income\n")
				for range 1500 {
					for q := range 8 {
						fmt.Fprintf(w, "a%d,", r.IntN(3+q/2))
					}
					fmt.Fprintf(w, "%.2f\n", 1e4*r.Float64())
				}
			}},
		{name: "ratings", target: "rating", modes: []string{"userId", "movieId", "hour(timestamp)"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("userId,movieId,rating,timestamp\n")
				for i := range 40 * 30 {
					if r.IntN(3) == 0 {
						fmt.Fprintf(w, "%d,%d,%.1f,%d\n", i/30, i%30*7, 0.5+0.5*float64(r.IntN(10)), 9e8+r.IntN(1e8))
					}
				}
			}},
		{name: "ratings with two colons", target: "c3", modes: []string{"c1", "c2", "hour(c4)", "date(c4)"}, delimiter: "::",
			text: func(w *strings.Builder, r *rand.Rand) {
				for i := range 40 * 30 {
					if r.IntN(3) == 0 {
						fmt.Fprintf(w, "%d::%d::%d::%d\n", 1+i/30, 1+i%30*7, 1+r.IntN(5), 978000000+r.IntN(1e7))
					}
				}
			}},
		{name: "five modes", target: "amount", modes: []string{"country", "channel", "product", "segment", "time=year+month"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("country,channel,product,segment,year,month,amount\n")
				for i := range 3 * 2 * 4 * 3 * 6 {
					fmt.Fprintf(w, "c%d,ch%d,p%d,g%d,2015,%d,%.1f\n", i%3, i/3%2, i/6%4, i/24%3, 1+i/72, 90*r.Float64())
				}
			}},
		{name: "European", describing: []string{"Preis"}, target: "Umsatz", modes: []string{"Filiale", "Artikel", "time=Datum"}, numbers: dataset.NumberFormat{Decimal: ',', Thousands: '.'},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Filiale;Artikel;Datum;Preis;Umsatz\n")
				for i := range 5 * 6 * 8 {
					cents := 90000 + r.IntN(300000)
					fmt.Fprintf(w, "%d;%d;%s;%d,%02d;%d.%03d,%02d\n", 1+i%5, 10+i/5%6, day(7*(i/30)).Format("02.01.2006"), r.IntN(20), r.IntN(100), 1+cents/100000, cents/100%1000, cents%100)
				}
			}},
		{name: "currency", describing: []string{"Discount"}, target: "Sales", modes: []string{"Store", "time=Date"}, numbers: dataset.NumberFormat{Decimal: '.', Thousands: ','}, leftOut: map[string]string{"Discount": "quantity"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Store,Date,Discount,Sales\n")
				for i := range 10 * 12 {
					fmt.Fprintf(w, "%d,%s,%d %%,\"$%d,%03d.50\"\n", 1+i%10, day(i/10).Format("1/2/2006"), r.IntN(60), 1+r.IntN(20), r.IntN(1000))
				}
			}},
		{name: "percent signs only", target: "rate", modes: []string{"store", "time=month"}, numbers: dataset.NumberFormat{Decimal: '.'},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,month,rate\n")
				for i := range 10 * 12 {
					fmt.Fprintf(w, "%d,2015-%02d,%.1f %%\n", 1+i%10, 1+i/10, 100*r.Float64())
				}
			}},
		{name: "ambiguous commas", modes: []string{"store", "month"}, problem: "may have a decimal comma or separators of thousands; data.decimal",
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store;month;x\n")
				for i := range 10 * 12 {
					fmt.Fprintf(w, "%d;%d;%d,%03d\n", 1+i%10, 1+i/10, 1+r.IntN(20), r.IntN(1000))
				}
			}},
		{name: "whole amounts of money", target: "sales", modes: []string{"store", "time=date"}, numbers: dataset.NumberFormat{Decimal: '.', Thousands: ','},
			leftOut: map[string]string{"distance": "numbers with a unit"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store;date;distance;sales\n")
				for i := range 10 * 12 {
					fmt.Fprintf(w, "%d;%s;%d,%03d km;$%d,%03d\n", 1+i%10, day(i/10).Format("2006-01-02"), 1+r.IntN(20), r.IntN(1000), 1+r.IntN(20), r.IntN(1000))
				}
			}},
		{name: "whole euros", target: "umsatz", modes: []string{"store", "time=date"}, numbers: dataset.NumberFormat{Decimal: ',', Thousands: '.'},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store;date;umsatz\n")
				for i := range 10 * 12 {
					fmt.Fprintf(w, "%d;%s;%d.%03d €\n", 1+i%10, day(i/10).Format("2006-01-02"), 1+r.IntN(20), r.IntN(1000))
				}
			}},
		{name: "thousands and numbers below", target: "visits", modes: []string{"store", "time=date"}, numbers: dataset.NumberFormat{Decimal: '.', Thousands: ','},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store;date;visits\n")
				for i := range 10 * 12 {
					visits := fmt.Sprintf("%d,%03d", 1+r.IntN(20), r.IntN(1000))
					if i%7 == 3 {
						visits = fmt.Sprint(100 + r.IntN(900))
					}
					fmt.Fprintf(w, "%d;%s;%s\n", 1+i%10, day(i/10).Format("2006-01-02"), visits)
				}
			}},
		{name: "fiscal years and quarters", target: "revenue", modes: []string{"unit", "time=fy+quarter"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("unit,fy,quarter,revenue\n")
				for i := range 6 * 40 {
					fmt.Fprintf(w, "U%d,FY%d/%02d,Q%d,%.1f\n", i%6, 2012+i/24, (13+i/24)%100, 1+i/6%4, 100*r.Float64())
				}
			}},
		{name: "years and their periods", target: "revenue", modes: []string{"unit", "time=year+period"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("unit,period,year,revenue\n")
				for i := range 6 * 48 {
					fmt.Fprintf(w, "U%d,P%02d,%d,%.1f\n", i%6, 1+i/6%12, 2012+i/72, 100*r.Float64())
				}
			}},
		{name: "years and halves", target: "revenue", modes: []string{"unit", "time=year+half"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("unit,year,half,revenue\n")
				for i := range 6 * 20 {
					fmt.Fprintf(w, "U%d,%d,%d,%.1f\n", i%6, 2012+i/12, 1+i/6%2, 100*r.Float64())
				}
			}},
		{name: "years and their thirteen periods", target: "revenue", modes: []string{"unit", "year", "period"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("unit,year,period,revenue\n")
				for i := range 6 * 52 {
					fmt.Fprintf(w, "U%d,%d,%d,%.1f\n", i%6, 2012+i/78, 1+i/6%13, 100*r.Float64())
				}
			}},
		{name: "revenue beside units and prices", target: "revenue", modes: []string{"store", "time=month"}, describing: []string{"unit_price"},
			leftOut: map[string]string{"units_sold": "with it and unit_price the target can be computed"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,month,units_sold,unit_price,revenue\n")
				for i := range 10 * 24 {
					units, cents := r.IntN(40), 200+r.IntN(300)
					fmt.Fprintf(w, "s%d,%d-%02d,%d,%.2f,%.2f\n", i%10, 2015+i/120, 1+i/10%12, units, float64(cents)/100, float64(units*cents)/100)
				}
			}},
		{name: "units beside prices and revenue", target: "units", modes: []string{"store", "time=month"}, describing: []string{"price"},
			leftOut: map[string]string{"money": "with it and price the target can be computed"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,month,units,price,money\n")
				for i := range 10 * 24 {
					units, cents := r.IntN(40), 200+r.IntN(300)
					fmt.Fprintf(w, "s%d,%d-%02d,%d,%.2f,%.2f\n", i%10, 2015+i/120, 1+i/10%12, units, float64(cents)/100, float64(units*cents)/100)
				}
			}},
		{name: "a grid of the weather", target: "rain", modes: []string{"lat", "lon", "time=month"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("lat,lon,month,rain\n")
				for i := range 6 * 8 * 24 {
					fmt.Fprintf(w, "%.2f,%.2f,%d-%02d,%.1f\n", -47+float64(i%6)/4, 8+float64(i/6%8)/4, 2015+i/576, 1+i/48%12, 100*r.Float64())
				}
			}},
		{name: "measurements at places of their own", target: "rain", modes: []string{"time=month"}, duplicates: "keep",
			leftOut: map[string]string{"lat": "quantity by its name", "lon": "quantity by its name"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("lat,lon,month,rain\n")
				for i := range 48 * 24 {
					fmt.Fprintf(w, "%.2f,%.2f,%d-%02d,%.1f\n", 90*r.Float64(), 90*r.Float64(), 2015+i/576, 1+i/48%12, 100*r.Float64())
				}
			}},
		{name: "points that separate thousands, and numbers below", target: "visits", modes: []string{"store", "time=date"}, numbers: dataset.NumberFormat{Decimal: ',', Thousands: '.'},
			notes: []string{"thousands separated by point"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store;date;visits\n")
				for i := range 10 * 12 {
					visits := fmt.Sprintf("%d.%03d", 1+r.IntN(20), r.IntN(1000))
					if i%7 == 3 {
						visits = fmt.Sprint(100 + r.IntN(900))
					}
					fmt.Fprintf(w, "%d;%s;%s\n", 1+i%10, day(i/10).Format("2006-01-02"), visits)
				}
			}},
		{name: "three decimal places", modes: []string{"store", "time=date"}, target: "x", numbers: dataset.NumberFormat{Decimal: ','},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store;date;x\n")
				for i := range 10 * 12 {
					fmt.Fprintf(w, "%d;%s;%d,%03d\n", 1+i%10, day(i/10).Format("2006-01-02"), r.IntN(3), r.IntN(1000))
				}
			}},
		{name: "flags and prices", describing: []string{"price", "promo", "stock"}, target: "qty", modes: []string{"store", "sku", "time=date"},
			leftOut: map[string]string{"promo": "flag", "price": "quantity", "stock": "quantity by its name"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,sku,date,price,promo,stock,qty\n")
				for i := range 5 * 8 * 10 {
					fmt.Fprintf(w, "%d,%d,%s,%d.99,%d,%d,%d\n", i%5, 1000+i/5%8, day(i/40).Format("2006-01-02"), 1+r.IntN(5), r.IntN(2), r.IntN(30), r.IntN(9))
				}
			}},
		{name: "wide", problem: `melt(id_vars=["Product_Code"], var_name="time")`,
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Product_Code")
				for week := range 20 {
					fmt.Fprintf(w, ",W%d", week)
				}
				for i := range 60 {
					fmt.Fprintf(w, "\nP%d", i)
					for range 20 {
						fmt.Fprintf(w, ",%d", r.IntN(30))
					}
				}
				w.WriteString("\n")
			}},
		{name: "quarters beside years", target: "units", modes: []string{"shop", "time=year+quarter"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,year,quarter,units\n")
				for i := range 6 * 40 {
					fmt.Fprintf(w, "s%d,%d,Q%d,%d\n", i/40, 2010+i%40/4, 1+i%4, r.IntN(50))
				}
			}},
		{name: "names of months beside years", target: "units", modes: []string{"shop", "time=year+month"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,year,month,units\n")
				for i := range 6 * 48 {
					fmt.Fprintf(w, "s%d,%d,%s,%d\n", i/48, 2010+i%48/12, time.Month(1+i%12), r.IntN(50))
				}
			}},
		{name: "rows without ids", target: "units", modes: []string{"shop", "time=date"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,date,units\n")
				for i := range 12 * 30 {
					shop, date := fmt.Sprintf("s%d", i/30), day(i%30).Format("2006-01-02")
					if i%30 == 5 && i%60 == 5 {
						shop = ""
					} else if i%30 == 9 && i%60 == 9 {
						date = ""
					}
					fmt.Fprintf(w, "%s,%s,%d\n", shop, date, r.IntN(50))
				}
			}},
		{name: "numbers with a unit", modes: []string{"shop", "time=date"}, problem: `the values of column sales have a unit, "kg"); remove the unit "kg" from the values of column sales`,
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,date,sales\n")
				for i := range 12 * 30 {
					fmt.Fprintf(w, "s%d,%s,%.2f kg\n", i/30, day(i%30).Format("2006-01-02"), 90*r.Float64())
				}
			}},
		{name: "wide with series", problem: `melt(id_vars=["date"], var_name="series")`,
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("date,shop 0,shop 1,shop 2,shop 3,shop 4,shop 5\n")
				for i := range 40 {
					fmt.Fprintf(w, "%s%s\n", day(i).Format("2006-01-02"), strings.Repeat(fmt.Sprintf(",%.2f", 9*r.Float64()), 6))
				}
			}},
		{name: "series in a column called time", target: "value", modes: []string{"series=time", "time=date"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("date,time,value\n")
				for i := range 12 * 30 {
					fmt.Fprintf(w, "%s,shop %d,%.2f\n", day(i%30).Format("2006-01-02"), i/30, 9*r.Float64())
				}
			}},
		{name: "wide with dates", problem: "the table is wide: 8 columns, 2015-01-01 to 2015-08-01",
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("state,city,2015-01-01,2015-02-01,2015-03-01,2015-04-01,2015-05-01,2015-06-01,2015-07-01,2015-08-01\n")
				for i := range 60 {
					fmt.Fprintf(w, "S%d,c%d%s\n", i%6, i, strings.Repeat(fmt.Sprintf(",%d", r.IntN(30)), 8))
				}
			}},
		{name: "features with a target are not wide", describing: []string{"x1", "x2", "x3", "x4", "x5", "x6", "x7"}, target: "y", modes: []string{"group", "time=date"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("group,date,x1,x2,x3,x4,x5,x6,x7,y\n")
				for i := range 100 {
					fmt.Fprintf(w, "g%d,%s", i%5, day(i/5).Format("2006-01-02"))
					for range 8 {
						fmt.Fprintf(w, ",%.3f", r.Float64())
					}
					w.WriteString("\n")
				}
			}},
		{name: "transactions", target: "quantity", modes: []string{"store", "item", "time=date(time)"}, duplicates: "sum", notes: []string{"add up"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("receipt,store,item,time,quantity\n")
				for i := range 900 {
					fmt.Fprintf(w, "%d,%d,i%d,%s,%d\n", 100000+i, r.IntN(4), r.IntN(6), day(i/60).Add(time.Duration(r.IntN(86400))*time.Second).Format("2006-01-02 15:04:05"), 1+r.IntN(4))
				}
			}},
		{name: "invoices", target: "Quantity", modes: []string{"StockCode", "CustomerID", "time=date(InvoiceDate)"}, duplicates: "sum",
			leftOut: map[string]string{"InvoiceNo": "events"}, determined: map[string]string{"Description": "StockCode", "Country": "CustomerID"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country\n")
				for i := range 2500 {
					invoice, item, at := i/5, r.IntN(60), day(0).Add(time.Duration(i/5*7+i/5*(i/5)%31)*time.Minute)
					fmt.Fprintf(w, "%d,%dA,\"Item, %d\",%d,%s,%d.55,%d,%s\n", 536365+invoice, 85000+item, item, 1+r.IntN(12), at.Format("1/2/2006 15:04"), item%9, 17000+invoice%80, []string{"UK", "France"}[invoice%80/70])
				}
			}},
		{name: "repeated ratings", target: "rating", modes: []string{"user", "book"}, duplicates: "keep", notes: []string{"varies less than a single one"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("user,book,rating\n")
				for range 900 {
					fmt.Fprintf(w, "%d,b%d,%d\n", r.IntN(20), r.IntN(20), 1+r.IntN(5))
				}
			}},
		{name: "equal rows twice", target: "units", modes: []string{"store", "item"}, duplicates: "last",
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,item,units\n")
				for i := range 100 {
					line := fmt.Sprintf("%d,i%d,%d\n", i%10, i/10, r.IntN(99))
					w.WriteString(line)
					if i == 50 {
						w.WriteString(line)
					}
				}
			}},
		{name: "store determines city", target: "sold", modes: []string{"store", "item", "time=date"},
			determined: map[string]string{"city": "store", "store_size": "store", "weekday": "time"}, leftOut: map[string]string{"holiday": "all rows of a period"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,city,store_size,item,date,weekday,holiday,sold\n")
				for i := range 9 * 5 * 12 {
					d := day(i / 45)
					fmt.Fprintf(w, "%d,%s,%d,i%d,%s,%s,%d,%d\n", i%9, cities[i%9%3], 100+i%9*17, i/9%5, d.Format("2006-01-02"), d.Weekday(), min(1, i/45%4), r.IntN(30))
				}
			}},
		{name: "Walmart", target: "Weekly_Sales", modes: []string{"Store", "Dept", "time=Date"}, leftOut: map[string]string{"IsHoliday": "all rows of a period"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Store,Dept,Date,Weekly_Sales,IsHoliday\n")
				for i := range 5 * 9 * 12 {
					fmt.Fprintf(w, "%d,%d,%s,%.2f,%s\n", 1+i/108, 1+i/12%9, day(4+7*(i%12)).Format("2006-01-02"), 50000*r.Float64(), map[bool]string{true: "TRUE", false: "FALSE"}[i%12 == 3])
				}
			}},
		{name: "M4", target: "value", modes: []string{"id", "time=date"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("id,date,value\n") // series of different years, of which few share a date
				for i := range 90 {
					fmt.Fprintf(w, "Y%d,%d-01-01,%.1f\n", 1+i/30, 1940+i%30+15*(i/30), 5000*r.Float64())
				}
			}},
		{name: "hours of two zones", target: "load", modes: []string{"site", "time=datehour(at)"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("site,at,load\n") // their clocks differ by six hours, so few of them agree
				for i := range 480 {
					at := day(0).Add(time.Duration(i/2) * time.Hour).In(time.FixedZone("", []int{3600, -5 * 3600}[i%2]))
					fmt.Fprintf(w, "%c,%s,%.1f\n", "AB"[i%2], at.Format(time.RFC3339), 50*r.Float64())
				}
			}},
		{name: "wages of persons", target: "wage", modes: []string{"region", "sector"}, duplicates: "keep", covariates: []string{"education", "married", `tenure_years="tenure (years)"`},
			leftOut: map[string]string{"log_wage": "may be computed from it"}, notes: []string{"50 rows for each combination of ids"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("log_wage,education,married,region,sector,tenure (years),wage\n")
				for range 600 {
					wage := math.Exp(2 + r.NormFloat64())
					fmt.Fprintf(w, "%.9f,%d,%d,r%d,s%d,%.2f,%.7f\n", math.Log(wage), 6+r.IntN(12), r.IntN(2), r.IntN(4), r.IntN(3), 30*r.Float64(), wage)
				}
			}},
		{name: "two numbers of a few groups", target: "score", modes: []string{"group", "kind"}, duplicates: "keep", notes: []string{"taken for a record of its own"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("group,kind,score\n")
				for range 300 {
					fmt.Fprintf(w, "g%d,k%d,%.3f\n", r.IntN(5), r.IntN(3), r.NormFloat64())
				}
			}},
		{name: "M5", target: "sales", modes: []string{"item_id", "store_id", "time=d"}, leftOut: map[string]string{"id": "combines item_id and store_id"},
			determined: map[string]string{"dept_id": "item_id", "state_id": "store_id"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("id,item_id,dept_id,store_id,state_id,d,sales\n")
				states := []string{"CA", "TX"}
				for i := range 12 * 4 * 10 {
					item, store := i%12, i/12%4
					dept := fmt.Sprintf("FOODS_%d", 1+item%3)
					itemID, storeID := fmt.Sprintf("%s_%03d", dept, item), fmt.Sprintf("%s_%d", states[store%2], 1+store/2)
					fmt.Fprintf(w, "%s_%s_validation,%s,%s,%s,%s,d_%d,%d\n", itemID, storeID, itemID, dept, storeID, states[store%2], 1+i/48, r.IntN(6))
				}
			}},
		{name: "bike sharing", describing: []string{"holiday", "workingday", "weathersit", "temp", "atemp", "hum", "windspeed"}, target: "cnt", modes: []string{"time=dteday+hr"},
			leftOut: map[string]string{"instant": "it counts the rows", "temp": "quantity", "weathersit": "single series", "casual": "", "season": ""},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("instant,dteday,season,yr,mnth,hr,holiday,weekday,workingday,weathersit,temp,atemp,hum,windspeed,casual,registered,cnt\n")
				for i := range 24 * 70 {
					d := day(i / 24)
					casual, registered := r.IntN(40), r.IntN(200)
					fmt.Fprintf(w, "%d,%s,%d,0,%d,%d,%d,%d,%d,%d,0.%02d,0.%04d,0.%02d,0.%04d,%d,%d,%d\n", i+1, d.Format("2006-01-02"), 1+int(d.Month())/3, d.Month(), i%24, i/24%30/29,
						d.Weekday(), min(1, int(d.Weekday())%6), 1+r.IntN(3), r.IntN(100), r.IntN(9000), r.IntN(100), r.IntN(5000), casual, registered, casual+registered)
				}
			}},
		{name: "Favorita", describing: []string{"onpromotion"}, target: "sales", modes: []string{"store_nbr", "family", "time=date"}, leftOut: map[string]string{"id": "almost every row", "onpromotion": "quantity"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("id,date,store_nbr,family,sales,onpromotion\n")
				for i := range 6 * 5 * 14 {
					fmt.Fprintf(w, "%d,%s,%d,F%d,%.1f,%d\n", 3000888+i, day(i/30).Format("2006-01-02"), 1+i%6, i/6%5, float64(r.IntN(900)), max(0, r.IntN(12)-6))
				}
			}},
		{name: "air quality", target: "value", modes: []string{"station", "pollutant", "time=datetime"}, determined: map[string]string{"lat": "station", "lon": "station", "unit": "pollutant"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("station,lat,lon,pollutant,unit,datetime,value\n")
				for i := range 6 * 4 * 30 {
					fmt.Fprintf(w, "st%d,4%d.25,1%d.5,p%d,u%d,%s,%.2f\n", i%6, i%6, i%6, i/6%4, i/6%4/2, day(0).Add(time.Duration(i/24)*time.Hour).Format("02/01/2006 15:04"), 90*r.Float64())
				}
			}},
		{name: "air quality, one station", describing: []string{`CO_GT="CO(GT)"`, `NO2_GT="NO2(GT)"`, "T", "RH"}, target: "AH", modes: []string{"Time", "time=Date"}, numbers: dataset.NumberFormat{Decimal: ','}, leftOut: map[string]string{"CO(GT)": "quantity", "T": "quantity"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Date;Time;CO(GT);NO2(GT);T;RH;AH\n")
				for i := range 24 * 20 {
					fmt.Fprintf(w, "%s;%02d.00.00;%d,%d;%d;%d,%d;%d,%d;0,%04d\n", day(i/24).Format("02/01/2006"), i%24, r.IntN(9), r.IntN(10), r.IntN(200), r.IntN(30), r.IntN(10), r.IntN(90), r.IntN(10), r.IntN(10000))
				}
			}},
		{name: "unnamed integers", describing: []string{"Lager"}, target: "Menge", modes: []string{"Laden", "Ware", "Woche"}, leftOut: map[string]string{"Lager": ""},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Laden;Ware;Woche;Lager;Menge\n")
				for i := range 6 * 7 * 8 {
					fmt.Fprintf(w, "%d;%d;%d;%d;%d\n", 1+i%6, 1+i/6%7, 1+i/42, r.IntN(20), r.IntN(50))
				}
			}},
		{name: "a flag that is needed", target: "count", modes: []string{"area", "sex", "year"}, notes: []string{"flag sex is a mode"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("area,sex,year,count\n")
				for i := range 12 * 2 * 10 {
					fmt.Fprintf(w, "a%d,%d,%d,%d\n", i%12, i/12%2, 2000+i/24, r.IntN(900))
				}
			}},
		{name: "a value that is not a number", target: "units", modes: []string{"store", "item"}, leftOut: map[string]string{"price": `line 18: "n/a?" is not a number`},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,item,price,units\n")
				for i := range 100 {
					price := fmt.Sprintf("%.2f", 9*r.Float64())
					if i == 16 {
						price = "n/a?"
					}
					fmt.Fprintf(w, "%d,i%d,%s,%d\n", i%10, i/10, price, r.IntN(99))
				}
			}},
		{name: "texts for missing numbers", describing: []string{"price"}, target: "units", modes: []string{"store", "item", "brand"}, leftOut: map[string]string{"price": "a quantity"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,item,brand,price,units\n")
				for i := range 300 {
					price, units, brand := fmt.Sprintf("%.2f", 9*r.Float64()), fmt.Sprint(r.IntN(99)), []string{"None", "b1", "b2"}[i%3]
					if i%7 == 3 {
						price, units = "?", []string{"#N/A", "None", ".", "n.a.", "?"}[i%5]
					}
					fmt.Fprintf(w, "s%d,i%d,%s,%s,%s\n", i%20, i/20, brand, price, units)
				}
			}},
		{name: "few numbers with separated thousands", target: "Umsatz", modes: []string{"Laden", "Ware"}, numbers: dataset.NumberFormat{Decimal: ',', Thousands: '.'},
			notes: []string{`"1.042.000,50 €" is read as 1042000.5`},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Laden;Ware;Umsatz\n")
				for i := range 300 {
					sales := fmt.Sprintf("%d,%02d €", 10+r.IntN(900), r.IntN(100))
					if i%60 == 7 {
						sales = "1.042.000,50 €"
					}
					fmt.Fprintf(w, "s%d;i%d;%s\n", i%20, i/20, sales)
				}
			}},
		{name: "few plain numbers with separated thousands", target: "amount", modes: []string{"shop", "item"}, numbers: dataset.NumberFormat{Decimal: '.', Thousands: ','},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,item,amount\n")
				for i := range 300 {
					amount := fmt.Sprintf("%d.%02d", 10+r.IntN(900), r.IntN(100))
					if i%60 == 7 {
						amount = `"1,042.50"`
					}
					fmt.Fprintf(w, "s%d,i%d,%s\n", i%20, i/20, amount)
				}
			}},
		{name: "a target that is not a number", target: "units", modes: []string{"store", "item"}, notes: []string{`column units, line 5: "NaN" is not a number (2 values of this kind)`},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,item,units\n")
				for i := range 100 {
					units := fmt.Sprint(r.IntN(99))
					if i == 3 || i == 50 {
						units = "NaN"
					}
					fmt.Fprintf(w, "%d,i%d,%s\n", i%10, i/10, units)
				}
			}},
		{name: "limits of detection", target: "conc", modes: []string{"site", "analyte"}, notes: []string{`column conc, line 2: "<0.2" is not a number (103 values of this kind); write a number in its place, such as half of the limit`},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("site,analyte,conc\n")
				for i := range 200 {
					conc := "<0.2"
					if v := r.Float64(); i > 0 && v > 0.6 {
						conc = fmt.Sprintf("%.3f", v)
					}
					fmt.Fprintf(w, "s%d,a%d,%s\n", i%20, i/20, conc)
				}
			}},
		{name: "limits of detection with decimal commas", target: "conc", modes: []string{"site", "analyte"}, numbers: dataset.NumberFormat{Decimal: ','}, notes: []string{`"<0,2" is not a number`},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("site;analyte;conc\n")
				for i := range 200 {
					conc := "<0,2"
					if v := r.Float64(); v > 0.6 {
						conc = strings.ReplaceAll(fmt.Sprintf("%.2f", v), ".", ",")
					}
					fmt.Fprintf(w, "s%d;a%d;%s\n", i%20, i/20, conc)
				}
			}},
		{name: "numbers with units that repeat", target: "speed", modes: []string{"machine", "load"}, notes: []string{`the values of column load are taken for ids, because they have the unit "kg"; remove it if they are numbers to predict or a covariate`},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("machine,load,speed\n")
				for i := range 15 * 20 {
					fmt.Fprintf(w, "m%d,%d kg,%.2f\n", i%15, 10*(i/15), r.Float64())
				}
			}},
		{name: "rows of totals among the ids", target: "units", modes: []string{"shop", "item", "time=month"}, notes: []string{`column item: the rows of "All" are the sums of the other rows of the same shop, time, so everything counts twice; remove these rows`},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,item,month,units\n")
				for i := range 60 {
					total := 0.0
					for k := range 4 {
						if r.IntN(5) > 0 {
							units := float64(int(1000*r.ExpFloat64())) / 10
							total += units
							fmt.Fprintf(w, "s%d,i%d,2024-%02d,%.1f\n", i%5, k, 1+i/5, units)
						}
					}
					fmt.Fprintf(w, "s%d,All,2024-%02d,%.0f\n", i%5, 1+i/5, total)
				}
			}},
		{name: "a last level that is a limit", target: "y", modes: []string{"store", "rooms"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,rooms,y\n")
				for i := range 200 {
					rooms := fmt.Sprint(1 + i%5)
					if i%5 == 4 {
						rooms = ">4"
					}
					fmt.Fprintf(w, "s%d,%s,%.3f\n", i/5, rooms, r.Float64())
				}
			}},
		{name: "all ids unique", target: "value", problem: "data.modes (the columns are id, name, value)",
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("id,name,value\n")
				for i := range 100 {
					fmt.Fprintf(w, "%d,n%d,%.3f\n", i, i, r.Float64())
				}
			}},
		{name: "no numbers", modes: []string{"a", "b"}, problem: "data.target (the columns are a, b)",
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("a,b\n")
				for i := range 100 {
					fmt.Fprintf(w, "x%d,y%d\n", i%10, i/10)
				}
			}},
		{name: "columns aligned by spaces", modes: []string{"shop  units"}, duplicates: "mean", problem: `the table has one column, "shop  units"; separate its fields by commas`,
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop  units\n")
				for i := range 100 {
					fmt.Fprintf(w, "s%-4d %4d\n", i%5, r.IntN(5))
				}
			}},
		{name: "a constant target", modes: []string{"a", "b"}, problem: "no column looks like a target",
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("a,b,units\n")
				for i := range 100 {
					fmt.Fprintf(w, "x%d,y%d,3\n", i%10, i/10)
				}
			}},
		{name: "few rows", target: "units", modes: []string{"a", "b"}, notes: []string{"only 12 rows"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("a,b,units\n")
				for i := range 12 {
					fmt.Fprintf(w, "x%d,y%d,%d\n", i%4, i/4, i*i)
				}
			}},
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	for _, tc := range slices.Concat(guessTables(), namedTables(), recordTables()) {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			tc.text(&text, rand.New(rand.NewPCG(1, 2)))
			read := func(future bool) (*tableio.Guess, error) {
				return tableio.GuessWith(tableio.Reader("t.csv", strings.NewReader(text.String())), tableio.Format{}, guess.Given{Future: future})
			}
			g, err := read(true)
			if g == nil {
				t.Fatal(err)
			}
			if now, _ := read(false); !slices.Equal(now.Covariates, slices.Concat(tc.covariates, tc.describing)) {
				t.Errorf("got covariates %q of cells that are no future, want %q", now.Covariates, slices.Concat(tc.covariates, tc.describing))
			}
			if (err == nil) != (tc.problem == "") || err != nil && !strings.Contains(err.Error(), tc.problem) {
				t.Errorf("got error %v, want one with %q", err, tc.problem)
			}
			if g.Target != tc.target || !slices.Equal(g.Modes, tc.modes) {
				t.Errorf("got target %q, modes %q; want %q, %q\n%+v", g.Target, g.Modes, tc.target, tc.modes, g.Columns)
			}
			if !slices.Equal(g.Covariates, tc.covariates) {
				t.Errorf("got covariates %q, want %q", g.Covariates, tc.covariates)
			}
			if g.Duplicates != tc.duplicates || g.Numbers != tc.numbers || g.Format.LongDelimiter != tc.delimiter {
				t.Errorf("got duplicates %q, numbers %q, delimiter %q; want %q, %q, %q", g.Duplicates, g.Numbers, g.Format.LongDelimiter, tc.duplicates, tc.numbers, tc.delimiter)
			}
			for column, reason := range tc.leftOut {
				i := slices.IndexFunc(g.LeftOut, func(l guess.LeftOut) bool { return l.Column == column })
				if i < 0 || !strings.Contains(g.LeftOut[i].Reason, reason) {
					t.Errorf("column %s is not left out for %q: %v", column, reason, g.LeftOut)
				}
			}
			for column, mode := range tc.determined {
				if !slices.Contains(g.Determined, guess.Determined{Column: column, Mode: mode}) {
					t.Errorf("column %s is not determined by %s: %q", column, mode, g.Determined)
				}
			}
			for _, note := range tc.notes {
				if !strings.Contains(strings.Join(g.Notes, "\n"), note) {
					t.Errorf("no note contains %q: %q", note, g.Notes)
				}
			}
			if far := "far from all others"; strings.Contains(strings.Join(g.Notes, "\n"), far) != strings.Contains(strings.Join(tc.notes, "\n"), far) {
				t.Errorf("got notes %q, want %q about outliers", g.Notes, tc.notes)
			}
			if got := len(g.LeftOut) + len(g.Determined) + len(g.Covariates); tc.problem == "" && got == 0 && len(g.Columns) > 2+len(tc.modes)+1 {
				t.Errorf("columns are used for nothing and not listed: %+v", g.Columns)
			}
		})
	}
}
