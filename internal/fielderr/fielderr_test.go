package fielderr

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestPath(t *testing.T) {
	t.Parallel()
	field := Errorf("data.target", "column %q: %w", "units", io.ErrUnexpectedEOF)
	for _, test := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{io.EOF, ""},
		{field, "data.target"},
		{fmt.Errorf("sales.csv: %w", field), "data.target"},
	} {
		if got := Path(test.err); got != test.want {
			t.Errorf("Path(%v) = %q, want %q", test.err, got, test.want)
		}
	}
	if !errors.Is(field, io.ErrUnexpectedEOF) {
		t.Errorf("%v does not wrap its cause", field)
	}
	if got, want := field.Error(), `column "units": unexpected EOF`; got != want {
		t.Errorf("got message %q, want %q", got, want)
	}
}
