package guess_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// namedTables are tables in which the name of a column misleads, or its values do.
func namedTables() []guessTable {
	return []guessTable{
		{name: "numbered columns beside a share", target: "share", modes: []string{"group"}, duplicates: "keep", covariates: []string{"x1", "x2"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("x1,x2,group,share\n")
				for range 400 {
					fmt.Fprintf(w, "%.3f,%.3f,k%d,%.4f\n", r.NormFloat64(), r.NormFloat64(), r.IntN(3), r.Float64())
				}
			}},
		{name: "losses in money", target: "profit", numbers: dataset.NumberFormat{Decimal: '.', Thousands: ','}, modes: []string{"ward"}, duplicates: "keep", covariates: []string{"a"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("ward;a;profit\n")
				for range 400 {
					fmt.Fprintf(w, "w%d;%.3f;%s$%d,%03d\n", r.IntN(3), r.NormFloat64(), []string{"", "-"}[r.IntN(2)], 1+r.IntN(60), r.IntN(1000))
				}
			}},
		{name: "letters beside whole days", target: "days", modes: []string{"ward"}, duplicates: "keep", covariates: []string{"a", "b"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("ward,a,b,days\n")
				for range 400 {
					fmt.Fprintf(w, "w%d,%.3f,%.3f,%d\n", r.IntN(3), r.NormFloat64(), r.NormFloat64(), 1+r.IntN(60))
				}
			}},
		{name: "weights of animals", target: "weight", modes: []string{"plot", "species"}, duplicates: "keep", covariates: []string{"hindfoot_length", "sex"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("plot,species,hindfoot_length,weight,sex\n")
				for range 1500 {
					size := 10 + r.IntN(40)
					fmt.Fprintf(w, "P%d,S%d,%d,%d,%s\n", r.IntN(15), r.IntN(9), size, 3*size+r.IntN(40), []string{"F", "M"}[r.IntN(2)])
				}
			}},
		{name: "growth", target: "weight", modes: []string{"Time", "Chick"}, determined: map[string]string{"Diet": "Chick"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("weight,Time,Chick,Diet\n")
				for i := range 50 * 12 {
					fmt.Fprintf(w, "%d,%d,%d,%d\n", 35+2*(i%12)*(5+i/12%7)+r.IntN(20), 2*(i%12), 1+i/12, 1+i/12%4)
				}
			}},
		{name: "parts of the date of a sale", target: "price", modes: []string{"zone", "time=yr_sold+mo_sold"}, duplicates: "keep", covariates: []string{"yr_built", "area", "total_rooms", "baths"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("zone,price,yr_built,area,total_rooms,baths,mo_sold,yr_sold\n")
				for range 1500 {
					fmt.Fprintf(w, "z%d,%d,%d,%d,%d,%d,%d,%d\n", r.IntN(12), 9000+r.IntN(90000), 1900+r.IntN(100), 50+r.IntN(300), 2+r.IntN(20), 1+r.IntN(3), 1+r.IntN(12), 2006+r.IntN(5))
				}
			}},
		{name: "a flag says what happened", target: "churn", modes: []string{"contract", "gender"}, duplicates: "keep", covariates: []string{"tenure", "total_charges"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("contract,churn,gender,tenure,total_charges\n")
				for range 900 {
					fmt.Fprintf(w, "c%d,%s,%s,%d,%.2f\n", r.IntN(4), []string{"No", "Yes"}[r.IntN(2)], []string{"f", "m"}[r.IntN(2)], r.IntN(72), 900*r.Float64())
				}
			}},
		{name: "a flag says what happened, beside a price", target: "churn", modes: []string{"plan"}, duplicates: "keep", covariates: []string{"age", "monthly_fee"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("plan,age,monthly_fee,churn\n")
				for range 900 {
					fmt.Fprintf(w, "p%d,%d,%.2f,%s\n", r.IntN(4), 18+r.IntN(60), 90*r.Float64(), []string{"No", "Yes"}[r.IntN(2)])
				}
			}},
		{name: "an error of data entry", target: "units", modes: []string{"store", "time=month"},
			notes: []string{"the value 99999999 in line 402 of the target units is far from all others; if that is an error, correct it, leave the target empty or write NA"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,month,units\n")
				for i := range 1200 {
					fmt.Fprintf(w, "s%d,2022-%02d,%d\n", i/12, 1+i%12, map[bool]int{true: 99999999, false: 5 + r.IntN(40)}[i == 400])
				}
			}},
		{name: "a store that is far larger than the others", target: "units", modes: []string{"store", "time=month"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,month,units\n")
				for i := range 12000 {
					fmt.Fprintf(w, "s%d,2022-%02d,%d\n", i/12, 1+i%12, map[bool]int{true: 1e7, false: 1}[i/12 == 40]*(5+r.IntN(40)))
				}
			}},
		{name: "dates in digits with the day first", target: "units", modes: []string{"store", "time=day"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,day,units\n")
				for i := range 600 {
					fmt.Fprintf(w, "s%d,%s,%d\n", i%4, time.Date(2022, 1, 1+i/4, 0, 0, 0, 0, time.UTC).Format("02012006"), r.IntN(40))
				}
			}},
		{name: "thousands written as K", modes: []string{"store", "sales", "time=month"}, problem: "a number that is not an id (column sales has texts that are not numbers); name",
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,month,sales\n")
				for i := range 1200 {
					fmt.Fprintf(w, "s%d,2022-%02d,%s\n", i/12, 1+i%12, []string{fmt.Sprint(r.IntN(100)), fmt.Sprintf("%.1fK", 1+r.Float64())}[min(r.IntN(9), 1)])
				}
			}},
		{name: "an empty target", modes: []string{"store", "time=month"}, problem: "a number that is not an id (column units is empty); name",
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,month,units\n")
				for i := range 120 {
					fmt.Fprintf(w, "s%d,2022-%02d,NA\n", i/12, 1+i%12)
				}
			}},
		{name: "texts of several lines", target: "units", modes: []string{"store", "item", "time=month"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,item,month,comment,units\n")
				for i := range 1200 {
					fmt.Fprintf(w, "s%d,a%d,2022-%02d,\"call %d\nback\",%d\n", i%10, i/10%10, 1+i/100, r.IntN(90), r.IntN(40))
				}
			}},
		{name: "a few ids of several lines", target: "units", modes: []string{"store", "item", "time=month"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,item,month,units\n")
				for i := range 1200 {
					fmt.Fprintf(w, "\"s%d%s\",a%d,2022-%02d,%d\n", i%10, []string{"\nOld Town", "", "", "", ""}[i%5], i/10%10, 1+i/100, r.IntN(40))
				}
			}},
		{name: "prices in German", target: "Absatz", modes: []string{"Filiale", "Artikel", "time=Woche"}, describing: []string{"Preis"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Woche,Filiale,Artikel,Preis,Absatz\n")
				for i := range 1200 {
					fmt.Fprintf(w, "%s,f%d,a%d,%.2f,%d\n", day(7*(i/100)).Format("02.01.2006"), i%10, i/10%10, 1+r.Float64(), r.IntN(40))
				}
			}},
		{name: "appointments that were missed", target: "No-show", modes: []string{"clinic", "gender"}, duplicates: "keep", covariates: []string{"age"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("clinic,gender,age,No-show\n")
				for range 900 {
					fmt.Fprintf(w, "clinic %d,%s,%d,%s\n", r.IntN(20), []string{"F", "M"}[r.IntN(2)], r.IntN(90), []string{"Yes", "No", "No"}[r.IntN(3)])
				}
			}},
		{name: "a column of months called time", target: "value", modes: []string{"store", "time"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,time,value\n")
				for i := range 300 {
					fmt.Fprintf(w, "s%d,%s,%d\n", i/12, []string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}[i%12], r.IntN(90))
				}
			}},
		{name: "frequencies beside a flag", target: "Freq", modes: []string{"Class", "Sex", "Age", "Survived"}, notes: []string{"flag Survived is a mode"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Class,Sex,Age,Survived,Freq\n")
				for i := range 32 {
					fmt.Fprintf(w, "c%d,%s,%s,%s,%d\n", i%4, []string{"f", "m"}[i/4%2], []string{"Child", "Adult"}[i/8%2], []string{"No", "Yes"}[i/16], r.IntN(300))
				}
			}},
		{name: "a total is no more than its parts", target: "tip", modes: []string{"waiter"}, duplicates: "keep", covariates: []string{"total_bill", "pos_y", "size"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("total_bill,pos_y,waiter,size,tip\n")
				for range 300 {
					fmt.Fprintf(w, "%.2f,%.1f,w%d,%d,%.2f\n", 5+40*r.Float64(), 9*r.Float64(), r.IntN(4), 1+r.IntN(6), 1+5*r.Float64())
				}
			}},
		{name: "year and month in German", target: "Umsatz", modes: []string{"Filiale", "time=Jahr+Monat"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("Filiale;Jahr;Monat;Umsatz\n")
				for i := range 10 * 24 {
					fmt.Fprintf(w, "f%d;%d;%d;%d\n", i%10, 2022+i/120, 1+i/10%12, r.IntN(999))
				}
			}},
		{name: "a covariate only beside the target", target: "dose_after", modes: []string{"region", "status"}, duplicates: "keep", covariates: []string{"age", "dose_before"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("region,status,age,dose_before,dose_after\n")
				for range 900 {
					amounts := ","
					if r.IntN(4) == 0 {
						amounts = fmt.Sprintf("%.1f,%.1f", 30*r.Float64(), 30*r.Float64())
					}
					fmt.Fprintf(w, "r%d,s%d,%d,%s\n", r.IntN(8), r.IntN(5), 18+r.IntN(60), amounts)
				}
			}},
		{name: "a car's weight is a covariate", target: "mpg", modes: []string{"brand"}, duplicates: "keep", covariates: []string{"horsepower", "weight"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("brand,horsepower,weight,mpg\n")
				for range 900 {
					fmt.Fprintf(w, "B%d,%d,%d,%.1f\n", r.IntN(20), 50+r.IntN(150), 1600+r.IntN(3000), 10+30*r.Float64())
				}
			}},
		{name: "weights of a survey", target: "income", modes: []string{"region", "education", "sex"}, duplicates: "keep", covariates: []string{"age"}, leftOut: map[string]string{"weight": "a weight or an exposure"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("region,education,age,sex,weight,income\n")
				for range 1500 {
					fmt.Fprintf(w, "R%d,E%d,%d,%s,%.3f,%.2f\n", r.IntN(12), r.IntN(6), 18+r.IntN(70), []string{"F", "M"}[r.IntN(2)], 20+100*r.Float64(), 9000*r.Float64())
				}
			}},
		{name: "spare parts", target: "value", modes: []string{"plant", "machine", "part"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("plant,machine,part,value\n")
				for i := range 5 * 6 * 12 {
					fmt.Fprintf(w, "s%d,m%d,p%d,%.2f\n", i%5, i/5%6, i/30, 10*r.Float64())
				}
			}},
		{name: "parts of the rows", target: "units", modes: []string{"shop", "item"},
			leftOut: map[string]string{"split": "with the values train, valid, test and unused, split: column:split", "part": "; split: column:part uses it", "fold": "numbers folds"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,item,split,part,fold,units\n")
				for i := range 20 * 15 {
					fmt.Fprintf(w, "s%d,i%d,%s,%s,%d,%d\n", i%20, i/20, []string{"Train", "dev"}[r.IntN(2)], []string{"train", "validation"}[r.IntN(2)], r.IntN(5), r.IntN(50))
				}
			}},
		{name: "prices of houses", target: "price", modes: []string{"zipcode"}, duplicates: "keep", covariates: []string{"bedrooms", "bathrooms", "sqft", "yr_built"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("id,bedrooms,bathrooms,sqft,zipcode,yr_built,price\n")
				for range 2000 {
					fmt.Fprintf(w, "%d,%d,%.1f,%d,%d,%d,%d\n", r.IntN(1e9), 1+r.IntN(5), 1+float64(r.IntN(4))/2, 500+r.IntN(3500), 98000+r.IntN(70), 1900+r.IntN(115), 9e4+r.IntN(1e6))
				}
			}},
		{name: "sales and their price", describing: []string{"price"}, target: "sales", modes: []string{"shop", "item"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,item,sales,price\n")
				for i := range 20 * 15 {
					fmt.Fprintf(w, "s%d,i%d,%d,%.2f\n", i%20, i/20, r.IntN(50), 5*r.Float64())
				}
			}},
		{name: "the price of an item", target: "bookings", modes: []string{"shop", "item"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,item,bookings,price\n")
				for i := range 20 * 15 {
					fmt.Fprintf(w, "s%d,i%d,%.1f,%d\n", i%20, i/20, 50*r.Float64(), 100+i/20)
				}
			}},
		{name: "the index of a frame", target: "temp", modes: []string{"city", "time=month"}, leftOut: map[string]string{"c1": "it counts the rows"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString(",city,month,temp\n")
				for i := range 15 * 24 {
					fmt.Fprintf(w, "%d,c%d,%d-%02d,%.1f\n", i, i/24, 2020+i%24/12, 1+i%12, 20*r.NormFloat64())
				}
			}},
		{name: "ids of two programs", target: "units", modes: []string{"store", "item", "time=week"}, notes: []string{`column store has ids that are equal apart from leading zeros, as "1" and "01" (9 pairs of this kind)`},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,item,week,units\n")
				for i := range 9 * 8 * 20 {
					fmt.Fprintf(w, "%s%d,i%d,%s,%d\n", []string{"", "0"}[i/720], 1+i%9, i/9%8, day(7*(i/72)).Format("2006-01-02"), r.IntN(30))
				}
			}},
		{name: "dates in two formats", target: "y", modes: []string{"store", "time=date"}, notes: []string{"column date has dates in several formats, so one day can have several ids; the mode time=date(date)"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,date,y\n")
				for i := range 10 * 60 {
					fmt.Fprintf(w, "s%d,%s,%.2f\n", i%10, day(i/10).Format([]string{"2006-01-02", "01/02/2006"}[r.IntN(2)]), r.Float64())
				}
			}},
		{name: "dates in three formats, one with the name of the month", target: "y", modes: []string{"store", "date"}, notes: []string{`column date has times in several forms, as "2015-01-05" and "06/01/2015", so it is no time`},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("store,date,y\n")
				for i := range 10 * 60 {
					fmt.Fprintf(w, "s%d,%q,%.2f\n", i%10, day(i/10).Format([]string{"2006-01-02", "02/01/2006", "Jan 2, 2006"}[i/10%3]), r.Float64())
				}
			}},
		{name: "grades of schools", target: "pass_rate", modes: []string{"school", "grade", "year"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("school,grade,year,pass_rate\n")
				for i := range 30 * 8 * 10 {
					if r.Float64() < 0.7 {
						fmt.Fprintf(w, "school%d,%d,%d,%.1f\n", i/80, 1+i/10%8, 2010+i%10, 80+5*r.NormFloat64())
					}
				}
			}},
		{name: "grades of students", target: "grade", modes: []string{"student", "course"}, describing: []string{"pass_rate"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("student,course,grade,pass_rate\n")
				for i := range 80 * 12 {
					if r.Float64() < 0.7 {
						fmt.Fprintf(w, "student%d,course%d,%d,%.1f\n", i/12, i%12, 1+r.IntN(6), 80+5*r.NormFloat64())
					}
				}
			}},
		{name: "a constant", modes: []string{"a", "b"}, problem: "column units is constant, 3 in every row",
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("a,b,units\n")
				for i := range 100 {
					fmt.Fprintf(w, "x%d,y%d,3\n", i%10, i/10)
				}
			}},
		spoiledTarget("NaN"), spoiledTarget("-"), spoiledTarget("#REF!"),
	}
}

