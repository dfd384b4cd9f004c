package guess_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// layoutTables are tables that are wide, have several rows per cell or other layouts.
func layoutTables() []guessTable {
	cities := []string{"Ames", "Boone", "Clive"}
	return []guessTable{
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
		{name: "wide with a total", problem: `drop(columns=["Total"]).melt(id_vars=["region"], var_name="time")`,
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("region,2021,2022,2023,2024,2025,Total\n")
				for i := range 60 {
					fmt.Fprintf(w, "r%d", i)
					total := 0
					for range 5 {
						n := r.IntN(30)
						total += n
						fmt.Fprintf(w, ",%d", n)
					}
					fmt.Fprintf(w, ",%d\n", total)
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
