package main

import "github.com/kernel-fried-tensor/kft/publicdata"

// dataSynthetic makes tables with known truth.
type dataSynthetic struct {
	Shape string  `required:"" placeholder:"S" enum:"alcohol,movielens,retail" values:"alcohol,movielens,retail" help:"alcohol, movielens or retail."`
	Rows  int     `placeholder:"N" help:"Rows to make (default: as many as the shape has)."`
	Scale float64 `placeholder:"X" help:"In place of --rows, a part of the shape's own: 0.01."`
	Seed  uint64  `default:"1" placeholder:"N" help:"Of the truth and the noise, 1 or more (default: 1)."`
	dataOutput
}

// Help is shown by kft data synthetic --help.
func (*dataSynthetic) Help() string {
	return `Makes tables of the sizes of the paper's data sets from a known truth, a low-rank field of what is told of the ids, and noise. Some columns drive it, others say nothing. Beside the tables stands truth.csv.gz with a line for each row: the mean and the standard deviation it was drawn with, and quantiles. What the truth reaches is printed: no model can do better but by luck.

    alcohol    1,507 stores x 4,563 items x 24 months, 3,028,076 rows of bottles, as from kft data iowa
    movielens  138,493 users x 26,744 movies x 24 hours, 20,000,263 ratings, 1,128 tags for 10,381 movies
    retail     500 stores x 5,000 articles x 48 months, 10,000,000 rows of units; the size of the paper's own is not public

With fewer rows there are fewer ids, by the square root, so that the tables are as sparse.

Example:

    kft data synthetic --shape alcohol --scale 0.01 -o small && cd small && kft fit`
}

// Run makes the tables.
func (c *dataSynthetic) Run(e *env) error {
	switch {
	case c.Seed == 0:
		return usagef("--seed: must be 1 or more")
	case c.Rows < 0:
		return usagef("--rows: must be 1 or more")
	case !(c.Scale >= 0 && c.Scale <= 100): // NaN too
		return usagef("--scale: must be above 0 and at most 100")
	case c.Rows > 0 && c.Scale > 0:
		return usagef("--rows and --scale both say how large; give one")
	}
	return c.make(e, publicdata.Synthetic{Shape: c.Shape, Rows: c.Rows, Scale: c.Scale, Seed: c.Seed, Threads: c.Threads}, "")
}