// spoiledTarget is a table with a text in every third row of the target.
func spoiledTarget(text string) guessTable {
	return guessTable{name: "a target with " + text, modes: []string{"store", "item"},
		problem: fmt.Sprintf("column y, line 4: %q is not a number (100 values of this kind)); leave the target empty or write NA where it is missing, or name", text),
		text: func(w *strings.Builder, r *rand.Rand) {
			w.WriteString("store,item,y\n")
			for i := range 20 * 15 {
				y := fmt.Sprintf("%.4f", r.Float64())
				if i%3 == 2 {
					y = text
				}
				fmt.Fprintf(w, "s%d,i%d,%s\n", i%20, i/20, y)
			}
		}}
}

func TestSaysThatTableIsWide(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("product,2020-01,2020-02,2020-03,2020-04,2020-05,2020-06\n")
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		fmt.Fprintf(&text, "p%d,%d,%d,%d,%d,%d,%d\n", i, r.IntN(20), r.IntN(20), r.IntN(20), r.IntN(20), r.IntN(20), r.IntN(20))
	}
	g, err := tableio.GuessWith(tableio.Reader("t.csv", strings.NewReader(text.String())), tableio.Format{}, guess.Given{Target: "2020-06"})
	if err != nil || g.Target != "2020-06" {
		t.Fatalf("got %+v, %v", g, err)
	}
	want := `the table is wide: 6 columns, 2020-01 to 2020-06, hold one quantity, and a row is not a single value; bring it into long form first, one row per value, as .melt(id_vars=["product"], var_name="time")`
	if !strings.Contains(strings.Join(g.Notes, "\n"), want) {
		t.Errorf("no note contains %q: %q", want, g.Notes)
	}
}

