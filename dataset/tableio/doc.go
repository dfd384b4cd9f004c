// Package tableio reads and writes tables of any supported format: delimited text,
// plain or compressed, Parquet, Arrow, and columns in memory.
//
// Reading is a pipeline. One goroutine reads (and decompresses) chunks that end at
// record ends; workers split a chunk into fields and encode it column by column; the
// results are combined in the order of the input. The result does not depend on the
// number of threads or on the format.
//
// While a table is read, a few chunks of text are in memory besides the table. If the
// size of the input is unknown (standard input), the memory is doubled as rows arrive,
// so up to three times the size of the table may be in use for a moment.
package tableio
