package modelfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLayout checks a file against the rules of the layout without using the
// decoder of the package.
func TestLayout(t *testing.T) {
	data := mustEncode(t, sample())
	length := int(binary.LittleEndian.Uint64(data))
	if (8+length)%64 != 0 {
		t.Errorf("the data start at %d, want a multiple of 64", 8+length)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data[8:8+length], &raw); err != nil {
		t.Fatal(err)
	}
	var meta map[string]string
	if err := json.Unmarshal(raw["__metadata__"], &meta); err != nil {
		t.Fatal(err)
	}
	delete(raw, "__metadata__")
	if meta["format"] != "kft" || meta["format_version"] != "1" || meta["spec"] != sample().Meta["spec"] {
		t.Errorf("got metadata %q", meta)
	}
	type tensor struct {
		name    string
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets []int  `json:"data_offsets"`
	}
	var tensors []tensor
	for name, text := range raw {
		x := tensor{name: name}
		if err := json.Unmarshal(text, &x); err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, x)
	}
	slices.SortFunc(tensors, func(a, b tensor) int {
		return slices.Compare(a.Offsets, b.Offsets)
	})
	end := 0
	for _, x := range tensors {
		if x.Offsets[0] != end {
			t.Errorf("%s starts at %d, want %d, the end of the previous tensor", x.name, x.Offsets[0], end)
		}
		if x.Offsets[0]%64 != 0 && !strings.HasPrefix(x.name, "__padding__") {
			t.Errorf("%s starts at %d, want a multiple of 64", x.name, x.Offsets[0])
		}
		end = x.Offsets[1]
		size := map[string]int{"F32": 4, "F64": 8, "I32": 4, "I64": 8, "U8": 1}[x.DType]
		for _, d := range x.Shape {
			size *= d
		}
		if size != x.Offsets[1]-x.Offsets[0] {
			t.Errorf("%s: got %d bytes for %s %v, want %d", x.name, x.Offsets[1]-x.Offsets[0], x.DType, x.Shape, size)
		}
		if x.name == "codes" {
			at := 8 + length + x.Offsets[0]
			if got := int32(binary.LittleEndian.Uint32(data[at+8:])); got != math.MaxInt32 {
				t.Errorf("codes[2]: got %d, want %d", got, math.MaxInt32)
			}
		}
	}
	if 8+length+end != len(data) {
		t.Errorf("the tensors end at %d, want %d", 8+length+end, len(data))
	}
	last := tensors[len(tensors)-1]
	sum := sha256.Sum256(data[:len(data)-32])
	if last.name != "__sha256__" || last.Offsets[1]-last.Offsets[0] != 32 || !bytes.Equal(sum[:], data[len(data)-32:]) {
		t.Errorf("got last tensor %v, want the checksum", last)
	}
}

// pythonReader prints the metadata and all tensors of a safetensors file as read
// by Python's safetensors.
const pythonReader = `
import json, sys
from safetensors import deserialize, safe_open
path = sys.argv[1]
tensors = {}
for name, t in deserialize(open(path, "rb").read()):
    tensors[name] = [t["dtype"], list(t["shape"]), bytes(t["data"]).hex()]
with safe_open(path, framework="np") as f:
    meta = f.metadata()
    for name in f.keys():
        array = f.get_tensor(name)
        assert list(array.shape) == tensors[name][1] and array.tobytes().hex() == tensors[name][2], name
print(json.dumps({"meta": meta, "tensors": tensors}))
`

// TestPythonReads reads a file with Python's safetensors if that is installed.
// TestLayout checks the same rules without it.
func TestPythonReads(t *testing.T) {
	python := os.Getenv("KFT_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import safetensors, numpy").Run(); err != nil {
		t.Logf("%s with safetensors and numpy is not available (pip install safetensors numpy): %v; only TestLayout checks the layout", python, err)
		return
	}
	f := sample()
	path := filepath.Join(t.TempDir(), "m.kft")
	if err := Write(path, f); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(python, "-c", pythonReader, path)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("Python rejects the file: %v", err)
	}
	var got struct {
		Meta    map[string]string
		Tensors map[string][3]any
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range f.Meta {
		if got.Meta[key] != want {
			t.Errorf("metadata %q: got %q, want %q", key, got.Meta[key], want)
		}
	}
	for _, want := range f.Tensors {
		var raw []byte
		want.chunks(make([]byte, 64), func(b []byte) error { raw = append(raw, b...); return nil })
		x := got.Tensors[want.Name]
		if x[0] != want.DType() || fmt.Sprint(x[1]) != fmt.Sprint(want.Shape) || x[2] != hex.EncodeToString(raw) {
			t.Errorf("%s: got %v, want %s %v %x", want.Name, x, want.DType(), want.Shape, raw)
		}
	}
}
