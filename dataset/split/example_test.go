package split_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

func ExampleSpec_Apply() {
	modes, err := dataset.ParseModes("store,time=month")
	if err != nil {
		panic(err)
	}
	source := tableio.Reader("sales", strings.NewReader("month,store,bottles\n1,a,1\n2,a,2\n3,a,3\n10,a,4\n"))
	t, err := tableio.Read(context.Background(), source, dataset.Schema{Target: "bottles", Modes: modes}, tableio.Format{}, 0)
	if err != nil {
		panic(err)
	}
	spec, err := split.Parse("time:last=1")
	if err != nil {
		panic(err)
	}
	s, err := spec.Apply(t, 1)
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Parts)
	// Output: [train train valid test]
}
