package main

import "github.com/kernel-fried-tensor/kft/publicdata"

// dataMovieLens converts a download to tables.
type dataMovieLens struct {
	Source string `arg:"" name:"folder" complete:"dir" help:"Unpacked MovieLens download: latest-small, 20M, 25M, 32M, 1M or 100K."`
	dataOutput
}

// Help is shown by kft data movielens --help.
func (*dataMovieLens) Help() string {
	return `Writes ratings.csv.gz, movies.csv (with the year of the title) and a kft.yaml for kft fit. If the download has tag genome scores, it also writes genome.csv.gz, with one row per movie and one column per tag.

Example:

    kft data movielens ml-20m -o data/movielens`
}

// Run writes the tables.
func (c *dataMovieLens) Run(e *env) error {
	return c.write(e, publicdata.MovieLens{Source: c.Source, Threads: c.Threads},
		"The specifications examples/movielens-*.yaml are examples for these tables.\n")
}
