// Package delimited reads tables written as delimited text (CSV, TSV), plain or
// compressed.
//
// [Blocks] reads the text in blocks of whole records, and [Rows] splits a block into
// fields, 64 or 8 bytes at a time. A block that contains a quote, a blank line or an
// error takes a slower path that implements all the rules. Both paths give the same
// fields.
package delimited
