package publicdata

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// MovieLens converts a GroupLens download: the folders ml-latest-small, ml-20m,
// ml-25m, ml-32m, and the older ml-1m and ml-100k.
type MovieLens struct {
	Source  string // the unpacked folder
	Threads int    // less than 1 means one per CPU
}

// release describes the file names and formats of a download.
type release struct {
	ratings, movies string
	format          tableio.Format
	columns         []int // positions of user, movie, rating and timestamp if there is no header
	readMovies      func(ctx context.Context, file string) ([]movie, error)
}

var ratingColumns = []column{{"userId", "userId", true}, {"movieId", "movieId", true}, {"rating", "rating", true}, {"timestamp", "timestamp", true}}

func releases() []release {
	return []release{
		{"ratings.csv", "movies.csv", tableio.Format{Header: delimited.HeaderYes}, nil, readMovies},
		// The separator :: is read as two separators with an empty field between them.
		{"ratings.dat", "movies.dat", tableio.Format{Delimiter: ':', Header: delimited.HeaderNo}, []int{0, 2, 4, 6}, readOldMovies},
		{"u.data", "u.item", tableio.Format{Delimiter: '\t', Header: delimited.HeaderNo}, []int{0, 1, 2, 3}, readOldestMovies},
	}
}

// find returns the path of a plain or compressed file, or "".
func (o MovieLens) find(name string) string {
	for _, suffix := range []string{"", ".gz", ".zst"} {
		if path := filepath.Join(o.Source, name+suffix); isFile(path) {
			return path
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// Write writes the tables and a specification:
//
//	ratings.csv.gz     userId, movieId, rating, timestamp, in the order of the download
//	movies.csv         movieId, title, year, genres
//	genome.csv.gz      movieId, tag1, tag2, ...: the relevance of each tag, if the download has it
//	genome-tags.csv    column, tag: the tags of the columns of genome.csv.gz
//	kft.yaml           a specification for kft fit
//
// Ratings are streamed. Memory grows with the movies and their tags.
func (o MovieLens) Write(ctx context.Context, to Folder) (*Report, error) {
	var known release
	for _, r := range releases() {
		if o.find(r.ratings) != "" && o.find(r.movies) != "" {
			known = r
			break
		}
	}
	if known.ratings == "" {
		return nil, fmt.Errorf("%s contains neither ratings.csv and movies.csv, nor ratings.dat and movies.dat, nor u.data and u.item; choose the folder of an unpacked MovieLens download", o.Source)
	}
	files := []string{"ratings.csv.gz", "movies.csv", specFile}
	scores, tags := o.find("genome-scores.csv"), o.find("genome-tags.csv")
	if scores != "" {
		files = append(files, "genome.csv.gz", "genome-tags.csv")
	}
	if err := to.check([]string{o.find(known.ratings), o.find(known.movies), scores, tags}, files...); err != nil {
		return nil, err
	}
	movies, err := known.readMovies(ctx, o.find(known.movies))
	if err != nil {
		return nil, err
	}
	var genome *genome
	spec := movielensSpec + movielensGenres
	if scores != "" {
		if genome, err = readGenome(ctx, scores, tags, o.Threads); err != nil {
			return nil, err
		}
		spec = movielensSpec + movielensGenome
	}
	scale, err := findScale(ctx, o.find(known.ratings), known, o.Threads)
	if err != nil {
		return nil, err
	}
	report, ratings := new(Report), ratings{scale: scale, users: map[string]bool{}, movies: map[string]bool{}}
	err = to.write(files, func(w []io.Writer) error {
		if err := ratings.copy(ctx, w[0], o.find(known.ratings), known, o.Threads); err != nil {
			return err
		}
		if err := ratings.check(o.find(known.ratings)); err != nil {
			return err
		}
		if err := writeMovies(w[1], movies); err != nil {
			return err
		}
		if _, err := io.WriteString(w[2], spec); err != nil {
			return err
		}
		if genome == nil {
			return nil
		}
		if err := genome.writeScores(w[3]); err != nil {
			return err
		}
		return genome.writeTags(w[4])
	})
	if err != nil {
		return nil, err
	}
	report.Read, report.Dropped = ratings.rows, ratings.dropped.sorted()
	report.Facts, report.Warnings = ratings.notices(scale)
	about := func(file string, rows int, about string) {
		report.Written = append(report.Written, OutputFile{filepath.Join(to.Path, file), rows, about})
	}
	about(files[0], ratings.kept, fmt.Sprintf("%d users, %d movies", len(ratings.users), len(ratings.movies)))
	about(files[1], len(movies), "titles, years and genres")
	if genome != nil {
		about(files[3], len(genome.ids), fmt.Sprintf("the relevance of %d tags", len(genome.tags)))
		about(files[4], len(genome.tags), "tag of each column")
		report.Facts = append(report.Facts, genome.facts()...)
	}
	about(files[2], 0, "a specification for kft fit")
	return report, nil
}

// ratings counts the copied rows.
type ratings struct {
	scale         ratingScale
	rows, kept    int
	users, movies map[string]bool
	dropped       reasonCounts
}

type ratingsPart struct {
	ratings
	text []byte
}

func (s *ratings) copy(ctx context.Context, w io.Writer, file string, known release, threads int) error {
	if _, err := io.WriteString(w, "userId,movieId,rating,timestamp\n"); err != nil {
		return err
	}
	at := known.columns
	return tableio.Scan(ctx, tableio.Files(file), known.format, threads, func(names []string) (err error) {
		at, err = known.locateRatings(file, names)
		return err
	}, func(_ int, r *tableio.Records) (any, error) {
		p := &ratingsPart{ratings: ratings{scale: s.scale, rows: r.Len() + len(r.Bad), users: map[string]bool{}, movies: map[string]bool{}}}
		countBad(&p.dropped, file, r)
		for i := range r.Len() {
			p.parse(file, r, i, at)
		}
		return p, nil
	}, func(result any) error {
		p := result.(*ratingsPart)
		s.rows += p.rows
		s.kept += p.kept
		s.dropped.merge(&p.dropped)
		for id := range p.users {
			s.users[id] = true
		}
		for id := range p.movies {
			s.movies[id] = true
		}
		_, err := w.Write(p.text)
		return err
	})
}

// parse appends one row to the text, or counts the reason for skipping it.
func (p *ratingsPart) parse(file string, r *tableio.Records, i int, at []int) {
	start := len(p.text)
	drop := func(why string, value []byte) {
		p.dropped.row(why, file, r.Line(i), value)
		p.text = p.text[:start]
	}
	p.text = appendID(p.text, r.Field(i, at[0]))
	user := p.text[start:]
	p.text = append(p.text, ',')
	from := len(p.text)
	p.text = appendID(p.text, r.Field(i, at[1]))
	movie := p.text[from:]
	if len(user) == 0 || len(movie) == 0 {
		drop("user or movie missing", nil)
		return
	}
	field := r.Field(i, at[2])
	if v, ok := rating(field); !ok || !p.scale.holds(v) {
		drop("rating not "+p.scale.String(), field)
		return
	}
	p.text = append(append(append(p.text, ','), field...), ',')
	field = r.Field(i, at[3])
	if seconds, ok := parseCount(field); !ok || seconds < 0 {
		drop("timestamp missing or invalid", field)
		return
	}
	p.text = append(append(p.text, field...), '\n')
	p.kept++
	// The lookup avoids an allocation: only a new id is copied.
	if user = p.text[start:][:len(user)]; !p.users[string(user)] {
		p.users[string(user)] = true
	}
	if movie = p.text[from:][:len(movie)]; !p.movies[string(movie)] {
		p.movies[string(movie)] = true
	}
}
