package guess_test

import (
	"fmt"
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
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	for _, tc := range slices.Concat(guessTables(), layoutTables(), namedTables(), recordTables()) {
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
