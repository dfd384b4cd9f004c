package tune

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newCraftedStudy returns a study with any definition and sample.
func newCraftedStudy(t testing.TB, definition, sample string) *SQLite {
	t.Helper()
	store, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "study.db"), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if _, err := store.Define(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	if err := store.Grow(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := store.db.ExecContext(t.Context(), "UPDATE kft_trial SET state = 'done', score = 1, attempt = 1, sample = ?", sample); err != nil {
		t.Fatal(err)
	}
	return store
}

const soundDefinition = "goal: minimize\nparameter rank: integer 1 20\nparameter kind: choice \"a\" \"b\"\n"

func TestVerify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ definition, sample, want string }{
		{soundDefinition, `{"rank":"3","kind":"a"}`, ""},
		{strings.Replace(soundDefinition, "minimize", "sideways", 1), `{}`, "the goal"},
		{soundDefinition, `{"rank":"3","kind":"c"}`, "trial 1"},
		{soundDefinition, `{"rank":"3"`, ""},
		{strings.Replace(soundDefinition, "1 20", "20 1", 1), `{}`, "not a valid study"},
		{"", `{}`, "no study"},
	} {
		err := Verify(t.Context(), newCraftedStudy(t, c.definition, c.sample))
		switch {
		case c.sample == `{"rank":"3"`: // not JSON
			if err == nil {
				t.Errorf("sample %s: got no error, want one", c.sample)
			}
		case (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want):
			t.Errorf("%q with %s: got error %v, want %q", c.definition, c.sample, err, c.want)
		}
	}
}

// TestVerifyDamagedDatabase checks that bytes overwritten in the file are found or do no
// harm.
func TestVerifyDamagedDatabase(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "study.db")
	store, err := OpenSQLite(t.Context(), file, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Define(t.Context(), soundDefinition); err != nil {
		t.Fatal(err)
	}
	store.Close()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < 4200; i++ { // the first page after the schema
		data[i] = 0xff
	}
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if store, err = OpenSQLite(t.Context(), file, time.Second); err != nil {
		return
	}
	defer store.Close()
	if err := Verify(t.Context(), store); err == nil {
		t.Error("got no error for a damaged database")
	}
}

// FuzzVerify reads studies with any definition and values.
func FuzzVerify(f *testing.F) {
	f.Add(soundDefinition, `{"rank":"3","kind":"a"}`)
	f.Add("parameter x: log-uniform 1e-300 1e300", `{"x":"1"}`)
	f.Add("parameter x: choice \"", `null`)
	f.Fuzz(func(t *testing.T, definition, sample string) {
		store := newCraftedStudy(t, definition, sample)
		_ = Verify(t.Context(), store)
		if r, err := Read(t.Context(), store); err == nil {
			_, _ = r.Space()
		}
	})
}
