package model_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/spec"
)

// withGroups adds an effect of stores of the same area and month.
func withGroups(s spec.Spec) spec.Spec {
	s.Terms = append(s.Terms, "store.area*time")
	s.Side.Tables = []string{"store=stores:area:group"}
	s.Fill()
	return s
}

// A file whose groups do not fit its ids or its terms is refused.
func TestDamagedGroups(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	if _, err := fit(t, withGroups(newSpec("map"))).WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		damage func(f *modelfile.File)
		want   string // "" if the file is valid
	}{
		"unchanged": {func(*modelfile.File) {}, ""},
		"no groups": {func(f *modelfile.File) { delete(f.Meta, "groups/store") }, `the groups "store.area", which do not exist`},
		"other column": {func(f *modelfile.File) {
			f.Meta["groups/store"] = strings.ReplaceAll(f.Meta["groups/store"], "area", "size")
		}, `the groups "store.area", which do not exist`},
		"not JSON": {func(f *modelfile.File) { f.Meta["groups/store"] = "{" }, "cannot read its groups/store"},
		"no levels": {func(f *modelfile.File) {
			f.Tensors = slices.DeleteFunc(f.Tensors, func(t modelfile.Tensor) bool { return t.Name == "groups/store/0/of" })
		}, "groups/store/0/of"},
		"too few ids": {func(f *modelfile.File) {
			for i, t := range f.Tensors {
				if t.Name == "groups/store/0/of" {
					f.Tensors[i] = modelfile.NewTensor(t.Name, []int32{0, 1}, 2)
				}
			}
		}, "2 groups for 13 ids"},
		"other mode": {func(f *modelfile.File) {
			f.Meta["groups/store"] = strings.Replace(f.Meta["groups/store"], `"store"`, `"item"`, 1)
		}, "their table is"},
		"twice": {func(f *modelfile.File) {
			f.Meta["groups/store"] = strings.Replace(f.Meta["groups/store"], `"area"]`, `"area","area"]`, 1)
			for _, t := range slices.Clone(f.Tensors) {
				if name, is := strings.CutPrefix(t.Name, "groups/store/0/"); is {
					t.Name = "groups/store/1/" + name
					f.Tensors = append(f.Tensors, t)
				}
			}
		}, "is there twice"},
		"unknown level": {func(f *modelfile.File) {
			for i, t := range f.Tensors {
				if t.Name == "groups/store/0/of" {
					f.Tensors[i] = modelfile.NewTensor(t.Name, slices.Repeat([]int32{99}, 13), 13)
				}
			}
		}, "has the group 99"},
	} {
		f, err := modelfile.Decode(bytes.Clone(file.Bytes()), "model")
		if err != nil {
			t.Fatal(err)
		}
		test.damage(f)
		var damaged bytes.Buffer
		if _, err := f.WriteTo(&damaged); err != nil {
			t.Fatal(err)
		}
		switch _, err := model.Read(&damaged, "model"); {
		case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got error %v, want %q", name, err, test.want)
		}
	}
}