// The years of a table with one column per year are the names of its columns.
func TestSaysThatTableOfYearsIsWide(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("country,2001,2002,2003,2004,2005,2006\n")
	for i := range 60 {
		fmt.Fprintf(&text, "p%d,%d,%d,,%d,%d,%d\n", i, i*7%20, i*11%19, i*13%23, i%5, i*3%17)
	}
	g, err := tableio.GuessWith(tableio.Reader("t.csv", strings.NewReader(text.String())), tableio.Format{}, guess.Given{})
	if err == nil || g.Wide == nil || len(g.Wide.IDs) != 1 || g.Wide.First != "2001" || g.Wide.Last != "2006" || g.Wide.Count != 6 {
		t.Errorf("got %+v, %v", g.Wide, err)
	}
}

// A price with its unit is the target of a table of things, as one without it is.
func TestPricesWithUnits(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"price", "Price €", "Price (EUR)", "price_usd", "PriceUSD", "Price per night", "Cost ($)"} {
		var text strings.Builder
		fmt.Fprintf(&text, "area,rooms,city,%s\n", name)
		for i := range 200 {
			fmt.Fprintf(&text, "%d.5,%d,%s,%d\n", 40+(i*37)%150, 1+i%6, []string{"Bonn", "Bern", "Lyon"}[i*7%3], 1000+(i*7919)%5000)
		}
		g, err := tableio.GuessColumns(tableio.Reader("t.csv", strings.NewReader(text.String())), tableio.Format{})
		if err != nil || g.Target != name {
			t.Errorf("%s: got target %q, %v", name, g.Target, err)
		}
	}
}
