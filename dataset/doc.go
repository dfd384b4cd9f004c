// Package dataset holds tables in memory: integer-coded observations, the meaning of
// their columns, and tables that describe entities.
//
// A table of P modes is a list of cells (i_1, ..., i_P), each with a value y and an
// optional weight w. An id is a string. Each mode has a dictionary that numbers its
// ids in the order in which they first appear in the input. That order, like every
// result, does not depend on the number of threads.
//
// A [Table] takes 4 bytes per mode and 4 bytes for the value: 16 bytes per
// observation for three modes, plus the dictionaries.
//
// The sub-packages read and write tables: delimited reads CSV and TSV, columnar
// reads and writes Parquet and Arrow, tableio opens sources of any format (files,
// readers, [Columns] in memory), and split assigns observations to a training,
// validation and test set. The same rows give the same observations in every format.
// Package guess infers what the columns of an unknown table mean.
package dataset
