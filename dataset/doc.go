// Package dataset reads tables, delimited text as well as Parquet and Arrow, into
// integer-coded observations and splits them into train, valid and test parts.
//
// A table of P modes is a list of cells (i_1, ..., i_P) with a value y and
// perhaps a weight w. An id is a string; each mode has a dictionary that numbers
// its ids in the order in which they first appear in the input. That order, like
// every result of the package, does not depend on the number of threads.
//
// Memory: 4 bytes a mode and 4 for the value, 16 bytes an observation for three
// modes, plus the dictionaries and, while reading, a few blocks of text. Where the
// length of the input cannot be guessed (standard input), room is doubled as rows
// come, so that for a moment up to three times as much is held.
//
// Reading is a pipeline: one goroutine reads (and decompresses) blocks and cuts
// them at record ends, workers split a block into fields eight bytes at a time and
// encode it column by column, and results are put together in file order. A block
// that holds a quote, a blank line or an error takes a slower path that knows all
// the rules; both paths give the same fields. Of Parquet and Arrow files only the
// columns asked for are read, a page or a record batch at a time; a value of a
// dictionary is made into an id once. The same rows give the same observations
// whatever the format.
package dataset
