package publicdata

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// movie is a row of movies.csv.
type movie struct{ id, title, year, genres string }

var titleYear = regexp.MustCompile(`\((\d{4})(?:[-–]\d{0,4})?\)\s*$`)

// newMovie extracts the year from the title.
func newMovie(id, title, genres string) movie {
	m := movie{id: cleanID(strings.TrimSpace(id)), title: strings.TrimSpace(title), genres: genres}
	if found := titleYear.FindStringSubmatch(title); found != nil {
		m.year = found[1]
	}
	if strings.HasPrefix(genres, "(no genres") {
		m.genres = ""
	}
	return m
}

func readMovies(ctx context.Context, file string) ([]movie, error) {
	frame, err := tableio.ReadFrame(ctx, tableio.Files(file), tableio.Format{Header: delimited.HeaderYes})
	if err != nil {
		return nil, err
	}
	at, err := locate(file, frame.Names, []column{{"movieId", "movieId", true}, {"title", "title", true}, {"genres", "genres", true}})
	if err != nil {
		return nil, err
	}
	movies := make([]movie, frame.Len())
	for i := range movies {
		movies[i] = newMovie(frame.Columns[at[0]][i], frame.Columns[at[1]][i], frame.Columns[at[2]][i])
	}
	return movies, nil
}

// readOldMovies reads movies.dat: id::title::genres in Latin-1.
func readOldMovies(ctx context.Context, file string) ([]movie, error) {
	return readLines(file, "::", 3, func(f []string) movie { return newMovie(f[0], f[1], strings.TrimSpace(f[2])) })
}

// oldestGenres are the genres of the flags after the first five fields of u.item;
// the first one means no genre.
var oldestGenres = strings.Fields("unknown Action Adventure Animation Children Comedy Crime Documentary Drama Fantasy Film-Noir Horror Musical Mystery Romance Sci-Fi Thriller War Western")

// readOldestMovies reads u.item: id|title|date|date|address and one flag per genre.
func readOldestMovies(ctx context.Context, file string) ([]movie, error) {
	return readLines(file, "|", 5+len(oldestGenres), func(f []string) movie {
		var genres []string
		for i, name := range oldestGenres[1:] {
			if strings.TrimSpace(f[6+i]) == "1" {
				genres = append(genres, name)
			}
		}
		return newMovie(f[0], f[1], strings.Join(genres, "|"))
	})
}

// readLines reads a Latin-1 file of unquoted lines.
func readLines(file, separator string, fields int, parse func(fields []string) movie) ([]movie, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var movies []movie
	lines := bufio.NewScanner(f)
	for line := 1; lines.Scan(); line++ {
		text := latin1(lines.Bytes())
		if strings.TrimSpace(text) == "" {
			continue
		}
		parts := strings.Split(text, separator)
		if len(parts) != fields {
			return nil, &dataset.InputError{File: file, Line: line, Problem: fmt.Sprintf("the line has %d fields, want %d", len(parts), fields), Remedy: "check that this is an unpacked, uncompressed MovieLens download"}
		}
		movies = append(movies, parse(parts))
	}
	return movies, lines.Err()
}

func latin1(b []byte) string {
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}

func writeMovies(w io.Writer, movies []movie) error {
	line := []byte("movieId,title,year,genres\n")
	for _, m := range movies {
		if _, err := w.Write(line); err != nil {
			return err
		}
		line = appendLine(line[:0], []string{m.id, m.title, m.year, m.genres})
	}
	_, err := w.Write(line)
	return err
}
