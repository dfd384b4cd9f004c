package publicdata

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func movielens(t *testing.T, downloads map[string]string) (*Report, string, error) {
	t.Helper()
	source := t.TempDir()
	for name, text := range downloads {
		write(t, source, name, text)
	}
	dir := filepath.Join(t.TempDir(), "out")
	report, err := MovieLens{Source: source, Threads: 2}.Write(context.Background(), Folder{Path: dir})
	return report, dir, err
}

func TestMovieLens(t *testing.T) {
	movies := "movieId,title,year,genres\n1,Toy Story (1995),1995,Adventure|Animation\n2,\"City, The (1998–1999)\",1998,\n3,No year,,Drama\n"
	plain := "userId,movieId,rating,timestamp\n1,2,2.5,1260759144\n1,3,5,1260759145\n"
	whole := "userId,movieId,rating,timestamp\n1,2,3,1260759144\n1,3,5,1260759145\n"
	for _, c := range []struct {
		name      string
		downloads map[string]string
		want      map[string]string
		files     int
	}{
		{"latest", map[string]string{
			"ratings.csv": "userId,movieId,rating,timestamp\r\n1,2,2.5,1260759144\r\n1,,2.5,1\r\n1,3,5,1260759145\r\n2,3,7,1260759145\r\n2,3,bad\r\n2,3,4,\r\n",
			"movies.csv":  "movieId,title,genres\n1,Toy Story (1995),Adventure|Animation\n2,\"City, The (1998–1999)\",(no genres listed)\n3,No year,Drama\n",
		}, map[string]string{"ratings.csv.gz": plain, "movies.csv": movies}, 3},
		{"with a genome", map[string]string{
			"ratings.csv":       plain,
			"movies.csv":        "movieId,title,genres\n2,B (2000),Drama\n",
			"genome-scores.csv": "movieId,tagId,relevance\n10,1,0.5\n10,2,0.25\n2,1,0.125\n2,3,1\n2,x,1\n",
			"genome-tags.csv":   "tagId,tag\n1,007\n2,\"a, b\"\n3,sea\n",
		}, map[string]string{"ratings.csv.gz": plain, "movies.csv": "movieId,title,year,genres\n2,B (2000),2000,Drama\n",
			"genome.csv.gz": "movieId,tag1,tag2,tag3\n2,0.125,,1\n10,0.5,0.25,\n", "genome-tags.csv": "column,tag\ntag1,007\ntag2,\"a, b\"\ntag3,sea\n"}, 5},
		{"1M", map[string]string{
			"ratings.dat": "1::2::3::1260759144\n1::3::5::1260759145\n",
			"movies.dat":  "2::Caf\xe9: the film (1999)::Comedy|Drama\n",
		}, map[string]string{"ratings.csv.gz": whole, "movies.csv": "movieId,title,year,genres\n2,Café: the film (1999),1999,Comedy|Drama\n"}, 3},
		{"100K", map[string]string{
			"u.data": "1\t2\t3\t1260759144\n1\t3\t5\t1260759145\n",
			"u.item": "2|Film (1994)|01-Jan-1994||http://x|0|1|0|0|0|0|0|0|1|0|0|0|0|0|0|0|0|0|0\n",
		}, map[string]string{"ratings.csv.gz": whole, "movies.csv": "movieId,title,year,genres\n2,Film (1994),1994,Action|Drama\n"}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, dir, err := movielens(t, c.downloads)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range c.want {
				if got := read(t, filepath.Join(dir, name)); got != want {
					t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
				}
			}
			if n := len(files(t, dir)); n != c.files || len(report.Written) != c.files {
				t.Errorf("got %d files and %d in the report", n, len(report.Written))
			}
			if w := report.Written[0]; w.Rows != 2 || w.Description != "1 users, 2 movies" {
				t.Errorf("got %+v, want 2 rows, 1 user and 2 movies", w)
			}
			if c.name != "latest" {
				return
			}
			var reasons []string
			for _, r := range report.Dropped {
				reasons = append(reasons, fmt.Sprintf("%d %s", r.Rows, r.Text))
			}
			if got, want := strings.Join(reasons, "; "), "1 malformed quotes or wrong number of fields; 1 rating not between 0.5 and 5; 1 timestamp missing or invalid; 1 user or movie missing"; got != want {
				t.Errorf("got dropped %s, want %s", got, want)
			}
		})
	}
}

func TestMovieLensErrors(t *testing.T) {
	for _, c := range []struct {
		downloads map[string]string
		want      string
	}{
		{map[string]string{"ratings.csv": "x"}, "contains neither ratings.csv and movies.csv, nor"},
		{map[string]string{"ratings.csv": "userId,movieId,stars,timestamp\n1,2,3,4\n", "movies.csv": "movieId,title,genres\n1,a,b\n"}, "no column rating; the file has userId, movieId, stars, timestamp"},
		{map[string]string{"ratings.dat": "1::2::3\n", "movies.dat": "1::a::b\n"}, "ratings.dat, line 1: the line has 5 fields"},
		{map[string]string{"ratings.dat": "1::2::3::4\n", "movies.dat": "1::a::b\n2::c\n"}, "movies.dat, line 2: the line has 2 fields, want 3"},
	} {
		_, _, err := movielens(t, c.downloads)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want one with %q", err, c.want)
		}
	}
}

// Ratings of another scale are kept, and a download that is mostly unusable is refused.
func TestRatingScales(t *testing.T) {
	t.Parallel()
	movies := "movieId,title,genres\n1,A (2000),Drama\n"
	table := func(value func(i int) string) map[string]string {
		var b strings.Builder
		b.WriteString("userId,movieId,rating,timestamp\n")
		for i := range 2000 {
			fmt.Fprintf(&b, "%d,%d,%s,%d\n", i%40, i%50, value(i), i)
		}
		return map[string]string{"ratings.csv": b.String(), "movies.csv": movies}
	}
	for _, c := range []struct {
		name  string
		value func(i int) string
		kept  int
		fact  string
		warn  bool
		err   string
	}{
		{name: "stars with a stray", value: func(i int) string { return map[bool]string{true: "7", false: "4.5"}[i == 3] }, kept: 1999},
		{name: "0 to 10", value: func(i int) string { return fmt.Sprint(i % 11) }, kept: 2000, fact: "The ratings are between 0 and 10, not between 0.5 and 5 as in MovieLens; they are kept as they are."},
		{name: "0 to 10 with a stray", value: func(i int) string { return map[bool]string{true: "-999", false: fmt.Sprint(i % 11)}[i == 3] }, kept: 1999, fact: "between 0 and 10"},
		{name: "continuous", value: func(i int) string { return fmt.Sprint(float64(i)/10 - 100) }, kept: 2000, fact: "between -100 and 99.9"},
		{name: "a fifth without a number", value: func(i int) string { return map[bool]string{true: "?", false: "3"}[i%5 == 0] }, kept: 1600, warn: true},
		{name: "mostly without a number", value: func(i int) string { return map[bool]string{true: "?", false: "3"}[i%5 != 0] }, err: "1600 of 2000 rows cannot be used"},
	} {
		report, _, err := movielens(t, table(c.value))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := report.Written[0].Rows; got != c.kept || !strings.Contains(strings.Join(report.Facts, " "), c.fact) || c.fact == "" && report.Facts != nil || len(report.Warnings) > 0 != c.warn {
			t.Errorf("%s: %d rows, %q, %q", c.name, got, report.Facts, report.Warnings)
		}
	}
}
