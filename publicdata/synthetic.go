package publicdata

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/kernel-fried-tensor/kft/internal/parallel"

	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

// Synthetic generates a data set from a known truth.
type Synthetic struct {
	Shape   string  // one of Shapes
	Rows    int     // 0 means the default of the shape
	Scale   float64 // factor on the default number of rows if Rows is 0; 0 means 1
	Seed    uint64
	Threads int // less than 1 means one per CPU; does not affect the files
}

const truthFile = "truth.csv.gz"

// names holds the file and column names of a shape.
type names struct {
	rows, owners, items string // files; "" for none
	header, spec        string
	truth               string // header of the truth file
	firstYear           int
}

func (o Synthetic) names() names {
	const counts = "truth,noise_sd,q05,q50,q95,truth_log1p\n"
	switch o.Shape {
	case "movielens":
		return names{"ratings.csv.gz", "", "movies.csv", "userId,movieId,rating,timestamp\n", movielensSpec + movielensGenome, "truth,noise_sd,q05,q50,q95\n", 0}
	case "alcohol":
		return names{"sales_2015_2016.csv.gz", "stores.csv", "items.csv", "year,month,store,item,bottles\n", alcoholSpec, counts, 2015}
	}
	return names{"sales.csv.gz", "stores.csv", "articles.csv", "year,month,store,article,units\n", retailSpec, counts, 2017}
}

// Write writes the data set: the rows by owner, item and time; the side
// information of the ids; a specification; and truth.csv.gz. The truth has one
// line per row, with the mean and standard deviation of the distribution that the
// value was drawn from, and three of its quantiles. The report contains the scores
// of the truth itself, the best that a model can reach.
//
// Memory grows with the ids and the rows of a few owners.
func (o Synthetic) Write(ctx context.Context, to Folder) (*Report, error) {
	set, err := o.set()
	if err != nil {
		return nil, err
	}
	n := o.names()
	files := []string{n.rows, truthFile, n.items, specFile}
	if n.owners != "" {
		files = append(files, n.owners)
	}
	if set.Tags() > 0 {
		files = append(files, "genome.csv.gz")
	}
	if err := to.check(nil, files...); err != nil {
		return nil, err
	}
	var best attainable
	tagged := set.Tagged()
	err = to.write(files, func(w []io.Writer) error {
		if err := o.writeRows(ctx, set, n, w[0], w[1], &best); err != nil {
			return err
		}
		if err := o.writeItems(set, w[2]); err != nil {
			return err
		}
		if _, err := io.WriteString(w[3], n.spec); err != nil {
			return err
		}
		if n.owners != "" {
			header, columns := set.OwnerTable()
			return writeColumns(w[4], "store", set.OwnerID, header, columns)
		}
		return writeGenome(ctx, set, tagged, w[4])
	})
	if err != nil {
		return nil, err
	}
	report := &Report{Facts: best.facts(n.firstYear > 0)}
	about := func(file string, rows int, format string, args ...any) {
		report.Written = append(report.Written, OutputFile{filepath.Join(to.Path, file), rows, fmt.Sprintf(format, args...)})
	}
	about(n.rows, set.Shape.Rows, "%d x %d ids, %d times", set.Owners, set.Items, set.Times)
	about(truthFile, set.Shape.Rows, "distribution each row was drawn from")
	if n.owners != "" {
		about(n.owners, set.Owners, "side information of the stores")
	}
	about(n.items, set.Items, "side information of the items")
	if set.Tags() > 0 {
		about(files[4], len(tagged), "the relevance of %d tags", set.Tags())
	}
	about(specFile, 0, "a specification for kft fit")
	return report, nil
}

func (o Synthetic) set() (*synthetic.Set, error) {
	shape, err := synthetic.NewShape(o.Shape, o.Rows)
	if err == nil && o.Rows == 0 && o.Scale != 0 {
		shape, err = synthetic.NewShape(o.Shape, max(1, int(math.Round(o.Scale*float64(shape.Rows)))))
	}
	if err != nil {
		return nil, err
	}
	return synthetic.NewSet(shape, o.Seed)
}

// ownerRows is the text of the rows of one owner.
type ownerRows struct {
	rows, truth []byte
	best        attainable
}

