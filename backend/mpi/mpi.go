// Package mpi passes messages between the processes of a job that mpirun, srun or another
// launcher of MPI started.
//
// The library of MPI is loaded when the program runs, without cgo, and only in programs built
// with the tag native: other programs stay static. Three kinds of libraries are known,
// in this order: those with the standard binary interface of MPI 5 (libmpi_abi), MPICH and its
// relatives, and Open MPI. They differ in the values of their constants.
//
// An error of MPI ends the job: the library prints it and aborts all ranks. The methods of
// [World] therefore return none.
package mpi

import (
	"errors"
	"strconv"
)

// ErrNoLibrary reports that no library of MPI could be loaded.
var ErrNoLibrary = errors.New("no MPI library found")

// LibraryVariable is the environment variable that names the library of MPI to load.
const LibraryVariable = "KFT_MPI_LIBRARY"

// Launch is what the environment tells of the launcher of a job.
type Launch struct {
	Size int  // number of ranks; 0 if the environment does not tell it
	Rank int  // of this process; 0 if the environment does not tell it
	Open bool // the launcher is that of Open MPI
}

// Launched reports whether the environment is that of a rank of MPI.
func Launched(getenv func(string) string) (Launch, bool) {
	number := func(name string) (int, bool) {
		n, err := strconv.Atoi(getenv(name))
		return n, err == nil && n >= 0
	}
	for _, v := range []struct {
		size, rank string
		open       bool
	}{
		{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", true},
		{"PMI_SIZE", "PMI_RANK", false},
	} {
		if size, ok := number(v.size); ok {
			rank, _ := number(v.rank)
			return Launch{Size: size, Rank: rank, Open: v.open}, true
		}
	}
	if rank, ok := number("PMIX_RANK"); ok {
		size, _ := number("SLURM_NTASKS")
		return Launch{Size: size, Rank: rank}, true
	}
	return Launch{}, false
}
