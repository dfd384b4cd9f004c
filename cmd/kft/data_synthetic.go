package main

import "github.com/kernel-fried-tensor/kft/publicdata"

// dataSynthetic generates tables whose true distribution is known.
type dataSynthetic struct {
	Shape string  `required:"" placeholder:"S" enum:"alcohol,movielens,retail" values:"alcohol,movielens,retail" help:"Shape of the tables: alcohol, movielens or retail."`
	Rows  int     `from:"1" placeholder:"N" help:"Number of rows (default: that of the shape)."`
	Scale float64 `above:"0" to:"100" placeholder:"X" help:"Number of rows as a multiple of the shape's own, as in 0.01 (default: 1). Cannot be combined with --rows."`
	Seed  uint64  `from:"1" default:"1" placeholder:"N" help:"Seed, 1 or more (default: 1)."`
	dataOutput
}

// Help is shown by kft data synthetic --help.
func (*dataSynthetic) Help() string {
	return `Generates tables of the sizes of the paper's data sets from a known distribution: a low-rank function of the side information plus noise. Some side columns have an effect, others have none. The file truth.csv.gz has the true mean, standard deviation and quantiles of each row. The command prints the scores of the true distribution, which no model can exceed except by chance.

    alcohol    1,507 stores x 4,563 items x 24 months, 3,028,076 rows of bottles, as from kft data iowa
    movielens  138,493 users x 10,370 movies x 24 hours, 11,880,265 ratings, 1,128 tags per movie
    retail     80 stores x 463,763 articles x 36 months, 42,490,633 rows of units

With fewer rows the number of ids shrinks with the square root, so the tables stay equally sparse; retail keeps at least 20 stores.

Example:

    kft data synthetic --shape alcohol --scale 0.01 -o small && cd small && kft fit`
}

// Run writes the tables.
func (c *dataSynthetic) Run(e *env) error {
	if c.Rows > 0 && c.Scale > 0 {
		return usagef("--rows and --scale both set the size; use one of them")
	}
	return c.write(e, publicdata.Synthetic{Shape: c.Shape, Rows: c.Rows, Scale: c.Scale, Seed: c.Seed, Threads: c.Threads}, "")
}
