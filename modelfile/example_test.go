package modelfile_test

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/modelfile"
)

func Example() {
	f := &modelfile.File{
		Meta:    map[string]string{"spec": `{"version":1}`},
		Tensors: modelfile.StringTensors("ids/store", []string{"x904631", "2106"}),
	}
	f.Tensors = append(f.Tensors, modelfile.NewTensor("core/store", []float32{1, 2, 3, 4}, 2, 1, 2))
	data, err := modelfile.Encode(f)
	if err != nil {
		fmt.Println(err)
		return
	}

	back, err := modelfile.Decode(data, "m.kft")
	if err != nil {
		fmt.Println(err)
		return
	}
	ids, err := back.Strings("ids/store")
	fmt.Println(ids, err)
	core, err := modelfile.Values[float32](back, "core/store", len(ids), 1, -1)
	fmt.Println(core, err)

	data[len(data)-1] ^= 1
	_, err = modelfile.Decode(data, "m.kft")
	fmt.Println(err)
	// Output:
	// [x904631 2106] <nil>
	// [1 2 3 4] <nil>
	// m.kft: checksum mismatch: the content was changed; copy the file or fit the model again
}
