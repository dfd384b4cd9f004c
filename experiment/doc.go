// Package experiment compares configurations on the same splits of a table:
// configurations x splits, each tuned where that is asked for, and a table of
// means, standard deviations and paired differences.
//
// The results are a folder of small files, one a cell, so that other programs can
// add rows of their own:
//
//	splits/N.csv.gz       the part of each row, as kft split writes it; N from 1
//	tuning/CONFIG.json    a Tuning: what a search chose and cost
//	cells/CONFIG.N.json   a Cell: one fit and its measures
//	experiment.json       a Plan: the order of configurations and what is compared
//
// What was finished is never done again, unless its definition has changed: a
// killed run loses the cell it worked on.
package experiment
