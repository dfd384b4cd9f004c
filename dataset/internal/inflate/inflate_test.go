package inflate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

var codecs = []Codec{None, Snappy, Gzip, Brotli, Zstd, LZ4Block, LZ4Hadoop, LZ4Frame}

func compress(t testing.TB, codec Codec, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	write := func(w io.WriteCloser) []byte {
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	switch codec {
	case Snappy:
		return snappy.Encode(nil, data)
	case Gzip:
		return write(gzip.NewWriter(&out))
	case Brotli:
		return write(brotli.NewWriter(&out))
	case Zstd:
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return w.EncodeAll(data, nil)
	case LZ4Block:
		return lz4Block(t, data)
	case LZ4Hadoop:
		var framed []byte
		for part := range slices.Chunk(data, 1000) {
			block := lz4Block(t, part)
			framed = binary.BigEndian.AppendUint32(framed, uint32(len(part)))
			framed = binary.BigEndian.AppendUint32(framed, uint32(len(block)))
			framed = append(framed, block...)
		}
		return framed
	case LZ4Frame:
		return write(lz4.NewWriter(&out))
	}
	return data
}

func lz4Block(t testing.TB, data []byte) []byte {
	t.Helper()
	dst := make([]byte, lz4.CompressBlockBound(len(data)))
	n, err := lz4.CompressBlock(data, dst, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dst[:n]
}

func samples() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 0))
	random := make([]byte, 5000)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	mixed := bytes.Repeat([]byte("abcdefgh"), 500)
	for i := 0; i < len(mixed); i += 37 {
		mixed[i] = byte(r.Uint32())
	}
	return map[string][]byte{
		"empty": {}, "one": {7}, "random": random, "mixed": mixed, "zeros": make([]byte, 200000), "text": bytes.Repeat([]byte("store 12,item 9\n"), 999),
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	for _, codec := range codecs {
		var d Decoder
		for name, data := range samples() {
			if codec == LZ4Hadoop && name == "empty" {
				continue // there is nothing to frame
			}
			packed := compress(t, codec, data)
			got, err := d.Append([]byte("before"), codec, packed, len(data))
			if err != nil {
				t.Errorf("codec %d, %s: %v", codec, name, err)
				continue
			}
			if !bytes.Equal(got, append([]byte("before"), data...)) {
				t.Errorf("codec %d, %s: the content differs", codec, name)
			}
			for _, wrong := range []int{len(data) - 1, len(data) + 1, 2*len(data) + 1, 1 << 30} {
				if _, err := d.Append(nil, codec, packed, wrong); err == nil {
					t.Errorf("codec %d, %s: %d bytes are read as %d", codec, name, len(data), wrong)
				}
			}
		}
	}
}

// TestMemory states sizes of gigabytes for a few bytes.
func TestMemory(t *testing.T) {
	for _, codec := range codecs {
		var d Decoder
		packed := compress(t, codec, make([]byte, 100000))
		if _, err := d.Append(nil, codec, packed, 100000); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := d.Append(nil, codec, packed, 1<<31); err == nil {
			t.Errorf("codec %d: no error", codec)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
			t.Errorf("codec %d: a false size allocates %d MB", codec, took>>20)
		}
	}
}

// TestDamage flips bits. Whatever is read must have the stated size.
func TestDamage(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 0))
	for _, codec := range codecs {
		var d Decoder
		for name, data := range samples() {
			packed := compress(t, codec, data)
			if len(packed) == 0 {
				continue
			}
			for range 100 {
				bad := slices.Clone(packed)
				bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
				got, err := d.Append(nil, codec, bad, len(data))
				if err == nil && len(got) != len(data) {
					t.Errorf("codec %d, %s: got %d bytes, want %d", codec, name, len(got), len(data))
				}
			}
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	data := samples()["text"]
	for _, codec := range codecs {
		b.Run(fmt.Sprint(codec), func(b *testing.B) {
			var d Decoder
			packed := compress(b, codec, data)
			b.SetBytes(int64(len(data)))
			var out []byte
			for b.Loop() {
				out, _ = d.Append(out[:0], codec, packed, len(data))
			}
		})
	}
}

// A decoder reads the next block after one whose content is not what the file states.
func TestAfterDamage(t *testing.T) {
	t.Parallel()
	good := bytes.Repeat([]byte("store 12,"), 100)
	for _, codec := range codecs {
		packed := compress(t, codec, good)
		for _, wrong := range [][]byte{packed, packed[:len(packed)-len(packed)/3]} {
			for _, size := range []int{1, len(good) / 2, len(good) + 1} {
				var d Decoder
				for range 2 {
					if _, err := d.Append(nil, codec, wrong, size); err == nil {
						t.Errorf("codec %d: %d bytes were read as %d", codec, len(good), size)
					}
					if got, err := d.Append(nil, codec, packed, len(good)); err != nil || !bytes.Equal(got, good) {
						t.Errorf("codec %d: %v after a block of another size than %d", codec, err, size)
					}
				}
			}
		}
	}
}
