package tableio

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// A gzip file may contain several streams, followed by zeros. Other trailing data is an
// error.
func TestDataAfterGzip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stream := func(name, text string) string {
		path := filepath.Join(dir, name)
		datasettest.WriteGzip(t, path, text)
		packed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(packed)
	}
	first, second := stream("a", "id,y\na,1\n"), stream("b", "b,2\n")
	for _, c := range []struct {
		text string
		rows int
		want string // error
	}{
		{text: first + second, rows: 2},
		{text: first + second + strings.Repeat("\x00", 600), rows: 2},
		{text: first + "xy", want: "data other than gzip follows the end of the gzip data; copy or download it again"},
		{text: first + strings.Repeat("garbage ", 20), want: "data other than gzip follows the end of the gzip data; copy or download it again"},
		{text: first + second[:len(second)-3], want: "the gzip data ends too early: the file is truncated; copy or download it again"},
		// A zstd frame whose header asks for a window of 2 GiB.
		{text: "\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", want: "the zstd data requires a window above 512 MiB, which this program does not allocate; compress it again with a window of at most 2^29 bytes"},
		{text: first + second[:5], want: "the gzip data ends too early: the file is truncated; copy or download it again"},
	} {
		path := datasettest.WriteFile(t, filepath.Join(dir, "t.csv.gz"), c.text)
		table, err := Read(context.Background(), Files(path), dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")}, Format{}, 2)
		switch {
		case c.want == "" && (err != nil || table.Len() != c.rows):
			t.Errorf("%q: got error %v, want %d rows", c.text, err, c.rows)
		case c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)):
			t.Errorf("%q: got error %v, want %s", c.text, err, c.want)
		}
	}
}
