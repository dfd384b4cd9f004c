package publicdata

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"

	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

// Shapes lists the shapes of Synthetic.
func Shapes() []string { return synthetic.ShapeNames() }

// Synthetic says which set to make from a known truth.
type Synthetic struct {
	Shape   string  // one of Shapes
	Rows    int     // 0 for the shape's own
	Scale   float64 // of the shape's own rows, where Rows is 0; 0 is 1
	Seed    uint64
	Threads int // below 1 one a processor; the files are the same for any number
}

const truthFile = "truth.csv.gz"

// names is what a shape's files and columns are called.
type names struct {
	rows, owners, items string // files; "" where there is none
	header, spec        string
	truth               string // header of the truth
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

// Write writes the set: the rows, by owner, item and time; what is told of the ids;
// a specification; and truth.csv.gz, a line a row of the first file, with the mean
// and the standard deviation that its value was drawn with and three quantiles. The
// report holds what the truth itself reaches, the most that a model can.
//
// Memory is that of the ids and of a few owners' rows.
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
		report.Written = append(report.Written, Written{filepath.Join(to.Path, file), rows, fmt.Sprintf(format, args...)})
	}
	about(n.rows, set.Shape.Rows, "%d x %d ids, %d times", set.Owners, set.Items, set.Times)
	about(truthFile, set.Shape.Rows, "what each row was drawn from")
	if n.owners != "" {
		about(n.owners, set.Owners, "what is told of the stores")
	}
	about(n.items, set.Items, "what is told of the items")
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

// ownerRows is the text of the rows of an owner.
type ownerRows struct {
	rows, truth []byte
	best        attainable
}

// writeRows makes the rows of some owners at once and writes them in order, the two
// files at once.
func (o Synthetic) writeRows(ctx context.Context, set *synthetic.Set, n names, rows, truth io.Writer, best *attainable) error {
	threads := o.Threads
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	blocks := make([]synthetic.Block, threads)
	const together = 200_000 // rows in memory, about
	made := make([]ownerRows, max(2*threads, together*set.Owners/set.Shape.Rows))
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
		var wait sync.WaitGroup
		for t := range threads {
			wait.Go(func() {
				for i := t; i < len(some); i += threads {
					set.Draw(first+i, &blocks[t])
					some[i].format(set, n, first+i, &blocks[t])
				}
			})
		}
		wait.Wait()
		var errs [2]error
		wait.Go(func() { errs[0] = writeEach(rows, some, func(r *ownerRows) []byte { return r.rows }) })
		wait.Go(func() { errs[1] = writeEach(truth, some, func(r *ownerRows) []byte { return r.truth }) })
		wait.Wait()
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

// format writes the rows of an owner as text.
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
		mean, sd, logMean := set.Law.Moments(f)
		low, median, high := set.Law.Value(f, -z95), set.Law.Value(f, 0), set.Law.Value(f, z95)
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

// ratingTime spreads ratings over the days of twenty years, by a fixed scramble.
func ratingTime(owner, item, hour int) int64 {
	const start, days = 820454400, 7000 // 1 January 1996
	mixed := (uint64(owner)*0x9e3779b97f4a7c15 ^ uint64(item)*0xd1b54a32d192ed03) * 0x94d049bb133111eb
	return start + int64(mixed>>32%days)*86400 + int64(hour)*3600 + int64(mixed>>20%3600)
}

// appendFixed appends a number that is not negative with so many digits behind the
// point; much faster than strconv where there are millions.
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
