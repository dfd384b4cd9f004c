package spec

import "github.com/kernel-fried-tensor/kft/internal/specfile"

// A Problem is one thing that is wrong with a specification: the Path of the field
// (terms[1], fit.solver), a Message and, for a field that was read from a file, the
// File, Line and Column.
type Problem = specfile.Problem

// Problems is everything that is wrong with a specification. Its message has one line
// per problem.
type Problems = specfile.Problems

func problemf(path, format string, args ...any) Problems {
	var ps Problems
	ps.Addf(path, format, args...)
	return ps
}

// index returns the path of element i of a list.
func index(path string, i int) string { return specfile.Index(path, i) }
