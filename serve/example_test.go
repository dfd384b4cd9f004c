package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/serve"
)

// A server is an http.Handler. Its Run method serves it on a listener, with limits.
func ExampleServer() {
	var stores, items []string
	var units []float64
	for i := range 400 {
		store, item := i%20, i*7%19
		stores, items = append(stores, fmt.Sprint("s", store)), append(items, fmt.Sprint("i", item))
		units = append(units, float64(20+store+2*item))
	}
	table, err := kft.Columns(kft.StringColumn("store", stores), kft.StringColumn("item", items), kft.FloatColumn("units", units))
	if err != nil {
		panic(err)
	}
	model, _, err := kft.Fit(context.Background(), kft.Spec{
		Data: kft.DataSpec{Target: "units", Modes: []string{"store", "item"}, Duplicates: "last"}, Terms: []string{"store", "item"}, Transform: "identity",
	}, table, kft.Options{})
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "kft")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "units.kft")
	if err := model.Save(path); err != nil {
		panic(err)
	}

	server, err := serve.New(serve.Options{Models: []serve.ModelFile{{Name: "units", Path: path}}})
	if err != nil {
		panic(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	response, err := http.Post(web.URL+"/predict", "application/json", strings.NewReader(`{"cells":[{"store":"s3","item":"i5"}]}`))
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	var answer struct{ Predictions []struct{ Mean float64 } }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		panic(err)
	}
	fmt.Printf("%.0f units\n", answer.Predictions[0].Mean)
	// Output: 33 units
}
