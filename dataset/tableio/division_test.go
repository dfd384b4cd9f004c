package tableio

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// dividedTexts returns tables longer than the head in which the format is detected, with what makes
// it hard to find the border of a block.
func dividedTexts(r *rand.Rand) map[string]string {
	table := func(note func(i int) string) string {
		var b strings.Builder
		b.WriteString("id,note,y\n")
		for i := 0; b.Len() < 100<<10; i++ {
			fmt.Fprintf(&b, "i%d,%s,%d\n", i, note(i), r.IntN(1000))
		}
		return b.String()
	}
	quoted := func(i int) string {
		switch r.IntN(4) {
		case 0:
			return `"a ""b"", c` + strings.Repeat("\nmore, lines", r.IntN(4)) + `"`
		case 1:
			return `5" nails`
		case 2:
			return `"` + strings.Repeat("x\n", r.IntN(300)) + `"`
		}
		return "plain"
	}
	plain := table(func(i int) string { return strings.Repeat("x", i%40) })
	return map[string]string{
		"plain":       plain,
		"windows":     strings.ReplaceAll(plain, "\n", "\r\n"),
		"marked":      "\xef\xbb\xbf" + plain,
		"no newline":  strings.TrimSuffix(plain, "\n"),
		"quoted":      table(quoted),
		"long record": plain + `zz,"` + strings.Repeat("line\n", 5000) + "\",3\nlast,,4\n",
		"long line":   plain + `zz,` + strings.Repeat("x", 20000) + ",3\nlast,,4\n",
		"open quote":  plain + `zz,"` + strings.Repeat("line\n", 5000),
		"latin":       strings.Replace(plain, "i2900,", "i29\xe400,", 1),
		"latin head":  strings.Replace(plain, "i9,", "i\xe4,", 1),
		"blank lines": strings.ReplaceAll(plain, "00,", "\n\n0,"),
		"bad number":  plain + "zz,,word\n" + plain[10:],
		"few fields":  plain + "zz\n" + plain[10:],
		"repeated":    plain + "i7,,1\n",
	}
}

// A text whose blocks are read in any order gives what a stream of it gives, errors included.
func TestDividedText(t *testing.T) {
	t.Parallel()
	schema := dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")}
	for name, text := range dividedTexts(rand.New(rand.NewPCG(3, 1))) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := datasettest.WriteFile(t, "t.csv", text)
			for _, block := range []int{100, 999, 4096, 30000} {
				stream := pipeline{source: Reader(path, strings.NewReader(text)), schema: schema, threads: 1, block: block}
				want, wantErr := stream.readTable(context.Background())
				for _, threads := range []int{1, 2, 7} {
					file := pipeline{source: Concat(Files(path)), schema: schema, threads: threads, block: block}
					got, err := file.readTable(context.Background())
					if fmt.Sprint(err) != fmt.Sprint(wantErr) {
						t.Fatalf("block %d, threads %d: got error %v, want %v", block, threads, err, wantErr)
					}
					if err != nil {
						continue
					}
					sameTable(t, got, want)
					if got.Hash != want.Hash || got.Decoded != want.Decoded {
						t.Fatalf("block %d, threads %d: got another hash, or %d decoded lines instead of %d", block, threads, got.Decoded, want.Decoded)
					}
				}
			}
		})
	}
}

// Several inputs are numbered in their order, and a copy of the text is the text.
func TestDividedInputs(t *testing.T) {
	t.Parallel()
	texts := dividedTexts(rand.New(rand.NewPCG(3, 1)))
	first, second := texts["quoted"], strings.ReplaceAll(texts["plain"], "\ni", "\nj")
	paths := []string{datasettest.WriteFile(t, "a.csv", first), datasettest.WriteFile(t, "b.csv", second)}
	schema := dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")}
	stream := pipeline{source: Concat(Reader(paths[0], strings.NewReader(first)), Reader(paths[1], strings.NewReader(second))), schema: schema, threads: 1, block: 500}
	want, err := stream.readTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	got, err := (&pipeline{source: Files(paths...), schema: schema, threads: 5, block: 500}).readTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	sameTable(t, got, want)

	var out bytes.Buffer
	p := pipeline{source: Files(paths[0]), schema: schema, threads: 5, block: 500}
	err = p.rewrite(context.Background(), got.Dicts, &out, func(header []byte, _ byte) []byte { return header }, func(b *Batch, dst []byte) ([]byte, error) {
		for i := range b.Len() {
			dst = append(append(dst, b.line(i)...), '\n')
		}
		return dst, nil
	})
	if err != nil || out.String() != first {
		t.Errorf("got %d bytes of %d, error %v", out.Len(), len(first), err)
	}
}

// A cancelled context and a file that becomes shorter end the reading of a divided text.
func TestDividedTextStops(t *testing.T) {
	t.Parallel()
	text := dividedTexts(rand.New(rand.NewPCG(3, 1)))["plain"]
	path := datasettest.WriteFile(t, "t.csv", text)
	schema := dataset.Schema{Modes: datasettest.Modes(t, "id")}
	dicts := []*dataset.Dict{dataset.NewDict(nil)}
	visit := func(ctx context.Context, do func()) error {
		p := pipeline{source: Files(path), schema: schema, threads: 3, block: 200}
		batches := p.newBatches(dicts)
		return p.run(ctx, func(*openTable) error { return nil }, func(worker int, c *chunk) (any, error) {
			do()
			return nil, batches[worker].read(c)
		}, func(any) error { return nil })
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := visit(ctx, cancel); err != context.Canceled {
		t.Errorf("cancelled: got %v", err)
	}
	err := visit(context.Background(), func() {
		if err := os.Truncate(path, 70<<10); err != nil {
			t.Error(err)
		}
	})
	if err == nil || !strings.Contains(err.Error(), "unexpected EOF") || !strings.Contains(err.Error(), path) {
		t.Errorf("shorter file: got %v", err)
	}
}