// writeRows generates the rows of several owners in parallel and writes them in
// order, both files concurrently.
func (o Synthetic) writeRows(ctx context.Context, set *synthetic.Set, n names, rows, truth io.Writer, best *attainable) error {
	threads := o.Threads
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	blocks := make([]synthetic.Block, threads)
	const batchRows = 200_000 // approximate number of rows in memory
	made := make([]ownerRows, max(2*threads, batchRows*set.Owners/set.Shape.Rows))
	if _, err := io.WriteString(rows, n.header); err != nil {
		return err
	}
	if _, err := io.WriteString(truth, n.truth); err != nil {
		return err
	}
	for first := 0; first < set.Owners; first += len(made) {
		if err := ctx.Err(); err != nil {
			return err
		}
		some := made[:min(len(made), set.Owners-first)]
		parallel.For(threads, threads, func(t int) {
			for i := t; i < len(some); i += threads {
				set.Draw(first+i, &blocks[t])
				some[i].format(set, n, first+i, &blocks[t])
			}
		})
		var errs [2]error
		parallel.For(2, 2, func(file int) {
			if file == 0 {
				errs[0] = writeEach(rows, some, func(r *ownerRows) []byte { return r.rows })
			} else {
				errs[1] = writeEach(truth, some, func(r *ownerRows) []byte { return r.truth })
			}
		})
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		for i := range some {
			best.add(&some[i].best)
		}
	}
	return nil
}

func writeEach(w io.Writer, some []ownerRows, text func(r *ownerRows) []byte) error {
	for i := range some {
		if _, err := w.Write(text(&some[i])); err != nil {
			return err
		}
	}
	return nil
}

// format formats the rows of an owner.
func (r *ownerRows) format(set *synthetic.Set, n names, owner int, b *synthetic.Block) {
	const z95 = 1.6448536269514722
	r.rows, r.truth, r.best = r.rows[:0], r.truth[:0], attainable{}
	id := set.OwnerID(owner)
	for k, y := range b.Y {
		f := b.Field[k]
		if n.firstYear > 0 {
			r.rows = strconv.AppendInt(r.rows, int64(n.firstYear)+int64(b.Time[k])/12, 10)
			r.rows = append(r.rows, ',')
			r.rows = strconv.AppendInt(r.rows, int64(b.Time[k])%12+1, 10)
			r.rows = append(append(append(r.rows, ','), id...), ',')
			r.rows = append(append(r.rows, set.ItemID(int(b.Item[k]))...), ',')
			r.rows = strconv.AppendInt(r.rows, int64(y), 10)
		} else {
			r.rows = append(append(r.rows, id...), ',')
			r.rows = append(append(r.rows, set.ItemID(int(b.Item[k]))...), ',')
			r.rows = append(appendFixed(r.rows, y, 1), ',')
			r.rows = strconv.AppendInt(r.rows, ratingTime(owner, int(b.Item[k]), int(b.Time[k])), 10)
		}
		r.rows = append(r.rows, '\n')
		mean, sd, logMean := set.Distribution.Moments(f)
		low, median, high := set.Distribution.Value(f, -z95), set.Distribution.Value(f, 0), set.Distribution.Value(f, z95)
		for i, v := range [...]float64{mean, sd, low, median, high, logMean} {
			if i == 5 && n.firstYear == 0 {
				break
			}
			if i > 0 {
				r.truth = append(r.truth, ',')
			}
			digits := 4
			if i >= 2 && i <= 4 {
				digits = 1
			}
			r.truth = appendFixed(r.truth, v, digits)
		}
		r.truth = append(r.truth, '\n')
		r.best.row(y, mean, median, math.Log1p(y), logMean, y >= low && y <= high)
	}
}

// ratingTime distributes ratings over the days of twenty years by a fixed hash.
func ratingTime(owner, item, hour int) int64 {
	const start, days = 820454400, 7000 // 1 January 1996
	mixed := (uint64(owner)*0x9e3779b97f4a7c15 ^ uint64(item)*0xd1b54a32d192ed03) * 0x94d049bb133111eb
	return start + int64(mixed>>32%days)*86400 + int64(hour)*3600 + int64(mixed>>20%3600)
}

// appendFixed appends a non-negative number with a fixed number of decimals. It is
// much faster than strconv.
func appendFixed(dst []byte, v float64, digits int) []byte {
	power := int64(1)
	for range digits {
		power *= 10
	}
	n := int64(math.Round(v * float64(power)))
	dst = append(strconv.AppendInt(dst, n/power, 10), '.')
	for rest := n % power; power > 1; rest %= power {
		power /= 10
		dst = append(dst, byte('0'+rest/power))
	}
	return dst
}
