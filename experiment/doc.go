// Package experiment compares configurations on the same splits of a table. It fits
// every configuration on every split, tunes the ones that request it, and makes a
// table of means, standard deviations and paired differences.
//
// The results are a folder of small files, one per cell, so that other programs can
// add cells of their own:
//
//	splits/N.csv.gz       the part of each row, as kft split writes it; N from 1
//	tuning/CONFIG.json    a [Tuning]: the values that a search chose and its cost
//	cells/CONFIG.N.json   a [Cell]: one fit and its measures
//	experiment.json       a [Plan]: the order of the configurations and what is compared
//
// Finished work is not repeated unless its definition has changed. A run that is
// killed loses only the cell it was working on.
package experiment
