package tableio

import (
	"io"
	"os"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// Format specifies how to read a source. The zero value detects everything.
type Format struct {
	Delimiter byte             // of text; 0 detects comma, semicolon, tab or bar
	Header    delimited.Header // of text
	Stdin     io.Reader        // read for the path "-"; nil is the standard input of the process

	// LongDelimiter is a delimiter of several characters, as in a::b, instead of Delimiter.
	LongDelimiter string

	// Numbers is how targets, weights and exposures are written; the zero value is plain
	// numbers, as 1234.5.
	Numbers dataset.NumberFormat

	// Peers are processes that read the same files at the same time, so that each of them reads a
	// part for all; nil for none.
	Peers peers.Group

	// Share makes VisitBatches visit the chunks of this process only; nil for all of them.
	Share Share
}

func (f Format) text() delimited.Format {
	return delimited.Format{Delimiter: f.Delimiter, Header: f.Header, Long: f.LongDelimiter}
}

// SetDelimiter sets the delimiter that a text names: auto, comma, tab, semicolon, bar,
// space, one character, or several characters such as ::.
func (f *Format) SetDelimiter(s string) error {
	var text delimited.Format
	if err := text.SetDelimiter(s); err != nil {
		return err
	}
	f.Delimiter, f.LongDelimiter = text.Delimiter, text.Long
	return nil
}

func (f Format) stdin() io.Reader {
	if f.Stdin == nil {
		return os.Stdin
	}
	return f.Stdin
}
