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

// recordTables are tables of records and of logs, and panels that resemble them.
func recordTables() []guessTable {
	school := make([]float64, 60)
	for i := range school {
		school[i] = 20 * rand.New(rand.NewPCG(3, uint64(i))).Float64()
	}
	return []guessTable{
		{name: "numbers that are one in single precision", target: "y", duplicates: "keep", covariates: []string{"a", "b"}, leftOut: map[string]string{"serial": "single precision"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("a,b,serial,y\n")
				for range 300 {
					fmt.Fprintf(w, "%.3f,%.3f,%.3f,%.3f\n", r.NormFloat64(), r.NormFloat64(), 1e12+r.NormFloat64(), r.NormFloat64())
				}
			}},
		{name: "the logarithm of the target with decimal commas and gaps", target: "Miete", modes: []string{"Lage", "Typ"}, duplicates: "keep", covariates: []string{"Zimmer", "Flaeche"},
			numbers: dataset.NumberFormat{Decimal: ','}, leftOut: map[string]string{"logm": "without exception"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Lage;Typ;Zimmer;Flaeche;logm;Miete\n")
				for i := range 600 {
					rent := 300 + 900*r.Float64()
					log := fmt.Sprintf("%.6f", math.Log(rent))
					if i%40 == 3 {
						log = ""
					}
					row := fmt.Sprintf("L%d;T%d;%d;%.1f;%s;%.2f\n", r.IntN(9), r.IntN(4), 1+r.IntN(5), 30+90*r.Float64(), log, rent)
					w.WriteString(strings.ReplaceAll(row, ".", ","))
				}
			}},
		{name: "years that hardly repeat", target: "co2", modes: []string{"source"}, duplicates: "keep", covariates: []string{"year"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("year,co2,source\n")
				for i := range 300 {
					fmt.Fprintf(w, "%d,%.2f,%s\n", 2018-i*i, 200+100*r.Float64(), []string{"ice", "air"}[r.IntN(2)])
				}
			}},
		{name: "a covariate called time, and two with one name", target: "score", modes: []string{"ward", "time=yearweek(date)"}, duplicates: "keep",
			covariates: []string{`time2=time`, `dose_mg="dose (mg)"`, `dose_mg2="dose mg)"`},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("ward,date,time,dose (mg),dose mg),score\n")
				for range 900 {
					fmt.Fprintf(w, "w%d,%s,%.2f,%.1f,%.1f,%.2f\n", r.IntN(9), day(r.IntN(300)).Format("2006-01-02"), 100*r.Float64(), 9*r.Float64(), 9*r.Float64(), 9*r.Float64())
				}
			}},
		{name: "counts of walks, most of a cell without a time", target: "StepCount", modes: []string{"Weather", "Day"}, duplicates: "keep", covariates: []string{"Kcal", "Dog"}, notes: []string{"record of its own"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("StepCount,Kcal,Weather,Day,Dog\n")
				for range 300 {
					fmt.Fprintf(w, "%d,%d,%s,%s,%d\n", 1000+r.IntN(9000), r.IntN(300), []string{"rain", "shine", "cold"}[r.IntN(3)], []string{"M", "T", "W", "R", "F", "S", "U"}[r.IntN(7)], r.IntN(2))
				}
			}},
		{name: "points of groups", target: "y", modes: []string{"group"}, duplicates: "keep", covariates: []string{"x"}, notes: []string{"record of its own"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("group,x,y\n")
				for i := range 1200 {
					fmt.Fprintf(w, "%d,%.4f,%.4f\n", 1+i/40, 100*r.Float64(), 100*r.NormFloat64())
				}
			}},
		{name: "answers of which two fifths are missing", target: "hours", modes: []string{"degree"}, duplicates: "keep", covariates: []string{"relax", "health", "opinion"}, notes: []string{"record of its own"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("relax,health,hours,degree,opinion\n")
				some := func(text string) string {
					if r.IntN(5) < 2 {
						return ""
					}
					return text
				}
				for range 2000 {
					fmt.Fprintf(w, "%s,%s,%s,D%d,%s\n", some(fmt.Sprintf("%d.0", r.IntN(18))), some(fmt.Sprintf("%d.0", r.IntN(30))), some(fmt.Sprintf("%d.0", 10+r.IntN(70))), r.IntN(5), some([]string{"yes", "no"}[r.IntN(2)]))
				}
			}},
		{name: "houses with a date", target: "price", modes: []string{"zipcode", "time=date"}, duplicates: "keep",
			covariates: []string{"bedrooms", "sqft_living", "floors", "grade", "yr_built", "lat"}, leftOut: map[string]string{"id": "almost every row"}, notes: []string{"record of its own"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("id,date,price,bedrooms,sqft_living,floors,grade,yr_built,zipcode,lat\n")
				for range 3000 {
					bedrooms := 1 + r.IntN(5)
					sqft := 400*bedrooms + 10*r.IntN(120)
					fmt.Fprintf(w, "%d,%s,%d,%d,%d,%.1f,%d,%d,%d,47.%04d\n", 1+r.IntN(1e9), day(r.IntN(100)).Format(time.DateOnly), 200*sqft+r.IntN(90000), bedrooms, sqft, 1+float64(r.IntN(5))/2,
						4+r.IntN(9), 1900+r.IntN(110), 98001+3*r.IntN(60), r.IntN(9000))
				}
			}},
		{name: "rides with their moments", target: "fare", modes: []string{"pickup_zone", "dropoff_zone", "hour(pickup)", "time=date(pickup)"}, duplicates: "keep", covariates: []string{"passengers", "distance"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("pickup,pickup_zone,dropoff_zone,passengers,distance,fare\n")
				for range 3000 {
					km := 9 * r.Float64()
					fmt.Fprintf(w, "%s,Z%d,Z%d,%d,%.2f,%.2f\n", day(0).Add(time.Duration(r.IntN(30*86400))*time.Second).Format(time.DateTime), r.IntN(40), r.IntN(40), 1+r.IntN(6), km, 3+2*km+r.Float64())
				}
			}},
		{name: "claims of three years", target: "claim_amount", modes: []string{"region", "claim_type", "time=yearweek(dmy(claim_date))"}, duplicates: "keep",
			covariates: []string{"driver_age", "vehicle_age", "vehicle_value", "mileage"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("claim_date,region,claim_type,driver_age,vehicle_age,vehicle_value,mileage,claim_amount\n")
				for range 4000 {
					fmt.Fprintf(w, "%s,R%d,%s,%d,%d,%d,%d,%.2f\n", day(r.IntN(1095)).Format("02/01/2006"), r.IntN(9), []string{"theft", "glass", "storm"}[r.IntN(3)], 18+r.IntN(60), r.IntN(20), r.IntN(40000), r.IntN(200000), 5000*r.Float64())
				}
			}},
		{name: "used cars and copies of the price", target: "price", modes: []string{"brand", "year", "fuel"}, duplicates: "keep", covariates: []string{"mileage", "horsepower"},
			leftOut: map[string]string{"price_eur": "rises or falls with the target", "price_usd": "rises or falls with the target"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("brand,year,mileage,horsepower,fuel,price_eur,price_usd,price\n")
				for range 3000 {
					price := 1000 + 30000*r.Float64()
					fmt.Fprintf(w, "B%d,%d,%d,%d,%s,%.0f,%.0f,%.2f\n", r.IntN(25), 2005+r.IntN(18), r.IntN(200000), 60+10*r.IntN(25), []string{"petrol", "diesel"}[r.IntN(2)], price, 1.08*price, price)
				}
			}},
		{name: "a group, x and y", target: "y", modes: []string{"group"}, duplicates: "keep", covariates: []string{"x"}, notes: []string{"record of its own"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("group,x,y\n")
				for range 60 {
					x := r.NormFloat64()
					fmt.Fprintf(w, "%c,%.2f,%.2f\n", 'a'+r.IntN(3), x, 5+x+r.NormFloat64())
				}
			}},
		{name: "a rounded copy beside a panel", target: "revenue", modes: []string{"shop", "time=month"}, leftOut: map[string]string{"thousands": "rises or falls with the target"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,month,thousands,revenue\n")
				for i := range 30 * 24 {
					v := 90000 * r.Float64()
					fmt.Fprintf(w, "s%d,%s,%.0f,%.2f\n", i%30, time.Date(2020, time.Month(1+i/30), 1, 0, 0, 0, 0, time.UTC).Format("2006-01"), v/1000, v)
				}
			}},
		{name: "pupils of schools with numbers", target: "score", modes: []string{"school", "sex"}, duplicates: "keep", covariates: []string{"ses", "hours"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("school,sex,ses,hours,score\n")
				for i := range 2400 {
					hours := r.IntN(30)
					fmt.Fprintf(w, "%d,%s,%.3f,%d,%.2f\n", 1000+7*(i%60), []string{"f", "m"}[r.IntN(2)], r.NormFloat64(), hours, school[i%60]+float64(hours)+4*r.NormFloat64())
				}
			}},
		{name: "numbers alone", target: "strength", duplicates: "keep", covariates: []string{"xa", "xb", "pieces"}, leftOut: map[string]string{"row": ""},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("row,xa,xb,pieces,strength\n")
				for i := range 400 {
					fmt.Fprintf(w, "%d,%.4f,%.4f,%d,%.3f\n", i+1, r.NormFloat64(), r.NormFloat64(), r.IntN(50), r.NormFloat64())
				}
			}},
		{name: "rates of hotels", target: "rate", modes: []string{"hotel", "time=yearweek(arrival)"}, duplicates: "keep", covariates: []string{"lead_days", "guests"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("hotel,arrival,lead_days,guests,rate\n")
				for range 3000 {
					fmt.Fprintf(w, "H%d,%s,%d,%d,%d\n", r.IntN(25), day(r.IntN(365)).Format(time.DateOnly), r.IntN(200), 1+r.IntN(4), 60+r.IntN(300))
				}
			}},
		{name: "prices of stones and per carat", target: "totalprice", modes: []string{"colour", "clarity"}, duplicates: "keep", covariates: []string{"carat", "depth"}, leftOut: map[string]string{"price_per_ct": "as a product"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("carat,colour,clarity,depth,price_per_ct,totalprice\n")
				for range 1500 {
					carat, price := 0.3+float64(r.IntN(200))/100, 2000+r.IntN(9000)
					fmt.Fprintf(w, "%.2f,c%d,q%d,%.1f,%d,%.1f\n", carat, r.IntN(6), r.IntN(8), 55+15*r.Float64(), price, carat*float64(price))
				}
			}},
		{name: "weights of freight", target: "cost", modes: []string{"origin", "destination"}, duplicates: "keep", covariates: []string{"carrier", "weight", "distance"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("origin,destination,carrier,weight,distance,cost\n")
				for range 3000 {
					fmt.Fprintf(w, "o%d,d%d,c%d,%d,%d,%.2f\n", r.IntN(20), r.IntN(20), r.IntN(6), 5+r.IntN(2000), 50+r.IntN(900), 90*r.Float64())
				}
			}},
		{name: "defects beside speeds", target: "defects", modes: []string{"plant", "line", "shift", "time=date"}, duplicates: "sum", describing: []string{"speed"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("plant,line,shift,date,speed,defects\n")
				for range 3000 {
					fmt.Fprintf(w, "P%d,L%d,%d,%s,%.2f,%d\n", r.IntN(4), r.IntN(6), 1+r.IntN(3), day(r.IntN(200)).Format(time.DateOnly), 90*r.Float64(), r.IntN(9))
				}
			}},
		{name: "a panel with a few repeated cells and facts", target: "units", modes: []string{"shop", "item", "time=day"}, duplicates: "sum", describing: []string{"price", "promo", "stock", "staff"}, leftOut: map[string]string{"price": "covariates", "promo": "covariates", "stock": "covariates"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,item,day,price,promo,stock,staff,units\n")
				for i := range 6*7*60 + 40 {
					i %= 6 * 7 * 60
					fmt.Fprintf(w, "s%d,i%d,%s,%.2f,%d,%.1f,%d,%d\n", i%6, i/6%7, day(i/42).Format(time.DateOnly), 1+9*r.Float64(), r.IntN(2), 100*r.Float64(), r.IntN(9), r.IntN(50))
				}
			}},
		{name: "series that begin and end at different times", describing: []string{"lat", "long", "depth", "core"}, target: "diameter", modes: []string{"name", "time"}, leftOut: map[string]string{"lat": "covariates"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("name,time,lat,long,depth,core,diameter\n")
				for i := range 40 * 30 {
					fmt.Fprintf(w, "storm %d,%s,%.1f,%.1f,%.1f,%.1f,%.1f\n", i/30, day(0).Add(time.Duration(i/30*20+i%30)*6*time.Hour).Format(time.DateTime), 90*r.Float64(), 90*r.Float64(), 9*r.Float64(), 9*r.Float64(), 50*r.Float64())
				}
			}},
		{name: "sensors whose clocks jitter", describing: []string{"humidity"}, target: "temperature", modes: []string{"sensor", "time=near10min(at)"}, leftOut: map[string]string{"humidity": "covariates"}, notes: []string{"about 10 minutes apart"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("sensor,at,humidity,temperature\n")
				for i := range 4 * 300 {
					at := day(0).Add(time.Duration(i/4)*10*time.Minute + time.Duration(r.IntN(13)-6)*time.Second)
					fmt.Fprintf(w, "s%d,%s,%.1f,%.2f\n", i%4, at.Format(time.DateTime), 50+r.Float64(), 20+3*math.Sin(float64(i)/200)+r.Float64())
				}
			}},
		{name: "readings a little after the middle of a period", target: "power", modes: []string{"time=date30min(time)"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("time,power\n")
				for i := range 500 {
					fmt.Fprintf(w, "%s,%.2f\n", day(0).Add(time.Duration(i)*30*time.Minute+time.Duration(880+r.IntN(40))*time.Second).Format(time.DateTime), r.Float64())
				}
			}},
		{name: "date and clock with AM and PM in two columns", target: "load", modes: []string{"station", "time=Date+Time"}, notes: []string{"the date and the hour of one time"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Date,Time,station,load\n")
				for i := range 3 * 24 * 20 {
					at := day(0).Add(time.Duration(i/3) * time.Hour)
					fmt.Fprintf(w, "%s,%s,S%d,%.2f\n", at.Format(time.DateOnly), at.Format("3:04 PM"), i%3, 90*r.Float64())
				}
			}},
		{name: "date and clock in two columns", target: "load", modes: []string{"station", "time=date+time"}, notes: []string{"the date and the hour of one time"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("station,date,time,load\n")
				for i := range 3 * 24 * 30 {
					at := day(0).Add(time.Duration(i/3) * time.Hour)
					fmt.Fprintf(w, "st%d,%s,%s,%.1f\n", i%3, at.Format(time.DateOnly), at.Format("15:04:05"), 100*r.Float64())
				}
			}},
		{name: "date and hour in two columns", target: "load", modes: []string{"time=date+hour"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("date,hour,load\n")
				for i := range 24 * 30 {
					fmt.Fprintf(w, "%s,%d,%.1f\n", day(i/24).Format("02.01.2006"), 1+i%24, 100*r.Float64())
				}
			}},
		{name: "times of a spreadsheet", target: "load", modes: []string{"time=timestamp"}, notes: []string{"dates of a spreadsheet"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("timestamp,load\n")
				for i := range 24 * 30 {
					fmt.Fprintf(w, "%.6f,%.1f\n", 45292+float64(i)/24, 100*r.Float64())
				}
			}},
	}
}

// TestNumberedRowsAreRecords checks that claims with numbers of their own do not add up by cell, except for forecasts of their sums.
func TestNumberedRowsAreRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("claim,age,region,model,year,km,cover,amount\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "%d,%d,R%d,model %d,%d,%.1f,%s,%d\n", 10000+i, 18+r.IntN(70), r.IntN(12), r.IntN(30), 2015+r.IntN(6), 40*r.Float64(), []string{"part", "full"}[r.IntN(2)], 1+r.IntN(9000))
	}
	for _, future := range []bool{false, true} {
		g, err := tableio.GuessWith(tableio.Reader("t.csv", strings.NewReader(text.String())), tableio.Format{}, guess.Given{Future: future})
		if err != nil {
			t.Fatal(err)
		}
		rule, covariates := "keep", []string{"age", "km", "cover"}
		if future {
			rule, covariates = "sum", nil
		}
		if g.Target != "amount" || g.Duplicates != rule || !slices.Equal(g.Covariates, covariates) {
			t.Errorf("future %v: got target %q, duplicates %q, covariates %q; want amount, %q, %q", future, g.Target, g.Duplicates, g.Covariates, rule, covariates)
		}
	}
}
