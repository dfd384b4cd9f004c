package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// A client knows nothing but the OpenAPI document: paths, parameters, examples, schemas.
type client struct {
	t        *testing.T
	s        *Server
	document map[string]any
}

func newClient(t *testing.T, s *Server) *client {
	t.Helper()
	return &client{t, s, answer[map[string]any](t, s, "GET", "/openapi.json", "")}
}

// find follows a path of keys in the document.
func find(value any, keys ...string) any {
	for _, key := range keys {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

// check reports where a value does not have a schema. It knows the keywords that the
// document uses, and fails for others.
func (c *client) check(path string, schema, value any) {
	c.t.Helper()
	object, ok := schema.(map[string]any)
	if !ok {
		c.t.Fatalf("%s: the schema is %T", path, schema)
	}
	if ref, is := object["$ref"].(string); is {
		c.check(path, find(c.document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), value)
		return
	}
	for keyword := range object {
		if !slices.Contains([]string{"type", "properties", "required", "additionalProperties", "items", "description", "enum", "format", "minimum", "maximum"}, keyword) {
			c.t.Errorf("%s: unknown keyword %s", path, keyword)
		}
	}
	if types := object["type"]; types != nil && !hasType(types, value) {
		c.t.Errorf("%s: %v is not of type %v", path, value, types)
		return
	}
	if enum, is := object["enum"].([]any); is && !slices.Contains(enum, value) {
		c.t.Errorf("%s: %v is not one of %v", path, value, enum)
	}
	switch v := value.(type) {
	case map[string]any:
		properties, _ := object["properties"].(map[string]any)
		required, _ := object["required"].([]any)
		for _, name := range required {
			if _, there := v[name.(string)]; !there {
				c.t.Errorf("%s: %v is missing", path, name)
			}
		}
		for name, item := range v {
			if p, there := properties[name]; there {
				c.check(path+"."+name, p, item)
			} else if more, is := object["additionalProperties"].(map[string]any); is {
				c.check(path+"."+name, more, item)
			} else if object["additionalProperties"] == false {
				c.t.Errorf("%s: %s is not in the schema", path, name)
			}
		}
	case []any:
		if object["items"] != nil {
			for i, item := range v {
				c.check(fmt.Sprintf("%s[%d]", path, i), object["items"], item)
			}
		}
	}
}

func hasType(types, value any) bool {
	if several, is := types.([]any); is {
		return slices.ContainsFunc(several, func(one any) bool { return hasType(one, value) })
	}
	switch v := value.(type) {
	case map[string]any:
		return types == "object"
	case []any:
		return types == "array"
	case string:
		return types == "string"
	case bool:
		return types == "boolean"
	case float64:
		return types == "number" || types == "integer" && v == math.Trunc(v)
	}
	return value == nil && types == "null"
}

// call sends the example of an operation, or the given body, and checks the response.
func (c *client) call(method, path string, operation any, url, body string) any {
	c.t.Helper()
	w := ask(c.t, c.s, strings.ToUpper(method), url, body)
	status := fmt.Sprint(w.Code)
	response := find(operation, "responses", status)
	if response == nil {
		response = find(operation, "responses", "default")
	}
	return c.checkResponse(method+" "+path, response, w)
}

func (c *client) checkResponse(name string, response any, w *httptest.ResponseRecorder) any {
	c.t.Helper()
	media, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	schema := find(response, "content", media, "schema")
	if schema == nil {
		c.t.Errorf("%s: the document has no response of type %s", name, media)
		return nil
	}
	var value any = w.Body.String()
	if media == jsonType {
		if err := json.Unmarshal(w.Body.Bytes(), &value); err != nil {
			c.t.Errorf("%s: %v", name, err)
		}
	}
	c.check(name, schema, value)
	return value
}

// TestClient calls every operation of the document with its examples, in order to check
// that a client that was written from the document alone works.
func TestClient(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *Options) {
		o.Explain = fakeExplain
		o.Models[0].History = []string{writeTable(t)}
	})
	c := newClient(t, s)
	models := c.call("get", "/models", find(c.document, "paths", "/models", "get"), "/models", "").(map[string]any)["models"].([]any)
	model := models[0].(map[string]any)
	values := map[string]string{"{model}": model["model"].(string), "{version}": model["version"].(string)}
	paths := find(c.document, "paths").(map[string]any)
	operations := 0
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for method, operation := range paths[path].(map[string]any) {
			url := path
			for name, value := range values {
				url = strings.ReplaceAll(url, name, value)
			}
			switch path {
			case "/models/{model}/ids":
				url += "?mode=" + model["modes"].([]any)[0].(map[string]any)["mode"].(string)
			case "/models/{model}/history":
				url += "?"
				for _, m := range model["modes"].([]any) {
					if mode := m.(map[string]any); mode["mode"] != model["time"] {
						url += mode["mode"].(string) + "=" + mode["example"].(string) + "&"
					}
				}
				url = strings.TrimSuffix(url, "&")
			}
			body := ""
			if content := find(operation, "requestBody", "content", jsonType); content != nil {
				example := find(content, "example")
				if example == nil { // the same operation for a version of a model
					example = find(paths["/v2/models/{model}/infer"], "post", "requestBody", "content", jsonType, "example")
				}
				c.check(method+" "+path+" request", find(content, "schema"), example)
				text, err := json.Marshal(example)
				if err != nil {
					t.Fatal(err)
				}
				body = string(text)
			}
			if w := ask(t, s, strings.ToUpper(method), url, body); w.Code != 200 {
				t.Errorf("%s %s: status %d: %s", method, url, w.Code, w.Body)
			}
			c.call(method, path, operation, url, body)
			if method == "post" {
				c.call(method, path, operation, url, `{"nonsense":1}`) // an error has its schema as well
				c.call(method, path, operation, url, `{`)
			}
			operations++
		}
	}
	if operations < 20 {
		t.Errorf("only %d operations", operations)
	}
	// Every route is in the document.
	for _, r := range s.table() {
		page := r.path == "/{$}" || r.path == "/openapi.json" || slices.Contains(pageFiles, strings.TrimPrefix(r.path, "/"))
		if !page && find(paths[r.path], strings.ToLower(r.method)) == nil {
			t.Errorf("%s %s is not in the document", r.method, r.path)
		}
	}
	// Every code is in the document.
	codes := find(c.document, "components", "schemas", "Error", "properties", "error", "properties", "code", "enum").([]any)
	for code := range statusOf {
		if !slices.Contains(codes, any(string(code))) {
			t.Errorf("the code %s is not in the document", code)
		}
	}
	without := newClient(t, newServer(t, nil))
	if find(without.document, "paths", "/explain") != nil {
		t.Error("the document has a path that the server does not have")
	}
}
